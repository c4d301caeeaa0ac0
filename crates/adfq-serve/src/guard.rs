//! Who may ask: a page of another origin may not, nor a name that was made to lead here (DNS rebinding), and beyond this
//! machine only who has the token.
//!
//! Every answer carries headers that keep the page from loading or running anything but its own files.

use crate::{Error, Result};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

/// The largest body of a request, in bytes.
pub const MOST_BODY: usize = 256 * 1024;
/// The longest that an answer may take to begin.
pub const MOST_TIME: Duration = Duration::from_secs(60);
/// The longest that the head of a request may take to arrive.
pub const MOST_HEAD_TIME: Duration = Duration::from_secs(10);
/// Connections at once.
pub const MOST_CONNECTIONS: usize = 256;
/// Pages that are told of changes at once.
pub const MOST_WATCHERS: usize = 64;
/// Episodes that are played at once.
pub const MOST_EPISODES: usize = 4;
/// Comparisons that are computed at once.
pub const MOST_COMPARISONS: usize = 2;

/// The page loads its own files and nothing else; no script or style stands in the page itself.
const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
     connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The cookie that holds the token once a link with it was opened.
const COOKIE: &str = "adfq-token";

/// What is checked of every request.
#[derive(Clone, Debug)]
pub struct Guard {
    /// Where the server listens.
    address: SocketAddr,
    /// The name under which it was asked to listen.
    name: String,
    /// What has to be in the link, beyond this machine.
    token: Option<String>,
}

impl Guard {
    /// A guard for this address, which was asked for by this name. Beyond this machine it asks for a random token.
    pub fn new(address: SocketAddr, name: &str) -> Result<Self> {
        let token = if address.ip().is_loopback() { None } else { Some(random_token()?) };
        Ok(Self { address, name: name.to_owned(), token })
    }

    /// The link to open.
    pub fn link(&self) -> String {
        let port = self.address.port();
        let host = match self.address.ip() {
            ip if ip.is_unspecified() => "127.0.0.1".to_owned(),
            IpAddr::V6(ip) => format!("[{ip}]"),
            IpAddr::V4(ip) => ip.to_string(),
        };
        match &self.token {
            Some(token) => format!("http://{host}:{port}/?token={token}"),
            None => format!("http://{host}:{port}/"),
        }
    }

    /// An error unless the request may be answered.
    fn check(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<()> {
        let refuse = |why: &str| Err(Error::Forbidden(why.to_owned()));
        if ![Method::GET, Method::HEAD, Method::POST].contains(method) {
            return refuse("only GET and POST are answered");
        }
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        if !self.is_ours(host) {
            return refuse("the request names another host than this server");
        }
        let origin = headers.get(header::ORIGIN).map(|origin| origin.to_str().unwrap_or_default());
        if origin.is_some_and(|origin| origin != format!("http://{host}")) {
            return refuse("the request comes from a page of another server");
        }
        // Browsers say so even where they send no origin. A link that was clicked elsewhere may open the page, no more.
        let from_elsewhere = headers.get("sec-fetch-site").is_some_and(|site| site == "cross-site");
        if from_elsewhere && uri.path() != "/" {
            return refuse("the request comes from a page of another server");
        }
        match &self.token {
            Some(token) if !has_token(token, uri, headers) => {
                refuse("the link lacks the token that the server has printed")
            }
            _ => Ok(()),
        }
    }

    /// Whether the header `Host` names this server: by a number, as this machine, or by the name it was started with. Any
    /// other name may have been made to lead here.
    fn is_ours(&self, host: &str) -> bool {
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()),
            _ => (host, Some(80)),
        };
        let number = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        let is_known = match number {
            Ok(ip) => ip.is_loopback() || self.token.is_some(),
            Err(_) => {
                name.eq_ignore_ascii_case("localhost")
                    || self.token.is_some() && name.eq_ignore_ascii_case(&self.name)
            }
        };
        is_known && port == Some(self.address.port())
    }

    /// The cookie to set, if the link had the token.
    fn cookie(&self, uri: &Uri) -> Option<HeaderValue> {
        let token = self.token.as_ref().filter(|token| query_token(uri) == Some(token))?;
        HeaderValue::from_str(&format!("{COOKIE}={token}; HttpOnly; SameSite=Strict; Path=/")).ok()
    }
}

