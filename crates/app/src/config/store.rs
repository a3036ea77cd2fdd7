//! Which store: a SQLite file or a PostgreSQL address, shown without its password.

use std::fmt;
use std::path::{Path, PathBuf};

use understory_model::text::quoted;
use understory_model::{Fault, limits};

use super::{Raw, Secret, Setting, Source, Surroundings, wrong};
use crate::log;
use crate::owner;

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

    /// The address with a password: beside the user's name where there is one, so that it is shown as
    /// if it had been written there.
    fn with_password(&self, password: &str) -> Address {
        let password = percent(password);
        let (scheme, rest) = self.0.split_once("://").unwrap_or(("postgres", &self.0));
        Address(match rest.rsplit_once('@') {
            Some((user, host)) => format!("{scheme}://{user}:{password}@{host}"),
            None => {
                let sign = if rest.contains('?') { '&' } else { '?' };
                format!("{scheme}://{rest}{sign}password={password}")
            }
        })
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
        let scheme = quoted(scheme);
        let problem =
            format!("the scheme {scheme} is not a kind of store: use a path or postgres://…");
        return Err(wrong("store", &source, problem));
    }
    // Taken for a path it would be shown, with the password that it may hold.
    if text.starts_with("postgres:") || text.starts_with("postgresql:") {
        return Err(wrong(
            "store",
            &source,
            "an address of a server begins with postgres://",
        ));
    }
    if text.contains('\0') {
        return Err(wrong("store", &source, "the path holds a NUL character"));
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
        Source::File(file) | Source::Repository(file) => {
            file.parent().unwrap_or(Path::new("")).to_owned()
        }
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

/// The password of a store's address, from its setting or from a file that the user alone may read.
pub(super) fn password(
    set: Setting<Option<String>>,
    file: &Setting<Option<String>>,
    around: &Surroundings,
) -> Result<Setting<Option<Secret>>, Fault> {
    const KEY: &str = "store_password_file";
    let Some(named) = &file.value else {
        return Ok(Setting {
            value: set.value.map(Secret::new),
            source: set.source,
        });
    };
    if set.value.is_some() {
        let problem = format!(
            "store_password is set too, by {}: keep one of them",
            set.source
        );
        return Err(file.wrong(KEY, problem));
    }
    let path = path(named, &file.source, around);
    let shown = path.display();
    let unreadable = |error: std::io::Error| file.wrong(KEY, format!("{shown}: {error}"));
    let size = std::fs::metadata(&path).map_err(unreadable)?.len();
    if size > limits::PASSWORD_BYTES {
        return Err(file.wrong(KEY, format!("{shown}: is too large for a password")));
    }
    if !owner::is_private(&path) {
        let problem = format!("{shown}: others may read or change it; run `chmod 600` on it");
        return Err(file.wrong(KEY, problem));
    }
    let text = std::fs::read_to_string(&path).map_err(unreadable)?;
    Ok(Setting {
        value: Some(Secret::new(text.trim_end_matches(['\r', '\n']).to_owned())),
        source: file.source.clone(),
    })
}

/// Puts a password that was set apart into a server's address. One on the command line is warned of.
pub(super) fn add_password(
    store: &mut Setting<Address>,
    password: &Setting<Option<Secret>>,
) -> Result<(), Fault> {
    if !store.value.is_server() {
        return Ok(());
    }
    let has_one = store.value.to_string().contains("***");
    if has_one && matches!(store.source, Source::Flag(_)) {
        log::warn_once(format_args!(
            "the password of --store can be read in the list of processes: leave it out of the \
             command line, and set UNDERSTORY_STORE_PASSWORD or UNDERSTORY_STORE_PASSWORD_FILE"
        ));
    }
    let Some(secret) = &password.value else {
        return Ok(());
    };
    if has_one {
        let problem = "the store's address has a password already: keep one of them";
        return Err(password.wrong("store_password", problem));
    }
    store.value = store.value.with_password(secret.reveal());
    Ok(())
}

/// Text as part of a URL.
fn percent(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// Whether a text names a server, or means to.
pub(super) fn is_server(text: &str) -> bool {
    text.contains("://")
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
