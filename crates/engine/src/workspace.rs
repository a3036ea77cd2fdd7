//! Which workspace a caller means: one name, one repository.
//!
//! Two repositories that happen to share a name must not share a memory by accident, so a name
//! that belongs to another repository leads to the next free one: `app`, `app-2`, `app-3`.

use understory_model::Caller;
use understory_model::error::{Code, Fault, Result};
use understory_storage::Tx;
use understory_storage::workspaces::{self, Workspace};

/// Names that are tried before giving up.
const TRIES: usize = 1_000;

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

pub fn resolve(tx: &mut Tx<'_>, caller: &Caller) -> Result<Resolved> {
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

/// Whether two descriptions of a repository have a line in common; one that is not described was
/// named on purpose, and fits.
fn same(there: Option<&str>, wanted: Option<&str>) -> bool {
    match (there, wanted) {
        (Some(there), Some(wanted)) => wanted.lines().any(|line| there.lines().any(|l| l == line)),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::same;

    #[test]
    fn one_line_in_common_is_the_same_repository() {
        assert!(same(Some("url:h/a\npath:/x"), Some("url:h/a\npath:/y")));
        assert!(same(Some("path:/x"), Some("url:h/a\npath:/x")));
        assert!(!same(Some("path:/x"), Some("path:/y")));
        assert!(same(None, Some("path:/y")) && same(Some("path:/y"), None));
    }
}
