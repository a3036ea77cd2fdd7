//! TLS: the certificate and its key, read again when their files change.
//!
//! Files that cannot be used never replace those that are in use: a renewal that goes wrong, or is
//! seen halfway, leaves the server as it was and says so.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use understory_model::{Code, Fault, limits};

use crate::log;

/// The certificate that this server shows.
pub struct Tls {
    cert: PathBuf,
    key: PathBuf,
    loaded: Mutex<Loaded>,
}

struct Loaded {
    /// The files as they were when they were last read, whether they could be used or not.
    stamps: [Option<Stamp>; 2],
    config: Arc<ServerConfig>,
}

/// What tells a file from the one that stood there before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified: Option<std::time::SystemTime>,
    /// Device, inode and moment of the last change, where there are such.
    inode: Option<(u64, u64, i64, i64)>,
}

impl Stamp {
    fn of(path: &Path) -> Option<Stamp> {
        let data = std::fs::metadata(path).ok()?;
        Some(Stamp {
            bytes: data.len(),
            modified: data.modified().ok(),
            inode: inode(&data),
        })
    }
}

#[cfg(unix)]
fn inode(data: &std::fs::Metadata) -> Option<(u64, u64, i64, i64)> {
    use std::os::unix::fs::MetadataExt;
    Some((data.dev(), data.ino(), data.ctime(), data.ctime_nsec()))
}

#[cfg(not(unix))]
fn inode(_: &std::fs::Metadata) -> Option<(u64, u64, i64, i64)> {
    None
}

impl Tls {
    /// Reads both files, which have to be good now.
    pub fn new(cert: &Path, key: &Path) -> Result<Tls, Fault> {
        let stamps = [Stamp::of(cert), Stamp::of(key)];
        let config = read(cert, key)?;
        warn_if_open(key);
        Ok(Tls {
            cert: cert.to_owned(),
            key: key.to_owned(),
            loaded: Mutex::new(Loaded { stamps, config }),
        })
    }

    /// What new connections are shown. It looks at the files, so it may wait for a disk.
    fn config(&self) -> Arc<ServerConfig> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let stamps = [Stamp::of(&self.cert), Stamp::of(&self.key)];
        if loaded.stamps != stamps {
            loaded.stamps = stamps;
            match read(&self.cert, &self.key) {
                Ok(config) => {
                    log::write(
                        log::Level::Info,
                        format_args!("the TLS certificate was read again"),
                    );
                    loaded.config = config;
                }
                Err(fault) => log::warn(format_args!(
                    "the TLS certificate in use stays, because the new files cannot be used: {fault}"
                )),
            }
        }
        Arc::clone(&loaded.config)
    }

    /// Does the handshake, for a bounded time.
    pub async fn accept<S: AsyncRead + AsyncWrite + Unpin>(
        self: &Arc<Tls>,
        stream: S,
    ) -> io::Result<TlsStream<S>> {
        let tls = Arc::clone(self);
        let config = tokio::task::spawn_blocking(move || tls.config())
            .await
            .map_err(io::Error::other)?;
        let patience = Duration::from_secs(limits::TLS_HANDSHAKE_SECONDS);
        let handshake = TlsAcceptor::from(config).accept(stream);
        match tokio::time::timeout(patience, handshake).await {
            Ok(done) => done,
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }
}

fn read(cert: &Path, key: &Path) -> Result<Arc<ServerConfig>, Fault> {
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(&bytes(cert)?)
        .collect::<Result<_, _>>()
        .map_err(|error| unusable(cert, format!("is not PEM: {error}")))?;
    if chain.is_empty() {
        return Err(unusable(cert, "has no certificate".to_owned()));
    }
    let secret = PrivateKeyDer::from_pem_slice(&bytes(key)?)
        .map_err(|_| unusable(key, "has no private key in PEM".to_owned()))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| {
            builder
                .with_no_client_auth()
                .with_single_cert(chain, secret)
        })
        .map_err(|error| match error {
            rustls::Error::InconsistentKeys(_) => {
                unusable(key, format!("is not the key of {}", cert.display()))
            }
            error => unusable(cert, format!("cannot be used: {error}")),
        })?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

fn bytes(path: &Path) -> Result<Vec<u8>, Fault> {
    let wrong = |error: io::Error| unusable(path, error.to_string());
    if std::fs::metadata(path).map_err(wrong)?.len() > limits::CERTIFICATE_BYTES {
        return Err(unusable(path, "is too large".to_owned()));
    }
    std::fs::read(path).map_err(wrong)
}

fn unusable(path: &Path, problem: String) -> Fault {
    Fault::new(Code::Validation, format!("{}: {problem}", path.display()))
        .hint("`tls_cert` takes a PEM file with the certificate first, `tls_key` its private key.")
}

#[cfg(unix)]
fn warn_if_open(key: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(key).map(|data| data.permissions().mode());
    if mode.is_ok_and(|mode| mode & 0o007 != 0) {
        log::warn(format_args!(
            "every user of this machine can read the TLS key {}: `chmod 600` it",
            key.display()
        ));
    }
}

#[cfg(not(unix))]
fn warn_if_open(_: &Path) {}
