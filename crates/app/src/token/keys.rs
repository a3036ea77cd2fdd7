//! The key files of a store: a directory beside it, one file a key, for its owner's eyes only.
//!
//! The newest key signs; all that are there verify; a retired one leaves its name and public half.
//! Other processes notice a change when they look again, within a second. Nothing here is ever
//! shown, sent or stored elsewhere, but for the public halves.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde::Deserialize;
use serde_json::{Value, json};
use understory_engine::kernel::clock::{Clock as _, System};
use understory_model::canon::{hex, sha256};
use understory_model::{Code, Fault, Time, limits};

use super::jwk::{self, Public};
#[cfg(unix)]
use crate::owner;

/// A key's file, and what is left of a retired one's.
const KEY: &str = "key";
const RETIRED: &str = "retired";

/// A key that signs.
pub struct Signing {
    kid: String,
    pair: Ed25519KeyPair,
}

impl Signing {
    pub fn kid(&self) -> &str {
        &self.kid
    }

    pub fn sign(&self, message: &[u8]) -> Vec<u8> {
        self.pair.sign(message).as_ref().to_vec()
    }
}

impl std::fmt::Debug for Signing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Signing({})", self.kid)
    }
}

/// What a key is for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Signing,
    Verifying,
    Retired,
}

impl State {
    pub fn as_str(self) -> &'static str {
        match self {
            State::Signing => "signing",
            State::Verifying => "verifying",
            State::Retired => "retired",
        }
    }
}

/// What may be told of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    pub kid: String,
    pub created_at: Time,
    pub state: State,
}

/// The directory.
#[derive(Debug, Clone)]
pub struct Keys {
    folder: PathBuf,
}

/// A file that was read.
struct Read {
    created_at: Time,
    signing: Signing,
}

impl Keys {
    pub fn in_folder(folder: impl Into<PathBuf>) -> Keys {
        Keys {
            folder: folder.into(),
        }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The directory's mark of its last change.
    pub fn mark(&self) -> Option<SystemTime> {
        fs::metadata(&self.folder)
            .and_then(|data| data.modified())
            .ok()
    }

    /// The key to sign with; the first one is made when there is none.
    pub fn signing(&self) -> Result<Signing, Fault> {
        match self.read_all()?.pop() {
            Some(newest) => Ok(newest.signing),
            None => self.rotate(),
        }
    }

    /// Makes a new key that signs from now on.
    pub fn rotate(&self) -> Result<Signing, Fault> {
        self.make_folder()?;
        let made = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new())
            .map_err(|_| Fault::new(Code::Internal, "no key could be made"))?;
        let signing = signing(made.as_ref()).ok_or_else(|| {
            Fault::new(Code::Internal, "the generated key could not be read back")
        })?;
        let newest = self.read_all()?.pop().map(|read| read.created_at);
        // Two keys never have one moment: the newest has to be one.
        let at = newest.map_or(System.now(), |last| System.now().max(Time(last.0 + 1)));
        let content = json!({
            "kid": signing.kid,
            "created_at": at.to_string(),
            "pkcs8": STANDARD.encode(made.as_ref()),
        });
        self.write(&signing.kid, KEY, &content)?;
        Ok(signing)
    }

    /// Stops a key: what it signed is refused from now on. Its public half is kept, so that what it
    /// signed can still be told from a forgery. Whether anything changed.
    pub fn retire(&self, kid: &str) -> Result<bool, Fault> {
        let known = self.list()?;
        let Some(key) = known.iter().find(|key| key.kid == kid) else {
            let near = understory_model::nearest::nearest(kid, known.iter().map(|k| &*k.kid), 2);
            let fault = Fault::not_found("no such key");
            return Err(if near.is_empty() {
                fault.hint("`understory token keys` lists them.")
            } else {
                fault.hint(format!("Did you mean {}?", near.join(" or ")))
            });
        };
        let path = self.path(kid, KEY);
        let new = key.state != State::Retired;
        if new {
            let read = self.read(&path)?;
            let public = STANDARD.encode(read.signing.pair.public_key().as_ref());
            let content = json!({
                "kid": kid,
                "created_at": key.created_at.to_string(),
                "public": public,
            });
            self.write(kid, RETIRED, &content)?;
        }
        match fs::remove_file(&path) {
            Err(error) if new || error.kind() != std::io::ErrorKind::NotFound => {
                Err(failed(&path, "removed", &error))
            }
            _ => Ok(new),
        }
    }

