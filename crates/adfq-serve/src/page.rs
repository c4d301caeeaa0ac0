//! The files of the page, which are part of the program: nothing has to be installed, and nothing is loaded from elsewhere.

use crate::Error;
use axum::extract::Path;
use axum::http::header;
use axum::response::{IntoResponse, Response};

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_bytes!(concat!("../page/", $name)))),*]
    };
}

/// All files, by their names.
const FILES: &[(&str, &[u8])] = files![
    "index.html",
    "app.js",
    "api.js",
    "chart.js",
    "compare.js",
    "curves.js",
    "dom.js",
    "explorer.js",
    "icon.svg",
    "map.js",
    "reports.js",
    "runs.js",
    "store.js",
    "style.css",
    "watch.js",
    "vendor/uplot/LICENSE",
    "vendor/uplot/uPlot.esm.js",
    "vendor/uplot/uPlot.min.css",
];

/// `GET /`.
pub(crate) async fn index() -> Response {
    file("index.html")
}

/// `GET /page/NAME`.
pub(crate) async fn other(Path(name): Path<String>) -> Response {
    file(&name)
}

fn file(name: &str) -> Response {
    let kind = match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "text/plain; charset=utf-8",
    };
    match FILES.iter().find(|(known, _)| *known == name) {
        Some((_, bytes)) => ([(header::CONTENT_TYPE, kind)], *bytes).into_response(),
        None => Error::NoFile(name.to_owned()).into_response(),
    }
}
