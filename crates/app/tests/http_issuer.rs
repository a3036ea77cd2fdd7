//! Tokens of another issuer: believed as far as it is named, with keys that are read and fetched
//! with care.

mod shell;
mod web;

use std::io::{Read, Write};
use std::net::TcpListener;

use serde_json::json;
use understory::token::{self, jws};
use understory_model::Role;
use understory_testkit::Backend;
use web::{Server, Site};

/// Calls with a token; the status.
fn status(server: &Server, token: &str) -> u16 {
    server.call(token, "graph_onboard", json!({})).status
}

/// A key set of another issuer, and a way to sign for it.
struct Stranger {
    _dir: tempfile::TempDir,
    keys: token::keys::Keys,
}

impl Stranger {
    fn new() -> Stranger {
        let dir = tempfile::tempdir().unwrap();
        let keys = token::keys::Keys::in_folder(dir.path());
        keys.rotate().unwrap();
        Stranger { _dir: dir, keys }
    }

    fn set(&self) -> String {
        token::keys::set(&self.keys.public().unwrap()).to_string()
    }

    fn token(&self, site: &Site, issuer: &str, audience: &str) -> String {
        let key = self.keys.signing().unwrap();
        let (mut header, mut claims) = site.good();
        header["kid"] = json!(key.kid());
        claims["iss"] = json!(issuer);
        claims["aud"] = json!(audience);
        jws::compact(&header, &claims, |bytes| key.sign(bytes))
    }
}

#[test]
fn another_issuer_is_believed_as_far_as_it_is_named() {
    let site = Site::new(Backend::sqlite());
    let stranger = Stranger::new();
    let file = site.shell.path("jwks.json");
    std::fs::write(&file, stranger.set()).unwrap();
    let vars = [
        ("UNDERSTORY_ISSUER", "https://id.example"),
        ("UNDERSTORY_AUDIENCE", "memory"),
        ("UNDERSTORY_JWKS", file.to_str().unwrap()),
    ];
    let server = site.serve_with(&[], &vars);
    let theirs = |issuer: &str, audience: &str| stranger.token(&site, issuer, audience);
    assert_eq!(
        status(&server, &theirs("https://id.example", "memory")),
        200
    );
    assert_eq!(
        status(&server, &theirs("https://id.example", "understory")),
        401
    );
    assert_eq!(
        status(&server, &theirs("https://other.example", "memory")),
        401
    );
    assert_eq!(status(&server, &theirs("understory", "understory")), 401);
    // The store's own key does not speak for the other issuer.
    let (header, mut claims) = site.good();
    claims["iss"] = json!("https://id.example");
    claims["aud"] = json!("memory");
    assert_eq!(status(&server, &site.signed(&header, &claims)), 401);
    assert_eq!(
        status(&server, &site.token("ada", "garden", Role::Worker)),
        200
    );
    let about = server.get("/.well-known/oauth-protected-resource").json();
    assert_eq!(
        about["authorization_servers"],
        json!(["https://id.example"])
    );
    // A key that the issuer has withdrawn is forgotten.
    let old = theirs("https://id.example", "memory");
    std::fs::write(&file, r#"{"keys": []}"#).unwrap();
    let begun = std::time::Instant::now();
    while status(&server, &old) != 401 {
        assert!(begun.elapsed() < web::PATIENCE);
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    let done = site
        .command(&["serve", "--listen", "127.0.0.1:0"])
        .env("UNDERSTORY_ISSUER", "https://id.example")
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(2), "half a setting is none");
}

#[test]
fn another_issuers_keys_are_fetched_once() {
    let site = Site::new(Backend::sqlite());
    let stranger = Stranger::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/jwks", listener.local_addr().unwrap());
    let set = stranger.set();
    let (asked, count) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut stream = stream;
            let _ = stream.read(&mut [0; 4_096]);
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{set}",
                set.len()
            );
            let _ = asked.send(());
        }
    });
    let vars = [
        ("UNDERSTORY_ISSUER", "platform"),
        ("UNDERSTORY_AUDIENCE", "memory"),
        ("UNDERSTORY_JWKS", address.as_str()),
    ];
    let server = site.serve_with(&[], &vars);
    let good = stranger.token(&site, "platform", "memory");
    assert_eq!(status(&server, &good), 200);
    let unknown = Stranger::new();
    for _ in 0..20 {
        assert_eq!(
            status(&server, &unknown.token(&site, "platform", "memory")),
            401
        );
    }
    assert_eq!(status(&server, &good), 200);
    assert_eq!(count.try_iter().count(), 1);
}