    /// Every key, oldest first.
    pub fn list(&self) -> Result<Vec<About>, Fault> {
        let mut keys = Vec::new();
        let mut active = self.read_all()?;
        let newest = active.pop();
        let about = |read: Read, state| About {
            kid: read.signing.kid,
            created_at: read.created_at,
            state,
        };
        keys.extend(active.into_iter().map(|key| about(key, State::Verifying)));
        keys.extend(newest.map(|key| about(key, State::Signing)));
        for path in self.files(RETIRED)? {
            let content = content(&path)?;
            keys.push(About {
                kid: named(&path),
                created_at: created_at(&path, &content)?,
                state: State::Retired,
            });
        }
        keys.sort_by_key(|key| key.created_at);
        Ok(keys)
    }

    /// The public halves of the keys that verify.
    pub fn public(&self) -> Result<Vec<(String, Public)>, Fault> {
        let keys = self.read_all()?.into_iter().map(|read| {
            let public = read.signing.pair.public_key().as_ref().to_vec();
            (read.signing.kid, Public::Ed25519(public))
        });
        Ok(keys.collect())
    }

    /// The public halves of retired keys, where they were kept.
    pub fn retired(&self) -> Result<Vec<(String, Public)>, Fault> {
        let mut keys = Vec::new();
        for path in self.files(RETIRED)? {
            let content = content(&path)?;
            let text = content.public.unwrap_or_default();
            let public = STANDARD.decode(text).unwrap_or_default();
            if public.len() == 32 && kid_of(&public) == named(&path) {
                keys.push((named(&path), Public::Ed25519(public)));
            }
        }
        Ok(keys)
    }

    /// The keys that sign or verify, oldest first.
    fn read_all(&self) -> Result<Vec<Read>, Fault> {
        own(&self.folder)?;
        let mut keys = Vec::new();
        for path in self.files(KEY)? {
            // One that is being retired has a file that says so before its own is removed.
            if self.path(&named(&path), RETIRED).exists() {
                continue;
            }
            match self.read(&path) {
                // It was retired after it was listed.
                Err(_) if !path.exists() => {}
                read => keys.push(read?),
            }
        }
        keys.sort_by(|a, b| (a.created_at, &a.signing.kid).cmp(&(b.created_at, &b.signing.kid)));
        Ok(keys)
    }

    fn read(&self, path: &Path) -> Result<Read, Fault> {
        private(path)?;
        let content = content(path)?;
        let text = content.pkcs8.as_ref();
        let bytes = text.and_then(|text| STANDARD.decode(text).ok());
        let key = bytes.and_then(|bytes| signing(&bytes));
        let key = key.filter(|key| key.kid == named(path));
        Ok(Read {
            created_at: created_at(path, &content)?,
            signing: key.ok_or_else(|| damaged(path))?,
        })
    }

    fn files(&self, ending: &str) -> Result<Vec<PathBuf>, Fault> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(&self.folder, "read", &error)),
        };
        let paths = entries.flatten().map(|entry| entry.path());
        Ok(paths
            .filter(|path| path.extension().is_some_and(|found| found == ending))
            .collect())
    }

    fn path(&self, kid: &str, ending: &str) -> PathBuf {
        self.folder.join(format!("{kid}.{ending}"))
    }

    fn make_folder(&self) -> Result<(), Fault> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::DirBuilderExt;
            builder.mode(0o700);
        }
        builder
            .create(&self.folder)
            .map_err(|error| failed(&self.folder, "made", &error))
    }

    /// Writes a file whole or not at all.
    fn write(&self, kid: &str, ending: &str, content: &Value) -> Result<(), Fault> {
        let (path, draft) = (self.path(kid, ending), self.path(kid, "draft"));
        let wrong = |error: std::io::Error| failed(&path, "written", &error);
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(0o600);
        }
        let mut file = options.open(&draft).map_err(wrong)?;
        file.write_all(content.to_string().as_bytes())
            .and_then(|()| file.sync_all())
            .and_then(|()| fs::rename(&draft, &path))
            .map_err(wrong)
    }
}