/// 128 random bits.
fn random_token() -> Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| Error::Token(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn query_token(uri: &Uri) -> Option<&str> {
    uri.query()?.split('&').find_map(|pair| pair.strip_prefix("token="))
}

fn has_token(token: &str, uri: &Uri, headers: &HeaderMap) -> bool {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|cookies| cookies.to_str().ok());
    let cookie = cookies
        .flat_map(|cookies| cookies.split(';'))
        .filter_map(|cookie| cookie.trim().strip_prefix(COOKIE)?.strip_prefix('='));
    let bearer =
        headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    query_token(uri).into_iter().chain(cookie).chain(bearer).any(|given| same(given, token))
}

/// Whether two texts are equal, in a time that does not tell where they differ.
fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |differ, (a, b)| differ | a ^ b) == 0
}

/// Answers a request if it is allowed, within the time there is, with the headers of the page's policy.
pub(crate) async fn guarded(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let cookie = guard.cookie(request.uri());
    let mut response = match guard.check(request.method(), request.uri(), request.headers()) {
        Ok(()) => match tokio::time::timeout(MOST_TIME, next.run(request)).await {
            Ok(response) => response,
            Err(_) => Error::Slow.into_response(),
        },
        Err(refused) => refused.into_response(),
    };
    let refused = response.status() == StatusCode::FORBIDDEN;
    let headers = response.headers_mut();
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(PAGE_POLICY));
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (header::HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-cache"));
    if let Some(cookie) = cookie.filter(|_| !refused) {
        headers.insert(header::SET_COOKIE, cookie);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(address: &str, name: &str) -> Guard {
        Guard::new(address.parse().unwrap(), name).unwrap()
    }

    fn check(guard: &Guard, uri: &str, headers: &[(&'static str, &str)]) -> bool {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, HeaderValue::from_str(value).unwrap());
        }
        guard.check(&Method::GET, &uri.parse().unwrap(), &map).is_ok()
    }

    #[test]
    fn this_machine_is_answered_by_its_own_names_only() {
        let guard = guard("127.0.0.1:7717", "127.0.0.1");
        for (host, fine) in [
            ("127.0.0.1:7717", true),
            ("localhost:7717", true),
            ("[::1]:7717", true),
            ("evil.example:7717", false),
            ("127.0.0.1.evil.example:7717", false),
            ("127.0.0.1:80", false),
            ("127.0.0.1", false),
            ("192.168.0.5:7717", false),
            ("", false),
        ] {
            assert_eq!(check(&guard, "/api/runs", &[("host", host)]), fine, "{host}");
        }
        assert_eq!(guard.link(), "http://127.0.0.1:7717/");
    }

    #[test]
    fn another_origin_is_refused() {
        let guard = guard("127.0.0.1:7717", "127.0.0.1");
        let from = |origin| check(&guard, "/api/runs", &[("host", "localhost:7717"), ("origin", origin)]);
        assert!(from("http://localhost:7717"));
        assert!(!from("http://evil.example") && !from("null") && !from("https://localhost:7717"));
        let site = |path, site| check(&guard, path, &[("host", "localhost:7717"), ("sec-fetch-site", site)]);
        assert!(
            site("/", "cross-site") && site("/api/runs", "same-origin") && !site("/api/runs", "cross-site")
        );
    }

    #[test]
    fn beyond_this_machine_a_token_is_needed() {
        let guard = guard("0.0.0.0:7717", "box.lan");
        let token = guard.token.clone().unwrap();
        assert_eq!(token.len(), 32);
        let host = ("host", "192.168.0.5:7717");
        assert!(!check(&guard, "/", &[host]) && !check(&guard, "/?token=wrong", &[host]));
        assert!(check(&guard, &format!("/?token={token}"), &[host]));
        assert!(check(&guard, "/", &[host, ("cookie", &format!("a=b; {COOKIE}={token}"))]));
        assert!(check(&guard, "/", &[host, ("authorization", &format!("Bearer {token}"))]));
        assert!(check(&guard, &format!("/?token={token}"), &[("host", "box.lan:7717")]));
        assert!(!check(&guard, &format!("/?token={token}"), &[("host", "other.lan:7717")]));
    }
}
