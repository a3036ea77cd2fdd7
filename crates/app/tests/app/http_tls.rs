//! TLS in `understory serve`: real handshakes, renewal under a running server, and what listens
//! without it.

use crate::shell;
use crate::web;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Arc;

use crate::web::{Answer, AppState, Ask, Server};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, ProtocolVersion, RootCertStore, StreamOwned};
use serde_json::json;
use understory_model::Role;
use understory_testkit::{Backend, on_both};

/// A certificate for this machine, signed by itself.
struct Certificate {
    der: CertificateDer<'static>,
    cert: String,
    key: String,
}

impl Certificate {
    fn new() -> Certificate {
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let made = rcgen::generate_simple_self_signed(names).unwrap();
        Certificate {
            der: made.cert.der().clone(),
            cert: made.cert.pem(),
            key: made.signing_key.serialize_pem(),
        }
    }

    /// A client that trusts this one and no other.
    fn client(&self, versions: &[&'static rustls::SupportedProtocolVersion]) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(self.der.clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Arc::new(config)
    }

    fn connect(&self, server: &Server) -> Secure {
        connect(server, self.client(rustls::ALL_VERSIONS))
    }

    /// Whether a new connection is shown this certificate.
    fn is_shown(&self, server: &Server) -> bool {
        let asked = server.ask("GET", "/healthz");
        asked.send_over(&mut self.connect(server), false).is_some()
    }
}

type Secure = StreamOwned<ClientConnection, TcpStream>;

fn connect(server: &Server, config: Arc<ClientConfig>) -> Secure {
    let stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    stream.set_read_timeout(Some(web::PATIENCE)).unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    StreamOwned::new(ClientConnection::new(config, name).unwrap(), stream)
}

/// A server that shows a certificate, and the files it has it from.
struct Shown {
    site: AppState,
    files: [PathBuf; 2],
}

impl Shown {
    fn new(backend: Backend, certificate: &Certificate) -> Shown {
        let site = AppState::new(backend);
        let files = ["tls.pem", "tls.key"].map(|name| site.shell.path(name));
        let shown = Shown { site, files };
        shown.put(0, &certificate.cert);
        shown.put(1, &certificate.key);
        shown
    }

    /// Puts another file in the place of the certificate or its key, as renewals do.
    fn put(&self, which: usize, text: &str) {
        let new = self.site.shell.path("new.pem");
        std::fs::write(&new, text).unwrap();
        std::fs::rename(new, &self.files[which]).unwrap();
    }

    fn arguments(&self) -> [&str; 4] {
        let [cert, key] = &self.files;
        [
            "--tls-cert",
            cert.to_str().unwrap(),
            "--tls-key",
            key.to_str().unwrap(),
        ]
    }

    fn serve(&self) -> Server {
        self.site.serve_with(&self.arguments(), &[])
    }
}

fn sent(ask: &Ask, server: &Server, certificate: &Certificate) -> Answer {
    let answer = ask.send_over(&mut certificate.connect(server), false);
    answer.expect("an answer")
}

#[on_both]
fn tools_mcp_and_logins_over_tls(backend: Backend) {
    let certificate = Certificate::new();
    let shown = Shown::new(backend, &certificate);
    let server = shown.serve();
    let ada = shown.site.token("ada", "garden", Role::Worker);
    let open = server.ask("POST", "/v1/graph_open").token(&ada);
    let open = open.json(&json!({"project": "p", "goal": "g"}));
    assert_eq!(sent(&open, &server, &certificate).status, 200);
    let page = open
        .clone()
        .header("Origin", &format!("https://127.0.0.1:{}", server.port));
    assert_eq!(sent(&page, &server, &certificate).status, 200);
    let plain = open.header("Origin", &format!("http://127.0.0.1:{}", server.port));
    assert_eq!(sent(&plain, &server, &certificate).status, 403);

    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "graph_onboard", "arguments": {}, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "test client", "version": "1"}
        }
    }});
    let call = server
        .ask("POST", "/mcp")
        .token(&ada)
        .mcp()
        .header("MCP-Protocol-Version", "2026-07-28")
        .header("Mcp-Method", "tools/call")
        .header("Mcp-Name", "graph_onboard")
        .json(&call);
    let answer = sent(&call, &server, &certificate);
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert!(answer.message()["result"]["structuredContent"].is_object());
    let about = server.ask("GET", "/.well-known/oauth-protected-resource/mcp");
    let about = sent(&about, &server, &certificate).json();
    let own = format!("https://127.0.0.1:{}/mcp", server.port);
    assert_eq!(about["resource"], own);

    let login = server.ask("POST", &format!("/login/{}", server.login));
    let moved = sent(&login, &server, &certificate);
    let set = moved.header("set-cookie").unwrap();
    assert!(
        set.starts_with("__Host-understory=") && set.ends_with("; Secure"),
        "{set}"
    );
}

