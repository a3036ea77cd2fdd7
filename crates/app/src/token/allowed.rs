//! What another issuer may say: which workspaces its tokens may name, and which roles they may give.
//!
//! Nothing is allowed that was not written down, by the user and never by a repository's file.

use std::collections::BTreeSet;

use understory_model::text::quoted;
use understory_model::{Fault, Role};

use crate::identity::is_name;

/// The settings, as they are named in messages.
pub const WORKSPACES: &str = "issuer_workspaces";
pub const ROLES: &str = "issuer_roles";

/// Names that are allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Names {
    /// `*` was written.
    Any,
    These(BTreeSet<String>),
}

/// What an issuer may say. What was not set allows nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Allowed {
    workspaces: Option<Names>,
    roles: Option<Vec<Role>>,
}

impl Allowed {
    /// Reads the two settings: names with commas between them, or `*` for all.
    pub fn read(workspaces: Option<&str>, roles: Option<&str>) -> Result<Allowed, Fault> {
        Ok(Allowed {
            workspaces: workspaces.map(names).transpose()?,
            roles: roles.map(self::roles).transpose()?,
        })
    }

    /// The setting without which no token of the issuer is accepted.
    pub fn missing(&self) -> Option<&'static str> {
        match (&self.workspaces, &self.roles) {
            (None, _) => Some(WORKSPACES),
            (_, None) => Some(ROLES),
            _ => None,
        }
    }

    pub fn workspace(&self, name: &str) -> bool {
        match &self.workspaces {
            None => false,
            Some(Names::Any) => true,
            Some(Names::These(names)) => names.contains(name),
        }
    }

    pub fn role(&self, role: Role) -> bool {
        self.roles.as_ref().is_some_and(|all| all.contains(&role))
    }
}

fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
}

fn names(text: &str) -> Result<Names, Fault> {
    if text.trim() == "*" {
        return Ok(Names::Any);
    }
    if let Some(wrong) = parts(text).find(|name| !is_name(name)) {
        let problem = format!(
            "{} is not the name of a workspace, and `*` stands alone",
            quoted(wrong)
        );
        return Err(Fault::invalid(WORKSPACES, problem));
    }
    Ok(Names::These(parts(text).map(str::to_owned).collect()))
}

fn roles(text: &str) -> Result<Vec<Role>, Fault> {
    if text.trim() == "*" {
        return Ok(Role::ALL.to_vec());
    }
    let read = |part: &str| {
        part.parse()
            .map_err(|problem: String| Fault::invalid(ROLES, problem))
    };
    parts(text).map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_written_is_allowed() {
        let none = Allowed::default();
        assert!(!none.workspace("shop") && !none.role(Role::Auditor));
        assert_eq!(none.missing(), Some(WORKSPACES));
        let half = Allowed::read(Some("*"), None).unwrap();
        assert_eq!(half.missing(), Some(ROLES));
        let some = Allowed::read(Some("shop, bank"), Some("worker,auditor")).unwrap();
        assert!(some.workspace("shop") && some.workspace("bank") && !some.workspace("shop-2"));
        assert!(some.role(Role::Worker) && !some.role(Role::Operator));
        let all = Allowed::read(Some("*"), Some("*")).unwrap();
        assert!(all.workspace("any") && all.role(Role::Operator) && all.missing().is_none());
        let empty = Allowed::read(Some(""), Some("")).unwrap();
        assert!(!empty.workspace("") && !empty.role(Role::Worker));
    }

    #[test]
    fn what_cannot_be_a_name_or_a_role_is_refused() {
        for (workspaces, roles) in [("shop,*", "worker"), ("a b", "worker"), ("shop", "root")] {
            assert!(
                Allowed::read(Some(workspaces), Some(roles)).is_err(),
                "{workspaces} {roles}"
            );
        }
    }
}
