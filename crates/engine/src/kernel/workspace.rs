//! Which workspace a caller means: one name, one place.
//!
//! A workspace belongs to the place that made it. Another place of the same name gets the next free
//! one: `app`, `app-2`, `app-3`; so no repository reaches a memory by what it calls itself. Only a
//! caller without a place, whose user named the workspace on purpose, reaches any.

use understory_model::Caller;
use understory_model::error::{Code, Fault, Result};
use understory_storage::ReadTx;
use understory_storage::workspaces::{self, Workspace};

/// Names that are tried before giving up.
const TRIES: usize = 1_000;
/// What begins the lines of an origin.
const PATH: &str = "path:";
const URL: &str = "url:";

/// Where a caller's writes go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolved {
    There(Workspace),
    /// Not made yet; this name is free.
    New(String),
}

impl Resolved {
    pub fn name(&self) -> &str {
        match self {
            Resolved::There(workspace) => &workspace.name,
            Resolved::New(name) => name,
        }
    }
}

/// Whose the wanted name is, when a caller gets another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holder {
    /// It was made by name: with a token, or by a setting of the user's.
    Named,
    /// A repository at another path, which has the same address.
    SameAddress {
        path: String,
    },
    Another {
        path: String,
    },
}

/// A name that a caller wanted and did not get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clash {
    pub wanted: String,
    pub got: String,
    pub holder: Holder,
}

pub fn resolve(tx: &mut ReadTx<'_>, caller: &Caller) -> Result<Resolved> {
    for attempt in 1..=TRIES {
        let name = match attempt {
            1 => caller.workspace.clone(),
            _ => format!("{}-{attempt}", caller.workspace),
        };
        match workspaces::find(tx, &name)? {
            None => return Ok(Resolved::New(name)),
            Some(there) if same(there.origin.as_deref(), caller.origin.as_deref()) => {
                return Ok(Resolved::There(there));
            }
            Some(_) => {}
        }
    }
    Err(Fault::new(
        Code::Validation,
        format!("too many repositories are named {}", caller.workspace),
    )
    .hint("Name the workspace with UNDERSTORY_WORKSPACE."))
}

/// Why a caller's workspace does not have the name that it wanted; nothing when it has.
pub fn clash(tx: &mut ReadTx<'_>, caller: &Caller) -> Result<Option<Clash>> {
    let found = resolve(tx, caller)?;
    if found.name() == caller.workspace {
        return Ok(None);
    }
    let holder = workspaces::find(tx, &caller.workspace)?.and_then(|there| there.origin);
    let holder = match (holder.as_deref(), caller.origin.as_deref()) {
        (None, _) => Holder::Named,
        (Some(there), wanted) => {
            let path = line(there, PATH).unwrap_or_default().to_owned();
            let url = line(there, URL);
            if url.is_some() && url == wanted.and_then(|wanted| line(wanted, URL)) {
                Holder::SameAddress { path }
            } else {
                Holder::Another { path }
            }
        }
    };
    Ok(Some(Clash {
        wanted: caller.workspace.clone(),
        got: found.name().to_owned(),
        holder,
    }))
}

/// Whether a workspace is the caller's: one that was named on purpose is; else the caller's path
/// must be the workspace's. An address is what a repository says of itself, and proves nothing.
fn same(there: Option<&str>, wanted: Option<&str>) -> bool {
    match (there, wanted) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(there), Some(wanted)) => line(wanted, PATH)
            .is_some_and(|path| there.lines().any(|l| l.strip_prefix(PATH) == Some(path))),
    }
}

/// The folder that made a workspace; `None` for one that was made by name.
pub fn folder(workspace: &Workspace) -> Option<String> {
    let origin = workspace.origin.as_deref()?;
    line(origin, PATH).map(str::to_owned)
}

/// What the first line of a kind says.
fn line<'a>(origin: &'a str, kind: &str) -> Option<&'a str> {
    origin.lines().find_map(|line| line.strip_prefix(kind))
}

#[cfg(test)]
mod tests {
    use super::same;

    #[test]
    fn the_path_decides() {
        assert!(same(Some("url:h/a\npath:/x"), Some("url:h/a\npath:/x")));
        assert!(same(Some("path:/x"), Some("url:h/a\npath:/x")));
        assert!(same(Some("url:h/a\npath:/x"), Some("path:/x")));
        assert!(!same(Some("url:h/a\npath:/x"), Some("url:h/a\npath:/y")));
        assert!(!same(Some("path:/x"), Some("path:/y")));
    }

    #[test]
    fn only_what_is_named_on_purpose_reaches_what_another_made() {
        assert!(same(None, None) && same(Some("path:/y"), None));
        assert!(!same(None, Some("path:/y")));
    }
}
