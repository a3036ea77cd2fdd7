//! How a PostgreSQL server is reached: in the clear on this machine, encrypted and verified
//! everywhere else.
//!
//! `sslmode` means here what a careful person would want it to mean: whenever a connection is
//! encrypted the server's certificate is verified, by the system's authorities or by the one that
//! `sslrootcert` names.

use std::net::IpAddr;
use std::sync::Arc;

use postgres::Config;
use postgres::config::{Host, SslMode};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;
use understory_model::error::{Code, Fault};

use crate::postgres::failed;
use crate::sql::SqlError;

/// A server's address, taken apart.
pub struct Address {
    pub config: Config,
    root: Option<String>,
}

fn refused(message: impl Into<String>, hint: &str) -> SqlError {
    SqlError {
        fault: Fault::new(Code::StoreUnavailable, message).hint(hint),
        transient: None,
    }
}

impl Address {
    pub fn parse(url: &str) -> Result<Address, SqlError> {
        let (plain, root, verify) = take_options(url);
        let mut config: Config = plain.parse().map_err(|_| {
            refused(
                "the store's address is not understood",
                "Use postgres://user:password@host:5432/database.",
            )
        })?;
        if verify {
            config.ssl_mode(SslMode::Require);
        }
        Ok(Address { config, root })
    }

    /// Whether every host is this machine.
    fn is_local(&self) -> bool {
        self.config.get_hosts().iter().all(|host| match host {
            Host::Tcp(name) => {
                name == "localhost" || name.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
            }
            Host::Unix(_) => true,
        })
    }

    /// What encrypts the connection; `None` where it is not to be encrypted.
    pub fn connector(&self) -> Result<Option<MakeRustlsConnect>, SqlError> {
        match self.config.get_ssl_mode() {
            SslMode::Disable => Ok(None),
            SslMode::Prefer if self.is_local() && self.root.is_none() => Ok(None),
            _ => self.verified().map(Some),
        }
    }

    fn verified(&self) -> Result<MakeRustlsConnect, SqlError> {
        let mut roots = RootCertStore::empty();
        match &self.root {
            Some(file) => {
                let unreadable = || {
                    refused(
                        format!("{file}: holds no certificate that can be read"),
                        "sslrootcert names a file with the authority's certificate in PEM.",
                    )
                };
                let certificates = CertificateDer::pem_file_iter(file).map_err(|_| unreadable())?;
                for certificate in certificates {
                    let certificate = certificate.map_err(|_| unreadable())?;
                    roots.add(certificate).map_err(|_| unreadable())?;
                }
            }
            None => {
                let found = rustls_native_certs::load_native_certs();
                roots.add_parsable_certificates(found.certs);
            }
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|_| refused("TLS cannot be set up", "Use sslmode=disable."))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(MakeRustlsConnect::new(config))
    }

    /// A failed connection that was to be encrypted; most often the certificate is the reason.
    pub fn explain(&self, error: postgres::Error) -> SqlError {
        if error.code().is_some() {
            return failed(error);
        }
        let mut source = std::error::Error::source(&error);
        while let Some(cause) = source {
            let text = cause.to_string();
            if text.contains("certificate") {
                return refused(
                    format!("the PostgreSQL server's certificate is not trusted ({text})"),
                    "Name its authority with sslrootcert=FILE in the address; \
                     sslmode=disable gives up encryption.",
                );
            }
            source = cause.source();
        }
        failed(error)
    }
}

/// Takes out the options that libpq knows and the driver does not: the address without them, the
/// authority's file, and whether encryption is a must.
fn take_options(url: &str) -> (String, Option<String>, bool) {
    let Some((base, options)) = url.split_once('?') else {
        return (url.to_string(), None, false);
    };
    let (mut root, mut verify, mut kept) = (None, false, Vec::new());
    for option in options.split('&') {
        match option.split_once('=') {
            Some(("sslrootcert", file)) if file != "system" => root = Some(decoded(file)),
            Some(("sslrootcert", _)) => {}
            Some(("sslmode", "verify-full" | "verify-ca")) => verify = true,
            _ => kept.push(option),
        }
    }
    let base = if kept.is_empty() {
        base.to_string()
    } else {
        format!("{base}?{}", kept.join("&"))
    };
    (base, root, verify)
}

/// `%2F` and the like, as an address writes a path.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let coded = (*first == b'%')
            .then(|| after.get(..2).and_then(|two| std::str::from_utf8(two).ok()))
            .flatten()
            .and_then(|two| u8::from_str_radix(two, 16).ok());
        bytes.push(coded.unwrap_or(*first));
        rest = if coded.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(url: &str) -> Address {
        Address::parse(url).ok().expect("an address")
    }

    #[test]
    fn options_of_libpq_are_understood() {
        let (plain, root, verify) = take_options(
            "postgres://u@h/d?sslmode=verify-full&sslrootcert=%2Fca.pem&options=-cx%3Dy",
        );
        assert_eq!(plain, "postgres://u@h/d?options=-cx%3Dy");
        assert_eq!((root.as_deref(), verify), (Some("/ca.pem"), true));
        assert_eq!(take_options("postgres://h/d").0, "postgres://h/d");
    }

    #[test]
    fn only_this_machine_is_reached_in_the_clear() {
        for local in [
            "postgres://localhost/d",
            "postgres://127.0.0.1/d",
            "postgres://[::1]/d",
        ] {
            assert!(
                address(local).connector().is_ok_and(|c| c.is_none()),
                "{local}"
            );
        }
        for remote in [
            "postgres://db.example/d",
            "postgres://localhost/d?sslmode=require",
        ] {
            assert!(
                address(remote).connector().is_ok_and(|c| c.is_some()),
                "{remote}"
            );
        }
        let refused = address("postgres://db.example/d?sslmode=disable").connector();
        assert!(refused.is_ok_and(|c| c.is_none()));
    }

    #[test]
    fn a_bad_address_shows_no_password() {
        let error = Address::parse("postgres://ada:hunter2@h:notaport/d")
            .err()
            .expect("refused");
        assert!(!format!("{:?}", error.fault).contains("hunter2"));
    }
}
