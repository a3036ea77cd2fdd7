//! Where the key files of a store are, and the key set of another issuer.

use std::path::PathBuf;

use understory_model::Fault;
use understory_model::canon::{hex, sha256};

use super::store::{self, Address};
use super::{Raw, Setting, Source, Surroundings};

/// The directory that was asked for. Else it is beside a store's file. For a server it is the
/// user's own, by the address without its password, so that a new password keeps the keys; and for
/// a store inside a repository too, which may come with keys that its author knows.
pub(super) fn choose(
    raw: Option<Raw>,
    store: &Setting<Address>,
    around: &Surroundings,
) -> Result<Setting<PathBuf>, Fault> {
    if let Some(Raw { text, source }) = raw {
        let value = store::path(&text, &source, around);
        return Ok(Setting { value, source });
    }
    let address = &store.value;
    if !address.is_server() && !matches!(store.source, Source::Repository(_)) {
        let folder = format!("{}.keys", address.reveal());
        return Ok(Setting::default(folder.into()));
    }
    let Some(data) = &around.data_dir else {
        return Err(
            Fault::invalid("keys", "there is no home directory to keep them in")
                .hint("name a directory with UNDERSTORY_KEYS"),
        );
    };
    let name = &hex(&sha256(address.to_string().as_bytes()))[..16];
    Ok(Setting::default(data.join("understory/keys").join(name)))
}

/// A key set's place: an address as it is, a path as it was meant where it was written.
pub(super) fn set(jwks: Setting<Option<String>>, around: &Surroundings) -> Setting<Option<String>> {
    let Setting { value, source } = jwks;
    let value = value.map(|text| {
        if text.contains("://") {
            text
        } else {
            store::path(&text, &source, around).display().to_string()
        }
    });
    Setting { value, source }
}
