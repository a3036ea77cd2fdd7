//! The rules of typed links: how many there may be, and which may not close a circle.

/// What a relation allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// At most one such link leaves a thing.
    pub one_per_source: bool,
    /// At most one such link reaches a thing.
    pub one_per_target: bool,
    /// Following it never leads back.
    pub acyclic: bool,
}

/// The relation that orders work.
pub const DEPENDS_ON: &str = "depends_on";
/// The relation that makes a tree; it is an entity's place, kept beside it rather than as a link.
pub const PARENT: &str = "parent";

/// The relation of a record to others that it touches.
pub const RELATED: &str = "related";
/// The relation of a record to the one that settled it.
pub const RESOLVED_BY: &str = "resolved_by";

/// The rule of a relation; one that is not named here is free.
pub fn rule(relation: &str) -> Rule {
    let (one_per_source, one_per_target, acyclic) = match relation {
        PARENT => (true, false, true),
        DEPENDS_ON => (false, false, true),
        "triggers" | "supercedes" => (false, true, false),
        "replies_to" | "continues" | RESOLVED_BY => (true, false, false),
        _ => (false, false, false),
    };
    Rule {
        one_per_source,
        one_per_target,
        acyclic,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ordering_relations_refuse_circles() {
        assert!(rule(DEPENDS_ON).acyclic && rule(PARENT).acyclic);
        assert!(!rule("relates_to").acyclic && !rule("anything").acyclic);
        assert!(rule("triggers").one_per_target && !rule("triggers").one_per_source);
        assert!(rule("replies_to").one_per_source && !rule("replies_to").one_per_target);
    }
}
