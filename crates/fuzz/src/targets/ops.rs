//! Operations on lines, differences and merges.
//!
//! An input is four texts with a line of `%%` between them: operations, and three versions.

use std::collections::BTreeMap;
use std::sync::Arc;

use understory_model::Seq;
use understory_model::lines::{
    Change, Choice, Edit, Line, Merged, Op, Origin, Version, apply, apply_to, diff, fault, merge,
    parse, print, split, unified,
};
use understory_model::merge::{merge_text, unified_diff};

use crate::chance::Chance;
use crate::mutate;
use crate::target::{Outcome, Target, check, check_fault, shape, text};

pub struct Ops;

impl Target for Ops {
    fn run(&mut self, input: &[u8]) -> Outcome {
        let input = text(input);
        let mut parts = input.split("\n%%\n").chain(std::iter::repeat(""));
        let mut part = || parts.next().unwrap_or_default();
        let (ops, base, ours, theirs) = (part(), part(), part(), part());
        let base = version(base, Seq(1));
        let way = operations(ops, &base)?;
        between(&base, &version(ours, Seq(2)))?;
        let merged = merges(&base, &version(ours, Seq(2)), &version(theirs, Seq(3)))?;
        Ok(format!("{way} {merged}"))
    }

    fn make(&mut self, chance: &mut Chance, known: &[Vec<u8>]) -> Vec<u8> {
        if chance.one_in(2) {
            let mut input = chance.pick(known).clone();
            mutate::mutate(chance, &mut input, self.words(), known);
            return input;
        }
        let count = chance.below(9);
        let base: Vec<String> = (0..count).map(|_| line(chance)).collect();
        let ops: Vec<String> = (0..chance.few(6)).map(|_| op(chance, &base)).collect();
        let side = |chance: &mut Chance| {
            let mut side = base.clone();
            for _ in 0..chance.few(5) {
                let at = chance.below(side.len() + 1);
                match chance.below(3) {
                    0 => side.insert(at, line(chance)),
                    1 if at < side.len() => drop(side.remove(at)),
                    _ if at < side.len() => {
                        let moved = side.remove(at);
                        side.insert(chance.below(side.len() + 1), moved);
                    }
                    _ => {}
                }
            }
            side.join("\n") + if chance.one_in(2) { "\n" } else { "" }
        };
        let (ours, theirs) = (side(chance), side(chance));
        let parts = [ops.join(" "), base.join("\n"), ours, theirs];
        parts.join("\n%%\n").into_bytes()
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "+1:^a7f",
            "-2",
            "~1:^b2e→^c3d",
            "~1:^b2e->^c3d",
            ">1@3",
            "\n%%\n",
            "^a7f",
            "#^a7f.2",
            "msg_3#^a7f",
            "\n",
            "+18446744073709551615:^aaa",
            "a\n",
            "b\n",
            "\r\n",
        ]
    }
}

fn line(chance: &mut Chance) -> String {
    match chance.below(4) {
        0 => mutate::text(chance, &[]).replace('\n', " "),
        _ => chance
            .pick(&["", "a", "b", "c", "d", "a b", "\r", " "])
            .to_string(),
    }
}

fn op(chance: &mut Chance, base: &[String]) -> String {
    let at = 1 + chance.below(base.len() + 2);
    let here = base.get(at - 1).map_or("^aaa".to_owned(), |text| {
        understory_model::fragment::fragment_id(text)
    });
    match chance.below(5) {
        0 => format!("+{at}:^a7f"),
        1 => format!("-{at}"),
        2 => format!("~{at}:{here}→^c3d"),
        3 => format!(">{at}@{}", 1 + chance.below(base.len() + 2)),
        _ => format!(
            "{}{}:^zz",
            chance.pick(&["+", "-", "~", ">", ""]),
            mutate::number(chance)
        ),
    }
}

fn version(content: &str, commit: Seq) -> Version {
    let (texts, ended) = split(content);
    let lines = texts.iter().enumerate().map(|(at, text)| Line {
        text: (*text).into(),
        origin: Origin {
            commit,
            line: at + 1,
        },
    });
    Version {
        lines: lines.collect(),
        ended,
    }
}