#[test]
fn old_versions_and_plain_requests_are_refused() {
    let certificate = Certificate::new();
    let shown = Shown::new(Backend::sqlite(), &certificate);
    let server = shown.serve();
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let mut stream = connect(&server, certificate.client(&[version]));
        let answer = server.ask("GET", "/healthz").send_over(&mut stream, false);
        assert_eq!(answer.expect("an answer").status, 200);
        assert_eq!(stream.conn.alpn_protocol(), Some(&b"http/1.1"[..]));
        let spoken = stream.conn.protocol_version();
        assert!(matches!(
            spoken,
            Some(ProtocolVersion::TLSv1_2 | ProtocolVersion::TLSv1_3)
        ));
    }
    let mut plain = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    plain.set_read_timeout(Some(web::PATIENCE)).unwrap();
    plain
        .write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .unwrap();
    let mut answer = Vec::new();
    let _ = plain.read_to_end(&mut answer);
    assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
    assert!(
        !Certificate::new().is_shown(&server),
        "another's certificate"
    );
    assert!(certificate.is_shown(&server));
}

#[test]
fn a_handshake_that_does_not_begin_is_let_go() {
    let certificate = Certificate::new();
    let shown = Shown::new(Backend::sqlite(), &certificate);
    let server = shown.serve();
    let mut silent = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    silent.set_read_timeout(Some(web::PATIENCE)).unwrap();
    assert_eq!(silent.read(&mut [0; 1]).unwrap(), 0, "closed");
}

#[test]
fn a_renewed_certificate_is_shown_without_dropping_connections() {
    let (first, second) = (Certificate::new(), Certificate::new());
    let shown = Shown::new(Backend::sqlite(), &first);
    let server = shown.serve();
    let mut open = first.connect(&server);
    let ask = server.ask("GET", "/healthz");
    let answers = |stream: &mut Secure| {
        let answer = ask.send_over(stream, true);
        answer.is_some_and(|answer| answer.status == 200)
    };
    assert!(answers(&mut open));
    // Halfway, and with files that cannot be used, what is in use stays.
    shown.put(0, &second.cert);
    assert!(first.is_shown(&server));
    shown.put(1, &second.key);
    assert!(second.is_shown(&server) && !first.is_shown(&server));
    shown.put(0, "nothing");
    assert!(second.is_shown(&server));
    std::fs::remove_file(&shown.files[1]).unwrap();
    assert!(second.is_shown(&server));
    assert!(answers(&mut open), "opened before all that");
    drop(open);
    let (code, _, log) = server.stop();
    assert_eq!(code, Some(0));
    let stays = log
        .iter()
        .filter(|line| line.contains("certificate in use stays"));
    assert_eq!(stays.count(), 3, "each once: {log:?}");
}

#[test]
fn files_that_cannot_be_used_are_refused_at_the_start() {
    let (first, second) = (Certificate::new(), Certificate::new());
    let shown = Shown::new(Backend::sqlite(), &first);
    let start = |arguments: &[&str]| {
        let all = [&["serve", "--listen", "127.0.0.1:0"], arguments].concat();
        let done = shown.site.command(&all).output().unwrap();
        assert_eq!(done.status.code(), Some(2), "{done:?}");
        String::from_utf8_lossy(&done.stderr).into_owned()
    };
    shown.put(1, &second.key);
    shell::says(
        &start(&shown.arguments()),
        &["tls.key", "is not the key of"],
    );
    shown.put(1, "nothing");
    shell::says(
        &start(&shown.arguments()),
        &["tls.key", "has no private key"],
    );
    shown.put(0, &first.key);
    shell::says(
        &start(&shown.arguments()),
        &["tls.pem", "has no certificate"],
    );
    shell::says(
        &start(&shown.arguments()[..2]),
        &["tls_cert and tls_key must be set together"],
    );
}

#[test]
fn other_machines_are_not_served_in_the_clear_unawares() {
    let site = AppState::new(Backend::sqlite());
    // The last is nobody's address: it is refused before anything is listened on.
    let far = ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"];
    let urls = [&[][..], &["--url", "https://memory.example.com"]];
    for (listen, url) in far.iter().flat_map(|listen| urls.map(|url| (*listen, url))) {
        let all = [&["serve", "--listen", listen], url].concat();
        let done = site.command(&all).output().unwrap();
        assert_eq!(done.status.code(), Some(2), "{done:?}");
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        shell::says(
            &said,
            &[
                "in the clear",
                "--tls-cert",
                "127.0.0.1",
                "proxy",
                "--insecure",
            ],
        );
    }
    // With the flag it is tried, which for nobody's address fails at the address itself.
    let all = ["serve", "--listen", "192.0.2.1:0", "--insecure"];
    let done = site.command(&all).output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(2), "{said}");
    shell::says(&said, &["listen: "]);
    assert!(!said.contains("in the clear"), "{said}");
    // And on this machine it changes nothing.
    let server = site.serve_with(&["--insecure"], &[]);
    assert_eq!(server.get("/healthz").status, 200);
}

#[test]
fn a_repository_does_not_choose_the_certificate() {
    let certificate = Certificate::new();
    let shown = Shown::new(Backend::sqlite(), &certificate);
    let [cert, key] = &shown.files;
    let settings = format!("tls_cert = {cert:?}\ntls_key = {key:?}\n");
    std::fs::write(
        shown.site.shell.path("garden").join("understory.toml"),
        settings,
    )
    .unwrap();
    let server = shown.site.serve();
    assert_eq!(
        server.get("/healthz").status,
        200,
        "in the clear, on this machine"
    );
    let own = shown.site.shell.path(".config").join("understory");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::write(
        own.join("understory.toml"),
        "tls_cert = \"../../tls.pem\"\ntls_key = \"../../tls.key\"\n",
    )
    .unwrap();
    let server = shown.site.serve();
    assert!(certificate.is_shown(&server));
}
