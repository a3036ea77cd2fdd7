//! An encrypted connection to a real server: verified when its authority is named, refused when not.

use std::path::{Path, PathBuf};
use std::process::Command;

use postgres::{Client, NoTls};
use understory_model::Fault;
use understory_storage::{Options, Store};
use understory_testkit::Backend;

/// Gives the test server a certificate of its own making, and switches encryption on.
fn encrypt(url: &str) -> PathBuf {
    let mut client = Client::connect(url, NoTls).expect("the server answers");
    let row = client
        .query_one("SHOW data_directory", &[])
        .expect("a folder");
    let folder = PathBuf::from(row.get::<_, String>(0));
    let (key, certificate) = (folder.join("server.key"), folder.join("server.crt"));
    let made = Command::new("openssl")
        .args([
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
        ])
        .args([
            "-subj",
            "/CN=localhost",
            "-addext",
            "subjectAltName=DNS:localhost",
        ])
        .args(["-addext", "basicConstraints=critical,CA:FALSE", "-keyout"])
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .output()
        .expect("openssl runs");
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    for file in [&key, &certificate] {
        own_like(file, &folder);
    }
    client
        .batch_execute("ALTER SYSTEM SET ssl = on")
        .expect("encryption can be switched on");
    client
        .batch_execute("SELECT pg_reload_conf()")
        .expect("the server reads its settings");
    certificate
}

/// The server takes a key only from its own user.
fn own_like(file: &Path, folder: &Path) {
    let mut command = Command::new("chown");
    command
        .arg(format!("--reference={}", folder.display()))
        .arg(file);
    assert!(command.status().expect("chown runs").success());
}

fn encrypted(store: &str) -> Result<bool, Fault> {
    let store = Store::new(store, Options::default());
    store.write("", |_| Ok(()))?;
    let sql = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    let row = store.read(|tx| tx.row(sql, &[]))?;
    row.flatten().expect("a store with a connection").flag(0)
}

#[test]
fn a_server_is_verified_before_it_is_trusted() {
    let backend = Backend::postgres();
    let plain = backend.store();
    let certificate = encrypt(&plain);
    let named = plain.replace("127.0.0.1", "localhost");
    assert_eq!(
        encrypted(&named),
        Ok(false),
        "this machine is reached in the clear"
    );

    let trusted = format!(
        "{named}&sslmode=verify-full&sslrootcert={}",
        certificate.display()
    );
    // The server needs a moment to read its settings.
    let mut answer = encrypted(&trusted);
    for _ in 0..50 {
        if answer.is_ok() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
        answer = encrypted(&trusted);
    }
    assert_eq!(answer, Ok(true));

    let unknown =
        encrypted(&format!("{named}&sslmode=require")).expect_err("nobody vouches for it");
    assert!(unknown.message.contains("certificate"), "{unknown}");
    let missing = format!("{named}&sslmode=require&sslrootcert=%2Fnowhere.pem");
    let missing = encrypted(&missing).expect_err("no such file");
    assert!(missing.message.contains("/nowhere.pem"), "{missing}");
}