/// Operations as text: read, written, read again, carried out.
fn operations(ops: &str, base: &Version) -> Outcome {
    let parsed = match parse(ops) {
        Ok(parsed) => parsed,
        Err(fault) => {
            check_fault(&fault)?;
            return Ok(shape(fault.message.rsplit(": ").next().unwrap_or_default()));
        }
    };
    let printed = print(&parsed);
    check(parse(&printed).as_ref() == Ok(&parsed), || {
        format!("{printed:?} is read otherwise")
    })?;
    let texts: Vec<Arc<str>> = parsed
        .iter()
        .filter_map(Op::brings)
        .map(|_| "new".into())
        .collect();
    let change = Change {
        commit: Seq(9),
        ops: &parsed,
        texts: &texts,
        origins: &[],
        ended: base.ended,
    };
    let done = apply(base, &change);
    check(apply_to(base.clone(), &change) == done, || {
        "apply_to says otherwise".into()
    })?;
    match done {
        Ok(version) => {
            let added = parsed
                .iter()
                .filter(|op| matches!(op, Op::Add { .. }))
                .count();
            let removed = parsed
                .iter()
                .filter(|op| matches!(op, Op::Remove { .. }))
                .count();
            let count = base.lines.len() + added - removed;
            check(version.lines.len() == count, || {
                format!("{printed:?} made {version:?}")
            })?;
            between(base, &version)?;
            Ok(format!("{} ops", parsed.len().min(5)))
        }
        Err(wrong) => {
            check_fault(&fault(&printed, &wrong))?;
            Ok(shape(&wrong.problem))
        }
    }
}

fn carried(old: &Version, edit: &Edit, ended: bool) -> Result<Version, String> {
    let (ops, texts, origins) = (&edit.ops[..], &edit.texts[..], &edit.origins[..]);
    let change = Change {
        commit: Seq(9),
        ops,
        texts,
        origins,
        ended,
    };
    apply(old, &change).map_err(|wrong| format!("{} cannot be carried out: {wrong:?}", print(ops)))
}

/// A difference leads from one version to the other, and one of the other way back.
fn between(old: &Version, new: &Version) -> Result<(), String> {
    for (from, to) in [(old, new), (new, old)] {
        let done = carried(from, &diff(from, &to.texts()), to.ended)?;
        check(done.content() == to.content(), || {
            format!(
                "{:?} became {:?}, not {:?}",
                from.content(),
                done.content(),
                to.content()
            )
        })?;
    }
    let (before, after) = (old.content(), new.content());
    let shown = unified(old, new, ("a", "b"));
    check(shown.is_empty() == (before == after), || {
        format!("{shown:?} between {before:?} and {after:?}")
    })?;
    let shown = unified_diff(&before, &after, "a", "b");
    check(shown.is_empty() == (before == after), || {
        format!("{shown:?} between {before:?} and {after:?}")
    })
}

/// Where one side did nothing, the other's text comes out; nothing is settled that nobody chose.
fn merges(base: &Version, ours: &Version, theirs: &Version) -> Outcome {
    let none = BTreeMap::new();
    for (a, b, wanted) in [
        (base, theirs, theirs),
        (ours, base, ours),
        (ours, ours, ours),
    ] {
        let (Merged::Clean { edit, ended }, 0) = merge(base, a, b, &none) else {
            return Err("a merge with one side unchanged has conflicts".into());
        };
        let done = carried(a, &edit, ended)?.content();
        check(done == wanted.content(), || {
            format!("merged {done:?}, not {:?}", wanted.content())
        })?;
    }
    let (merged, count) = merge(base, ours, theirs, &none);
    match &merged {
        Merged::Clean { edit, ended } => drop(carried(ours, edit, *ended)?),
        Merged::Open(open) => check(open.len() == count, || format!("{count} and {open:?}"))?,
    }
    for choice in [
        Choice::Base,
        Choice::Ours,
        Choice::Theirs,
        Choice::Content("x\ny".into()),
    ] {
        let choices = (0..count).map(|at| (at, choice.clone())).collect();
        let (Merged::Clean { edit, ended }, _) = merge(base, ours, theirs, &choices) else {
            return Err(format!("{choice:?} for every conflict leaves some open"));
        };
        carried(ours, &edit, ended)?;
    }
    let (b, o, t) = (base.content(), ours.content(), theirs.content());
    let (Ok(same), Ok(one)) = (merge_text(&b, &b, &t), merge_text(&b, &o, &b)) else {
        return Err("merge_text with one side unchanged has conflicts".into());
    };
    check(same == t && one == o, || {
        format!("merge_text of {b:?}, {o:?}, {t:?}: {same:?} and {one:?}")
    })?;
    let _ = merge_text(&b, &o, &t);
    Ok(format!("{} conflicts", count.min(4)))
}
