//! Requests that mean no good: other hosts and origins, paths outside, too large, too slow, too many, and plain nonsense. The
//! server refuses them and goes on.

mod common;

use common::{Events, connect, get, post, raw, request, serve, write_run};
use proptest::prelude::*;
use serde_json::json;
use std::fs;
use std::io::{Read, Write};
use std::net::SocketAddr;
use tempfile::{TempDir, tempdir};

const SECRET: &str = "the-secret-of-the-user";

/// A folder `root` with a run and a report, beside a file that nobody may read. Links lead from one to the other.
fn fixture() -> TempDir {
    let dir = tempdir().unwrap();
    let root = dir.path().join("root");
    write_run(&root.join("run"), "dqn", 0, &[1.0]);
    fs::create_dir_all(root.join("report/.cache")).unwrap();
    fs::write(root.join("report/index.html"), "<title>x</title>").unwrap();
    fs::write(root.join("report/.cache/hidden.json"), SECRET).unwrap();
    fs::create_dir(dir.path().join("outside")).unwrap();
    fs::write(dir.path().join("outside/secret.txt"), SECRET).unwrap();
    fs::write(root.join("secret.bin"), SECRET).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        symlink(dir.path().join("outside"), root.join("report/link")).unwrap();
        symlink(dir.path().join("outside/secret.txt"), root.join("report/link.txt")).unwrap();
        symlink(dir.path().join("outside/secret.txt"), root.join("run/failure.txt")).unwrap();
    }
    dir
}

fn alive(address: SocketAddr) {
    assert_eq!(get(address, "/api/runs").0, 200);
}

#[test]
fn no_path_leads_outside() {
    let dir = fixture();
    let server = serve(&dir.path().join("root"));
    let address = server.address();
    for path in [
        "/report/../outside/secret.txt",
        "/report/report/../../../outside/secret.txt",
        "/report/%2e%2e/outside/secret.txt",
        "/report/..%2foutside%2fsecret.txt",
        "/report/report/..%5c..%5coutside%5csecret.txt",
        "/report/report/link/secret.txt",
        "/report/report/link.txt",
        "/report/report/.cache/hidden.json",
        "/report//etc/passwd",
        "/report/%2fetc%2fpasswd",
        "/report/report/index.html%00.txt",
        "/report/secret.bin",
        "/report/run/config.toml",
        "/page/../src/lib.rs",
        "/page/%2e%2e/Cargo.toml",
        "/api/checkpoints?run=../outside",
        "/api/checkpoints?run=/etc",
        "/api/recording?run=../outside",
        "/api/episode?run=..%2foutside",
    ] {
        let (status, body) = get(address, path);
        assert!((400..500).contains(&status), "{path}: {status}");
        assert!(!body.contains(SECRET) && !body.contains("root:"), "{path}: {body}");
    }
    for (path, body) in [
        ("/api/curves", json!({ "runs": ["../outside", "/etc", "run/../../outside"], "y": "loss" })),
        ("/api/bands", json!({ "runs": ["../outside"], "y": "../../outside/secret.txt" })),
        ("/api/compare", json!({ "runs": ["../outside"] })),
    ] {
        let (status, body) = post(address, path, &body.to_string());
        assert!(status < 500 && !body.contains(SECRET), "{path}: {status} {body}");
    }
    // A link in the place of a file of the run is not followed either.
    assert!(!get(address, "/api/runs").1.contains(SECRET));
}