/// The public halves, as a set that anybody may read.
pub fn set(keys: &[(String, Public)]) -> Value {
    let keys: Vec<Value> = keys
        .iter()
        .filter_map(|(kid, key)| match key {
            Public::Ed25519(public) => Some(jwk::ed25519(kid, public)),
            _ => None,
        })
        .collect();
    json!({ "keys": keys })
}

/// A pair from its file's bytes; its name is made from its public half.
fn signing(pkcs8: &[u8]) -> Option<Signing> {
    let pair = Ed25519KeyPair::from_pkcs8(pkcs8).ok()?;
    Some(Signing {
        kid: kid_of(pair.public_key().as_ref()),
        pair,
    })
}

/// A key's name, by its public half.
pub fn kid_of(public: &[u8]) -> String {
    hex(&sha256(public))[..16].to_owned()
}

fn named(path: &Path) -> String {
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    stem.unwrap_or_default().to_owned()
}

/// What a key file holds; that of a retired key has no private half.
#[derive(Deserialize)]
struct Content {
    created_at: Option<String>,
    pkcs8: Option<String>,
    public: Option<String>,
}

fn content(path: &Path) -> Result<Content, Fault> {
    let size = fs::metadata(path)
        .map_err(|error| failed(path, "read", &error))?
        .len();
    if size > limits::KEY_FILE_BYTES {
        return Err(damaged(path));
    }
    let text = fs::read_to_string(path).map_err(|error| failed(path, "read", &error))?;
    serde_json::from_str(&text).map_err(|_| damaged(path))
}

fn created_at(path: &Path, content: &Content) -> Result<Time, Fault> {
    let text = content.created_at.as_deref().unwrap_or_default();
    Time::parse("created_at", text).map_err(|_| damaged(path))
}

/// A key that others can read is everybody's, and one that others wrote is theirs.
#[cfg(unix)]
fn private(path: &Path) -> Result<(), Fault> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let found = fs::metadata(path).map_err(|error| failed(path, "read", &error))?;
    if !owner::belongs(found.uid()) {
        return Err(of_another(path, found.uid()));
    }
    if found.permissions().mode() & 0o077 == 0 {
        return Ok(());
    }
    let problem = format!("the key file {} can be read by others", path.display());
    Err(Fault::new(Code::Validation, problem).hint(
        "Make it yours alone with `chmod 600`; if anybody may have read it, make a new key with \
         `understory token keys --rotate` and retire this one.",
    ))
}

/// Write access there is the power to sign for anybody.
#[cfg(unix)]
fn own(folder: &Path) -> Result<(), Fault> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    match fs::metadata(folder) {
        Ok(data) if !owner::belongs(data.uid()) => Err(of_another(folder, data.uid())),
        Ok(data) if data.permissions().mode() & 0o022 != 0 => {
            let problem = format!("others may put keys into {}", folder.display());
            Err(Fault::new(Code::Validation, problem)
                .hint("Look at what is there, then make it yours alone with `chmod 700`."))
        }
        _ => Ok(()),
    }
}

#[cfg(unix)]
fn of_another(path: &Path, uid: u32) -> Fault {
    let problem = format!("{} belongs to another user ({uid})", path.display());
    Fault::new(Code::Validation, problem).hint(
        "Keys must be yours: name another directory with `keys` or UNDERSTORY_KEYS, or change the owner.",
    )
}

#[cfg(not(unix))]
fn own(_: &Path) -> Result<(), Fault> {
    Ok(())
}

#[cfg(not(unix))]
fn private(_: &Path) -> Result<(), Fault> {
    Ok(())
}

fn failed(path: &Path, what: &str, error: &std::io::Error) -> Fault {
    let problem = format!("{} cannot be {what}: {error}", path.display());
    Fault::new(Code::Validation, problem).hint("`keys` or UNDERSTORY_KEYS names another directory.")
}

fn damaged(path: &Path) -> Fault {
    let problem = format!("{} is not a key file", path.display());
    Fault::new(Code::Validation, problem)
        .hint("Move it away; tokens that it signed have to be issued again.")
}
