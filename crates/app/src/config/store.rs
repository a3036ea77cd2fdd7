//! Which store: a SQLite file or a PostgreSQL address, shown without its password.

use std::fmt;
use std::path::{Path, PathBuf};

use understory_model::Fault;

use super::{Raw, Setting, Source, Surroundings, wrong};

/// The store's file, below the user's data directory.
const FILE: &str = "understory/understory.db";

/// A store's address. What is shown of it, for people or for finding faults, has no password.
#[derive(Clone, PartialEq, Eq)]
pub struct Address(String);

impl Address {
    /// The address itself, for opening it and for nothing else.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether it is a server's, rather than a file's.
    pub fn is_server(&self) -> bool {
        is_postgres(&self.0)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&redact(&self.0))
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

/// The store that was asked for, or the user's own. A path in a file is relative to that file.
pub(super) fn choose(raw: Option<Raw>, around: &Surroundings) -> Result<Setting<Address>, Fault> {
    let Some(Raw { text, source }) = raw else {
        return default(around);
    };
    if is_postgres(&text) {
        return Ok(Setting {
            value: Address(text),
            source,
        });
    }
    if text.contains("://") {
        let scheme = text.split("://").next().unwrap_or_default();
        let problem = format!("`{scheme}://` is no kind of store: use a path or postgres://…");
        return Err(wrong("store", &source, problem));
    }
    match path(&text, &source, around).into_os_string().into_string() {
        Ok(path) => Ok(Setting {
            value: Address(path),
            source,
        }),
        Err(_) => Err(wrong("store", &source, "the path is not UTF-8")),
    }
}

/// A path as it was meant where it was written.
pub(super) fn path(text: &str, source: &Source, around: &Surroundings) -> PathBuf {
    let base = match source {
        Source::File(file) => file.parent().unwrap_or(Path::new("")).to_owned(),
        _ => around.folder.clone(),
    };
    base.join(expand(text, around))
}

fn default(around: &Surroundings) -> Result<Setting<Address>, Fault> {
    let path = around
        .data_dir
        .as_ref()
        .and_then(|dir| dir.join(FILE).to_str().map(str::to_owned));
    match path {
        Some(path) => Ok(Setting::default(Address(path))),
        None => Err(
            Fault::invalid("store", "there is no home directory to keep it in")
                .hint("name a file with --store or UNDERSTORY_STORE"),
        ),
    }
}

/// `~/…` as a shell would read it, for files and clients that no shell reads.
fn expand(text: &str, around: &Surroundings) -> PathBuf {
    match (text.strip_prefix("~/"), &around.home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(text),
    }
}

fn is_postgres(address: &str) -> bool {
    address.starts_with("postgres://") || address.starts_with("postgresql://")
}

/// The address with its password, wherever it stands, replaced by `***`.
pub fn redact(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://").filter(|_| is_postgres(address)) else {
        return address.to_owned();
    };
    // A password may hold any character by mistake: everything up to the last `@` is suspect.
    let (user, rest) = match rest.rsplit_once('@') {
        Some((login, rest)) => (login.split_once(':').map_or(login, |(user, _)| user), rest),
        None => ("", rest),
    };
    let secret = address.len() > scheme.len() + 3 + user.len() + 1 + rest.len();
    let login = match (user, secret) {
        ("", false) => String::new(),
        (user, true) => format!("{user}:***@"),
        (user, false) => format!("{user}@"),
    };
    format!("{scheme}://{login}{}", redact_query(rest))
}

/// Parameters such as `password=…` say the same as the login does.
fn redact_query(rest: &str) -> String {
    let Some((before, query)) = rest.split_once('?') else {
        return rest.to_owned();
    };
    let parts: Vec<String> = query
        .split('&')
        .map(|part| match part.split_once('=') {
            Some((name, _)) if name.to_ascii_lowercase().contains("password") => {
                format!("{name}=***")
            }
            _ => part.to_owned(),
        })
        .collect();
    format!("{before}?{}", parts.join("&"))
}

#[cfg(test)]
mod tests {
    use super::redact;

    #[test]
    fn passwords_are_not_shown() {
        for (address, shown) in [
            ("postgres://ann:secret@db/app", "postgres://ann:***@db/app"),
            (
                "postgresql://ann:s@c:r/t@db:5432/app",
                "postgresql://ann:***@db:5432/app",
            ),
            ("postgres://ann@db/app", "postgres://ann@db/app"),
            ("postgres://db/app", "postgres://db/app"),
            ("postgres:///app?host=/run", "postgres:///app?host=/run"),
            ("postgres://:secret@db/app", "postgres://:***@db/app"),
            (
                "postgres://db/app?user=ann&password=secret&sslpassword=x",
                "postgres://db/app?user=ann&password=***&sslpassword=***",
            ),
            ("/home/ann/a:b@c.db", "/home/ann/a:b@c.db"),
        ] {
            assert_eq!(redact(address), shown);
            assert!(!redact(address).contains("secret"));
        }
    }
}