#[test]
fn other_hosts_and_origins_are_refused() {
    let dir = fixture();
    let server = serve(&dir.path().join("root"));
    let address = server.address();
    let asked = |host: &str, more: &str| {
        let head = format!("GET /api/runs HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n");
        String::from_utf8_lossy(&raw(address, head.as_bytes())).into_owned()
    };
    assert!(asked(&address.to_string(), "").starts_with("HTTP/1.1 200"));
    assert!(asked("evil.example", "").starts_with("HTTP/1.1 403"));
    assert!(asked(&format!("evil.example:{}", address.port()), "").starts_with("HTTP/1.1 403"));
    assert!(asked(&address.to_string(), "Origin: http://evil.example\r\n").starts_with("HTTP/1.1 403"));
    assert!(asked(&address.to_string(), "Sec-Fetch-Site: cross-site\r\n").starts_with("HTTP/1.1 403"));
    assert!(!asked("evil.example", "").contains("cartpole"));
    for method in ["PUT", "DELETE", "OPTIONS", "PATCH"] {
        assert_eq!(request(address, method, "/api/runs", "", "").0, 403, "{method}");
    }
    // A form of another page can send no JSON.
    let form = "Content-Type: text/plain\r\n";
    assert_eq!(request(address, "POST", "/api/compare", form, r#"{"runs":["run"]}"#).0, 415);
}

#[test]
fn beyond_this_machine_the_token_of_the_link_is_needed() {
    let dir = fixture();
    let options = adfq_serve::Options {
        host_name: "0.0.0.0".to_owned(),
        port: 0,
        ..adfq_serve::Options::new(dir.path().join("root"))
    };
    let server = adfq_serve::Server::bind(&options).unwrap();
    let link = server.link();
    let running = server.start().unwrap();
    let address: SocketAddr = format!("127.0.0.1:{}", running.address().port()).parse().unwrap();
    let (_, token) = link.split_once("?token=").unwrap();
    assert_eq!(get(address, "/").0, 403);
    assert_eq!(get(address, "/api/runs?token=00000000000000000000000000000000").0, 403);
    assert_eq!(get(address, &format!("/api/runs?token={token}")).0, 200);
    let answer = raw(
        address,
        format!("GET /?token={token} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").as_bytes(),
    );
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let cookie = answer.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let cookie = format!("Cookie: {}\r\n", cookie.split(';').next().unwrap());
    assert_eq!(request(address, "GET", "/api/runs", &cookie, "").0, 200);
}

#[test]
fn what_is_too_large_is_refused() {
    let dir = fixture();
    let server = serve(&dir.path().join("root"));
    let address = server.address();
    let long = format!("{{\"runs\":[\"{}\"],\"y\":\"loss\"}}", "x".repeat(300 * 1024));
    assert_eq!(post(address, "/api/curves", &long).0, 413);
    let head = format!("X-Long: {}\r\n", "x".repeat(1024 * 1024));
    let (status, _) = request(address, "GET", "/", &head, "");
    assert!(status == 431 || status == 0, "{status}");
    let many: String = (0..500).map(|i| format!("X-{i}: 1\r\n")).collect();
    let (status, _) = request(address, "GET", "/", &many, "");
    assert!(status == 431 || status == 0, "{status}");
    let runs: Vec<String> = (0..3000).map(|i| i.to_string()).collect();
    assert_eq!(post(address, "/api/curves", &json!({ "runs": runs, "y": "loss" }).to_string()).0, 400);
    let next: Vec<_> = (0..19).map(|_| json!({ "mean": 0, "var": 1 })).collect();
    let question = json!({ "prior": { "mean": 0, "var": 1 }, "reward": 0, "discount": 1, "next": next });
    assert_eq!(post(address, "/api/update", &question.to_string()).0, 400);
    alive(address);
}

#[test]
fn who_is_slow_keeps_nobody_waiting() {
    let dir = fixture();
    let server = serve(&dir.path().join("root"));
    let address = server.address();
    let mut slow: Vec<_> = (0..100).map(|_| connect(address)).collect();
    for (i, stream) in slow.iter_mut().enumerate() {
        // Heads and bodies that never end.
        let part = if i % 2 == 0 {
            "GET / HT".to_owned()
        } else {
            format!(
                "POST /api/update HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{{"
            )
        };
        stream.write_all(part.as_bytes()).unwrap();
    }
    alive(address);
}

/// A head that does not come is not waited for without end.
#[test]
fn who_says_nothing_is_cut_off() {
    let dir = fixture();
    let head_time = std::time::Duration::from_millis(100);
    let options =
        adfq_serve::Options { port: 0, head_time, ..adfq_serve::Options::new(dir.path().join("root")) };
    let server = adfq_serve::Server::bind(&options).unwrap().start().unwrap();
    let mut slow = connect(server.address());
    slow.write_all(b"GET / HT").unwrap();
    let mut rest = vec![];
    slow.read_to_end(&mut rest).unwrap();
    assert!(rest.is_empty() || rest.starts_with(b"HTTP/1.1 408"), "{rest:?}");
}

#[test]
fn watchers_and_episodes_are_limited() {
    let dir = fixture();
    let root = dir.path().join("root");
    adfq_deep::Training::new("minatar/freeway")
        .set("evaluation.every=0")
        .agent("dqn")
        .steps(20)
        .run(root.join("trained"))
        .unwrap();
    let server = serve(&root);
    let address = server.address();
    let watchers: Vec<Events> =
        (0..adfq_serve::guard::MOST_WATCHERS).map(|_| Events::open(address, "/api/events")).collect();
    let (status, body) = get(address, "/api/events");
    assert!(status == 503 && body.contains("64 pages are open"), "{status} {body}");
    drop(watchers);
    alive(address);
    // An episode waits for its page to take it, so these are still being played.
    let episodes: Vec<Events> =
        (0..adfq_serve::guard::MOST_EPISODES).map(|_| stuck_episode(address)).collect();
    let (status, body) = get(address, "/api/episode?run=trained");
    assert!(status == 503 && body.contains("4 episodes"), "{status} {body}");
    drop(episodes);
    alive(address);
}

/// An episode that nobody reads beyond its start.
fn stuck_episode(address: SocketAddr) -> Events {
    let mut events = Events::open(address, "/api/episode?run=trained");
    assert_eq!(events.next().0, "start");
    events
}

#[test]
fn nonsense_is_answered_or_cut_off_and_the_server_goes_on() {
    let dir = fixture();
    let server = serve(&dir.path().join("root"));
    let address = server.address();
    let mut runner = proptest::test_runner::TestRunner::new_with_rng(
        ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() },
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    let bytes = prop::collection::vec(any::<u8>(), 0..400);
    let bytes = bytes.prop_map(|bytes| [&bytes[..], b"\r\n\r\n"].concat());
    runner
        .run(&bytes, |bytes| {
            let answer = raw(address, &bytes);
            prop_assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 4"), "{:?}", answer);
            Ok(())
        })
        .unwrap();
    alive(address);
    let paths = ["/api/curves", "/api/bands", "/api/compare", "/api/compare/report", "/api/update"];
    let text = "(\\{|\\}|\\[|\\]|\"runs\":|\"y\":|\"x\":|\"prior\":|null|-1e999|1e308|\"a\"|,|:|\\PC){0,40}";
    runner
        .run(&(0..paths.len(), text), |(path, body)| {
            let (status, _) = post(address, paths[path], &body);
            prop_assert!((400..500).contains(&status), "{} {}: {}", paths[path], body, status);
            Ok(())
        })
        .unwrap();
    runner
        .run(&"(/|report|page|api|\\.\\.|%2e|%2f|%00|\\?|run=|[a-z0-9%=&]){0,12}", |path| {
            let (status, body) = get(address, &format!("/{path}"));
            prop_assert!(status < 500 && !body.contains(SECRET), "{path}: {status}");
            Ok(())
        })
        .unwrap();
    alive(address);
}
