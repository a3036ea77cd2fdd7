//! A branch is a parent and a cutoff; what it shows is what it inherited plus what it added.
//!
//! Forking must never copy anything, and what happens on the parent after the cutoff must never
//! be seen on the branch.

use crate::error::{Code, Fault};

const MAX_NAME: usize = 128;

/// A named lineage: where it came from, and the last seq that it took along.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    pub name: String,
    pub base: Option<(String, i64)>,
}

/// A branch whose own entries are seen, up to and including the cutoff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    pub branch: String,
    pub cutoff: Option<i64>,
}

/// All that a branch sees, nearest first: itself without a cutoff, then each ancestor with the
/// smallest cutoff on the way there, because a fork of a fork sees no more than the first fork did.
pub fn sources(name: &str, lookup: impl Fn(&str) -> Option<Branch>) -> Result<Vec<Source>, Fault> {
    let mut found: Vec<Source> = Vec::new();
    let mut next = Some((name.to_owned(), None));
    while let Some((name, cutoff)) = next {
        if found.iter().any(|source| source.branch == name) {
            return Err(corrupt(format!("the branch {name} descends from itself")));
        }
        let Some(branch) = lookup(&name) else {
            return Err(match found.last() {
                None => Fault::not_found(format!("there is no branch {name}")),
                Some(child) => corrupt(format!(
                    "the base {name} of branch {} is missing",
                    child.branch
                )),
            });
        };
        next = branch
            .base
            .map(|(base, at)| (base, Some(cutoff.map_or(at, |so_far| at.min(so_far)))));
        found.push(Source {
            branch: name,
            cutoff,
        });
    }
    Ok(found)
}

fn corrupt(message: String) -> Fault {
    Fault::new(Code::StoreCorrupt, message)
        .hint("run `understory verify` to find where the store is damaged")
}

/// Whether an entry that was made on `branch` with `seq` is seen.
pub fn visible(sources: &[Source], branch: &str, seq: i64) -> bool {
    sources
        .iter()
        .any(|source| source.branch == branch && source.cutoff.is_none_or(|cutoff| seq <= cutoff))
}

/// Refuses names that could not be typed, shown or put into a path without surprises.
pub fn check_name(name: &str) -> Result<(), Fault> {
    let refused = |problem: String| {
        Err(Fault::invalid("branch", problem)
            .hint("use letters, digits and . _ / - as in `task/TASK-001`"))
    };
    if name.is_empty() {
        return refused("is empty".to_owned());
    }
    if name.chars().nth(MAX_NAME).is_some() {
        return refused(format!("is longer than {MAX_NAME} characters"));
    }
    if let Some(c) = name
        .chars()
        .find(|c| !c.is_alphanumeric() && !"._/-".contains(*c))
    {
        return refused(format!("has the character {c:?}"));
    }
    if name.contains("..") {
        return refused("has two dots in a row".to_owned());
    }
    if name.starts_with('/') || name.ends_with('/') {
        return refused("begins or ends with a slash".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    fn branch(name: &str, base: Option<(&str, i64)>) -> Branch {
        Branch {
            name: name.to_owned(),
            base: base.map(|(name, at)| (name.to_owned(), at)),
        }
    }

    fn lookup(branches: &[Branch]) -> impl Fn(&str) -> Option<Branch> {
        move |name| branches.iter().find(|branch| branch.name == name).cloned()
    }

    #[test]
    fn the_smallest_cutoff_wins() {
        let all = [
            branch("main", None),
            branch("a", Some(("main", 5))),
            branch("b", Some(("a", 9))),
        ];
        let seen = sources("b", lookup(&all)).unwrap();
        let cutoffs: Vec<_> = seen.iter().map(|s| (s.branch.as_str(), s.cutoff)).collect();
        assert_eq!(cutoffs, [("b", None), ("a", Some(9)), ("main", Some(5))]);
        assert!(visible(&seen, "main", 5) && !visible(&seen, "main", 6));
        assert!(visible(&seen, "b", 100) && !visible(&seen, "c", 1));
    }

    #[test]
    fn damage_is_told_apart_from_a_wrong_name() {
        let all = [
            branch("a", Some(("b", 1))),
            branch("b", Some(("a", 1))),
            branch("c", Some(("x", 1))),
        ];
        assert_eq!(
            sources("a", lookup(&all)).unwrap_err().code,
            Code::StoreCorrupt
        );
        assert_eq!(
            sources("c", lookup(&all)).unwrap_err().code,
            Code::StoreCorrupt
        );
        assert_eq!(sources("x", lookup(&all)).unwrap_err().code, Code::NotFound);
    }

    #[test]
    fn names() {
        for good in ["main", "task/TASK-001", "v1.2_x", "größe", &"x".repeat(128)] {
            assert_eq!(check_name(good), Ok(()), "{good}");
        }
        for bad in [
            "",
            "a b",
            "a..b",
            "/a",
            "a/",
            "a\n",
            "a:b",
            &"x".repeat(129),
        ] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }

    proptest! {
        /// A step either adds an entry to a branch or forks it at some earlier seq; the model
        /// copies everything at each fork.
        #[test]
        fn equals_whole_copies(steps in prop::collection::vec((0..8_usize, 0..60_i64, any::<bool>()), 1..60)) {
            let mut branches = vec![branch("0", None)];
            let mut copies = vec![BTreeSet::new()];
            let mut made_on = BTreeMap::new();
            let mut seq = 0;
            for (which, cutoff, forks) in steps {
                let which = which % branches.len();
                if forks {
                    let cutoff = cutoff.min(seq);
                    let name = branches.len().to_string();
                    let copy = copies[which].iter().copied().filter(|seq| *seq <= cutoff).collect();
                    branches.push(branch(&name, Some((&which.to_string(), cutoff))));
                    copies.push(copy);
                } else {
                    seq += 1;
                    made_on.insert(seq, which.to_string());
                    copies[which].insert(seq);
                }
            }
            for (copy, branch) in copies.iter().zip(&branches) {
                let sources = sources(&branch.name, lookup(&branches)).unwrap();
                let seen: BTreeSet<i64> = made_on
                    .iter()
                    .filter(|(seq, on)| visible(&sources, on, **seq))
                    .map(|(seq, _)| *seq)
                    .collect();
                prop_assert_eq!(&seen, copy, "{}", branch.name);
            }
        }
    }
}
