//! A branch is a parent and a cutoff; what it shows is what it inherited plus what it added.
//!
//! Forking must never copy anything, and what happens on the parent after the cutoff must never
//! be seen on the branch.

use crate::error::Fault;
use crate::id::Seq;
use crate::limits;

/// A branch whose own entries are seen, up to and including the cutoff; `Seq::MAX` where there is
/// none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    pub branch: String,
    pub cutoff: Seq,
}

/// All that a branch sees, nearest first: itself without a cutoff, then each ancestor with the
/// smallest cutoff on the way there, because a fork of a fork sees no more than the first fork did.
/// The steps are the bases and cutoffs along the way, nearest first.
pub fn sources(name: &str, steps: impl IntoIterator<Item = (String, Seq)>) -> Vec<Source> {
    let mut cutoff = Seq::MAX;
    let mut found = vec![Source {
        branch: name.to_owned(),
        cutoff,
    }];
    for (branch, base_seq) in steps {
        cutoff = cutoff.min(base_seq);
        found.push(Source { branch, cutoff });
    }
    found
}

/// Whether an entry that was made on `branch` with `seq` is seen.
pub fn visible(sources: &[Source], branch: &str, seq: Seq) -> bool {
    sources
        .iter()
        .any(|source| source.branch == branch && seq <= source.cutoff)
}

/// A part of a branch's own entries: those after one place, up to and including another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch {
    pub branch: String,
    pub after: Seq,
    pub upto: Seq,
}

/// What `to` sees and `from` does not, in the order of `to`'s sources.
pub fn unseen(from: &[Source], to: &[Source]) -> Vec<Stretch> {
    let known = |branch: &str| {
        let there = from.iter().find(|source| source.branch == branch);
        there.map_or(Seq::ZERO, |source| source.cutoff)
    };
    to.iter()
        .map(|source| Stretch {
            branch: source.branch.clone(),
            after: known(&source.branch),
            upto: source.cutoff,
        })
        .filter(|stretch| stretch.after < stretch.upto)
        .collect()
}

/// Refuses names that could not be typed, shown or put into a path without surprises.
pub fn check_name(name: &str) -> Result<(), Fault> {
    let refused = |problem: String| {
        Err(Fault::invalid("branch", problem)
            .hint("Use letters, digits and . _ / - for example `ideas/cache`"))
    };
    if name.is_empty() {
        return refused("is empty".to_owned());
    }
    if name.chars().nth(limits::BRANCH_CHARS).is_some() {
        return refused(format!(
            "is longer than {} characters",
            limits::BRANCH_CHARS
        ));
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

/// The handle of the graph node that a branch belongs to, by its name.
pub fn node_of_branch(branch: &str) -> Option<&str> {
    let (family, handle) = branch.split_once('/')?;
    let fits = match family {
        "task" => handle.starts_with("TASK-"),
        "plan" => handle.starts_with("PLAN-"),
        _ => false,
    };
    fits.then_some(handle)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    /// A branch, and where it was forked from.
    type Branch = (String, Option<(String, Seq)>);

    fn way(branches: &[Branch], name: &str) -> Vec<(String, Seq)> {
        let mut found: Vec<(String, Seq)> = Vec::new();
        let mut at = name.to_string();
        while let Some((_, Some(base))) = branches.iter().find(|(name, _)| *name == at) {
            at.clone_from(&base.0);
            found.push(base.clone());
        }
        found
    }

    #[test]
    fn the_smallest_cutoff_wins() {
        let seen = sources(
            "b",
            [("a".to_string(), Seq(9)), ("main".to_string(), Seq(5))],
        );
        let cutoffs: Vec<_> = seen.iter().map(|s| (s.branch.as_str(), s.cutoff)).collect();
        assert_eq!(cutoffs, [("b", Seq::MAX), ("a", Seq(9)), ("main", Seq(5))]);
        assert!(visible(&seen, "main", Seq(5)) && !visible(&seen, "main", Seq(6)));
        assert!(visible(&seen, "b", Seq(100)) && !visible(&seen, "c", Seq(1)));
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
            let mut branches: Vec<Branch> = vec![("0".into(), None)];
            let mut copies = vec![BTreeSet::new()];
            let mut made_on = BTreeMap::new();
            let mut seq = Seq::ZERO;
            for (which, cutoff, forks) in steps {
                let which = which % branches.len();
                if forks {
                    let cutoff = Seq(cutoff).min(seq);
                    let name = branches.len().to_string();
                    let copy = copies[which].iter().copied().filter(|seq| *seq <= cutoff).collect();
                    branches.push((name, Some((which.to_string(), cutoff))));
                    copies.push(copy);
                } else {
                    seq += 1;
                    made_on.insert(seq, which.to_string());
                    copies[which].insert(seq);
                }
            }
            let seen = |sources: &[Source]| -> BTreeSet<Seq> {
                let all = made_on.iter().filter(|(seq, on)| visible(sources, on, **seq));
                all.map(|(seq, _)| *seq).collect()
            };
            let views: Vec<Vec<Source>> = branches
                .iter()
                .map(|(name, _)| sources(name, way(&branches, name)))
                .collect();
            for (copy, view) in copies.iter().zip(&views) {
                prop_assert_eq!(&seen(view), copy);
            }
            for (from, to) in views.iter().zip(views.iter().rev()) {
                let stretches = unseen(from, to);
                let new: BTreeSet<Seq> = made_on
                    .iter()
                    .filter(|(seq, on)| stretches.iter().any(|part| {
                        part.branch == **on && part.after < **seq && **seq <= part.upto
                    }))
                    .map(|(seq, _)| *seq)
                    .collect();
                let expected = &seen(to) - &seen(from);
                prop_assert_eq!(new, expected);
            }
        }
    }
}
