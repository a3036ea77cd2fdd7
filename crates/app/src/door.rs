//! How a person's own programs find the server that the person started, and get into it: a file that only
//! this user can read says where the server listens and what it gives further login links for.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use understory_engine::files;
use understory_model::canon::{hex, sha256};
use understory_model::{Caller, Code, Fault};

use crate::config::{Settings, Surroundings};
use crate::token;

/// The header that has the key.
pub const HEADER: &str = "x-understory-door";
/// The address that answers it with a link.
pub const PATH: &str = "/login";

/// What the file says.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Door {
    /// Where the server is, as this machine calls it.
    pub address: String,
    pub key: String,
}

/// The file, which is taken away with the server.
pub struct Shown {
    pub door: Door,
    path: PathBuf,
}

impl Drop for Shown {
    fn drop(&mut self) {
        let ours = Door::read(&self.path).is_some_and(|there| there.key == self.door.key);
        if ours {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl Door {
    /// Writes down where a server of this person is.
    pub fn show(
        settings: &Settings,
        around: &Surroundings,
        person: &Caller,
        address: String,
    ) -> Result<Shown, Fault> {
        let failed = |error: std::io::Error| {
            Fault::new(
                Code::StoreUnavailable,
                format!("the file for `understory open` cannot be written: {error}"),
            )
        };
        let path = path(settings, around, person)
            .ok_or_else(|| failed(std::io::ErrorKind::NotFound.into()))?;
        let door = Door {
            address,
            key: token::random(32)?,
        };
        if let Some(folder) = path.parent() {
            files::private_folder(folder).map_err(failed)?;
        }
        // Whatever is there was left by a server that was killed, or is of one that is replaced.
        let _ = std::fs::remove_file(&path);
        let mut file = files::create_private(&path).map_err(failed)?;
        let text = serde_json::to_string(&door).map_err(|error| failed(error.into()))?;
        file.write_all(text.as_bytes()).map_err(failed)?;
        Ok(Shown { door, path })
    }

    /// The server of this person on this store, if one wrote itself down.
    pub fn find(settings: &Settings, around: &Surroundings, person: &Caller) -> Option<Door> {
        Door::read(&path(settings, around, person)?)
    }

    fn read(path: &Path) -> Option<Door> {
        serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()
    }
}

fn path(settings: &Settings, around: &Surroundings, person: &Caller) -> Option<PathBuf> {
    let whose = format!(
        "{}\n{}\n{}",
        settings.store.value.reveal(),
        person.workspace,
        person.agent
    );
    let name = hex(&sha256(whose.as_bytes()));
    let folder = around.run_folder()?;
    Some(folder.join(format!("open-{}.json", &name[..24])))
}
