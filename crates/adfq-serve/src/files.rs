//! Files of reports under the root. They come from folders that a stranger may have filled: they are opened beneath the root
//! without following links, only what a report consists of is served, and nothing in it is run.

use crate::server::Shared;
use crate::{Error, Result};
use adfq_files::Folder;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use std::io::Read;
use std::sync::Arc;

/// The largest file that is served.
const MOST_BYTES: u64 = 32 << 20;

/// No script runs in a report, and it loads nothing from elsewhere. Its style stands in the page itself.
const REPORT_POLICY: &str = "sandbox allow-same-origin allow-downloads allow-popups; default-src 'none'; \
     img-src 'self' data:; style-src 'self' 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// `GET /report/PATH`: a file of a report, by its path under the root.
pub(crate) async fn report(State(shared): State<Arc<Shared>>, Path(path): Path<String>) -> Result<Response> {
    shared
        .blocking(move |shared| {
            let missing = || Error::NoFile(path.clone());
            let (folder, name) = path.rsplit_once('/').unwrap_or((".", &path));
            let kind = kind_of(name).filter(|_| is_in_report(shared, folder)).ok_or_else(missing)?;
            let folder = open_below(&shared.root()?, folder).ok_or_else(missing)?;
            let bytes = read(&folder, name, MOST_BYTES).map_err(|error| match error {
                Error::File(error) if error.is_not_found() => missing(),
                other => other,
            })?;
            let headers = [
                (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
                (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(REPORT_POLICY)),
            ];
            Ok((headers, bytes).into_response())
        })
        .await
}

/// Whether a folder is that of a report, or lies in one.
fn is_in_report(shared: &Shared, folder: &str) -> bool {
    let holds = |id: &str| {
        id == "." || folder == id || folder.strip_prefix(id).is_some_and(|rest| rest.starts_with('/'))
    };
    shared.table().reports.iter().any(|report| holds(&report.id))
}

/// What reports consist of.
fn kind_of(name: &str) -> Option<&'static str> {
    if name.starts_with('.') {
        return None;
    }
    Some(match name.rsplit_once('.')?.1 {
        "html" => "text/html; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "gif" => "image/gif",
        "mp4" => "video/mp4",
        "css" => "text/css",
        "csv" => "text/csv; charset=utf-8",
        "json" => "application/json",
        "md" | "txt" | "toml" => "text/plain; charset=utf-8",
        _ => return None,
    })
}

/// A folder below another one, name by name, without following a link; `.` is the folder itself.
pub(crate) fn open_below(root: &Folder, path: &str) -> Option<Folder> {
    if path == "." {
        return Some(root.clone());
    }
    let is_name = |name: &str| {
        !name.is_empty() && !name.starts_with('.') && !name.contains(['\\', '\0', ':']) && name.len() < 256
    };
    path.split('/').try_fold(
        root.clone(),
        |folder, name| {
            if is_name(name) { folder.child(name).ok() } else { None }
        },
    )
}

/// What stands in a file that is not too long.
pub(crate) fn read(folder: &Folder, name: &str, most: u64) -> Result<Vec<u8>> {
    let file = folder.open_file(name)?;
    let mut bytes = vec![];
    let read = file.take(most + 1).read_to_end(&mut bytes);
    read.map_err(|source| adfq_files::Error::io("read", &folder.path().join(name), source))?;
    match bytes.len() as u64 > most {
        true => Err(Error::Request(format!("{name} is larger than {most} bytes"))),
        false => Ok(bytes),
    }
}
