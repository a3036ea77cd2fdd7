//! Another issuer's public keys, from a file or from the web, kept for a while.
//!
//! What is fetched is bounded in size and time, and never more often than `AGAIN`: a caller who
//! makes up key names must not make this server knock at another's door.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use understory_model::{Code, Fault, limits};

use super::allowed::Allowed;
use super::jwk::{self, Listed};
use crate::log;
use crate::loopback::is_this_machine;

/// How old a set may be before it is looked at again.
const FRESH_FILE: Duration = Duration::from_secs(1);
const FRESH_WEB: Duration = Duration::from_secs(300);
/// How old it may be at most, when it cannot be had again: a key that was withdrawn must go.
const STALE: Duration = Duration::from_secs(3_600);
/// The pause between two tries, whatever they were for.
const AGAIN_FILE: Duration = Duration::from_millis(100);
const AGAIN_WEB: Duration = Duration::from_secs(10);
/// How long a fetch may take.
const FETCH: Duration = Duration::from_secs(5);

/// Where a key set is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Source {
    File(std::path::PathBuf),
    Web(String),
}

/// An issuer that is not this store.
pub struct Issuer {
    pub name: String,
    pub audience: String,
    /// Which workspaces and roles its tokens may name.
    pub allowed: Allowed,
    source: Source,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    keys: Vec<Listed>,
    /// When they were read.
    at: Option<Instant>,
    tried: Option<Instant>,
}

impl Issuer {
    /// `jwks` is a path or an address. Without TLS only this machine is asked: anybody who can
    /// answer for another would choose the keys.
    pub fn new(name: &str, audience: &str, jwks: &str) -> Result<Issuer, Fault> {
        if name == super::ISSUER {
            return Err(Fault::invalid("issuer", "this name is the store's own"));
        }
        let source = match jwks.split_once("://") {
            None => Source::File(jwks.into()),
            Some(("https", _)) => Source::Web(jwks.to_owned()),
            Some(("http", rest)) if is_this_machine(rest) => Source::Web(jwks.to_owned()),
            Some(_) => {
                return Err(Fault::invalid(
                    "jwks",
                    "takes a path or an https:// address",
                ));
            }
        };
        Ok(Issuer {
            name: name.to_owned(),
            audience: audience.to_owned(),
            allowed: Allowed::default(),
            source,
            kept: Mutex::default(),
        })
    }

    /// The same, and what its tokens may say.
    #[must_use]
    pub fn allowing(self, allowed: Allowed) -> Issuer {
        Issuer { allowed, ..self }
    }

    /// The key of a name, among those kept.
    pub fn find(&self, kid: &str) -> Option<Listed> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let usable = kept.at.is_some_and(|at| at.elapsed() < STALE);
        let mut keys = kept.keys.iter().filter(|_| usable);
        keys.find(|key| key.kid == kid).cloned()
    }

    /// Whether the set should be read again before this key is looked for.
    pub fn wants_refresh(&self, kid: &str) -> bool {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (fresh, again) = match self.source {
            Source::File(_) => (FRESH_FILE, AGAIN_FILE),
            Source::Web(_) => (FRESH_WEB, AGAIN_WEB),
        };
        let known = kept.keys.iter().any(|key| key.kid == kid);
        let old = kept.at.is_none_or(|at| at.elapsed() >= fresh);
        let waited = kept.tried.is_none_or(|tried| tried.elapsed() >= again);
        waited && (old || !known)
    }

    /// Reads the set again. It may take as long as `FETCH`: no thread that others wait for may.
    pub fn refresh(&self) {
        {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.tried = Some(Instant::now());
        }
        let read = match &self.source {
            Source::File(path) => read_file(path),
            Source::Web(address) => fetch(address),
        };
        let keys = read.and_then(|text| {
            jwk::read_set(&text).ok_or_else(|| unusable("it is not a set of public keys"))
        });
        match keys {
            Ok(keys) => {
                let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.keys = keys;
                kept.at = Some(Instant::now());
            }
            Err(fault) => log::warn(format_args!("the issuer's keys: {fault}")),
        }
    }
}

fn unusable(problem: &str) -> Fault {
    Fault::new(
        Code::Validation,
        format!("the key set cannot be used: {problem}"),
    )
}

fn read_file(path: &std::path::Path) -> Result<String, Fault> {
    let size = std::fs::metadata(path).map_err(|error| unusable(&error.to_string()))?;
    if size.len() > limits::KEY_SET_BYTES as u64 {
        return Err(unusable("it is too large"));
    }
    std::fs::read_to_string(path).map_err(|error| unusable(&error.to_string()))
}

fn fetch(address: &str) -> Result<String, Fault> {
    let mut config = ureq::Agent::config_builder()
        .timeout_global(Some(FETCH))
        .max_redirects(0);
    if address.starts_with("http://") {
        // Only this machine is asked in the clear; a proxy would answer for it with keys of its
        // own.
        config = config.proxy(None);
    }
    let agent: ureq::Agent = config.build().into();
    let mut answer = agent
        .get(address)
        .call()
        .map_err(|error| unusable(&error.to_string()))?;
    answer
        .body_mut()
        .with_config()
        .limit(limits::KEY_SET_BYTES as u64)
        .read_to_string()
        .map_err(|error| unusable(&error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_in_the_clear_come_from_this_machine_only() {
        for (jwks, good) in [
            ("/etc/keys.json", true),
            ("https://id.example/jwks", true),
            ("http://127.0.0.1:9/jwks", true),
            ("http://localhost/jwks", true),
            ("http://[::1]:9/jwks", true),
            ("http://id.example/jwks", false),
            ("http://127.0.0.1@id.example/jwks", false),
            ("http://localhost.id.example/", false),
            ("ftp://id.example/jwks", false),
        ] {
            assert_eq!(Issuer::new("x", "y", jwks).is_ok(), good, "{jwks}");
        }
        assert!(Issuer::new("understory", "y", "/k").is_err());
    }

    #[test]
    fn a_made_up_key_name_does_not_cause_a_storm() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("k.json");
        let issuer = Issuer::new("x", "y", path.to_str().unwrap()).unwrap();
        assert!(issuer.wants_refresh("a"));
        issuer.refresh();
        assert!(!issuer.wants_refresh("a") && !issuer.wants_refresh("b"));
    }
}
