//! Lines under any change: what is asked for comes out, and each line knows where it came from.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;

/// A version whose lines were all written by one commit.
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

/// Operations with a text for each fragment that they bring.
fn run(parent: &Version, ops: &str, texts: &[&str]) -> crate::error::Result<Version> {
    let parsed = parse(ops)?;
    let texts: Vec<Arc<str>> = texts.iter().map(|text| (*text).into()).collect();
    let change = Change {
        commit: Seq(9),
        ops: &parsed,
        texts: &texts,
        origins: &[],
        ended: parent.ended,
    };
    apply(parent, &change).map_err(|wrong| fault(ops, &wrong))
}

fn after(old: &Version, edit: &Edit, ended: bool) -> Version {
    let change = Change {
        commit: Seq(9),
        ops: &edit.ops,
        texts: &edit.texts,
        origins: &edit.origins,
        ended,
    };
    let done = apply(old, &change).expect("what a difference says can be carried out");
    assert_eq!(apply_to(old.clone(), &change).as_ref(), Ok(&done));
    for (text, line) in edit.texts.iter().zip(places(&edit.ops)) {
        assert_eq!(done.lines[line - 1].text, *text, "{}", print(&edit.ops));
    }
    done
}

fn told(content: &str, new: &str) -> String {
    print(&diff(&version(content, Seq(1)), &split(new).0).ops)
}

#[test]
fn content_comes_out_as_it_went_in() {
    for content in [
        "",
        "\n",
        "a",
        "a\n",
        "a\n\n",
        "\na",
        "a\r\nb\r\n",
        "\r",
        "é\u{2028}😀\n\n\n",
    ] {
        assert_eq!(version(content, Seq(1)).content(), content);
    }
    assert_eq!(split("").0.len(), 0);
    assert_eq!(split("\n").0, [""]);
    assert_eq!(split("a\nb\n").0, ["a", "b"]);
}

#[test]
fn operations_read_and_print() {
    let text = "+15:^a7f -23 ~18:^b2e→^c3d >12@30";
    let ops = parse(text).expect("all are well-formed");
    assert_eq!(print(&ops), text);
    assert_eq!(
        print(&parse("  -1\n\t~2:^abc->^abcd ").expect("fine")),
        "-1 ~2:^abc→^abcd"
    );
    let anchored = "+3:item_0192-aa#^a7f ~1:^aaa→msg_7#^bbb";
    assert_eq!(print(&parse(anchored).expect("fine")), anchored);
    assert_eq!(parse("").expect("nothing is fine"), []);
}

#[test]
fn a_wrong_operation_is_named() {
    for bad in [
        "x",
        "+",
        "+1",
        "+:^a7f",
        "+0:^a7f",
        "+1:a7f",
        "+1:^a7",
        "+1:^a7fzz",
        "+1:^A7F",
        "-",
        "-x",
        "-0",
        "--1",
        "-+1",
        "~1:^a7f",
        "~1:^a7f→",
        "~1:^a7f→b2e",
        "~:^a7f→^b2e",
        ">1",
        ">1@",
        ">@1",
        ">0@1",
        "+99999999999999999999999:^a7f",
        "+1:#^a7f",
        "+1:a b#^a7f",
        "+1:^a7f#^a7f",
        "é",
    ] {
        assert!(parse(bad).is_err(), "{bad}");
    }
    let fault = parse("-1 ≈≈ +1:^a7f\n  +x:^a7f").expect_err("the second is none");
    assert!(
        fault.message.contains("operation 2 \"≈≈\" at character 3"),
        "{fault}"
    );
    let there = version("a\nb", Seq(1));
    let fault = run(&there, "-1  -7", &[]).expect_err("there are two lines");
    assert!(
        fault.message.contains("operation 2 -7 at character 4"),
        "{fault}"
    );
    assert_eq!(
        fault.details.as_ref().map(|d| d["op"].clone()),
        Some(2.into())
    );
}

#[test]
fn numbers_are_the_parents() {
    let abcd = version("a\nb\nc\nd", Seq(1));
    let done = run(&abcd, "-1 +2:^aaa +2:^aaa -2 +5:^aaa", &["x", "y", "z"]).expect("fine");
    assert_eq!(done.content(), "x\ny\nc\nd\nz");
    assert_eq!(
        run(&abcd, ">1@5 >4@1", &[]).expect("fine").content(),
        "d\nb\nc\na"
    );
    assert_eq!(
        run(&abcd, ">2@2 >3@4", &[]).expect("fine").content(),
        "a\nb\nc\nd"
    );
    assert_eq!(
        run(&abcd, ">4@2 +2:^aaa >1@2", &["x"])
            .expect("fine")
            .content(),
        "d\nx\na\nb\nc"
    );
    let b = fragment_id("b");
    let done = run(&abcd, &format!("~2:{b}→^aaa >2@1"), &["B"]).expect("a new text may move");
    assert_eq!(done.content(), "B\na\nc\nd");
}

#[test]
fn what_contradicts_is_refused() {
    let ab = version("a\nb", Seq(1));
    let a = fragment_id("a");
    for bad in [
        "-1 -1".to_string(),
        "-3".into(),
        "+4:^aaa".into(),
        ">3@1".into(),
        ">1@4".into(),
        ">1@2 >1@3".into(),
        "-1 >1@2".into(),
        ">1@2 -1".into(),
        "~2:^000→^aaa".into(),
        format!("~1:{a}→^aaa -1"),
        format!("-1 ~1:{a}→^aaa"),
        format!("~1:{a}→^aaa ~1:{a}→^aaa"),
    ] {
        assert!(run(&ab, &bad, &["x", "y"]).is_err(), "{bad}");
    }
    assert!(run(&ab, "+1:^aaa", &[]).is_err(), "a text is missing");
    assert_eq!(
        run(&ab, "+3:^aaa", &["x"])
            .expect("one past the end")
            .content(),
        "a\nb\nx"
    );
}

#[test]
fn the_end_of_the_text_survives_operations() {
    let ended = version("a\n", Seq(1));
    assert_eq!(
        run(&ended, "+2:^aaa", &["b"]).expect("fine").content(),
        "a\nb\n"
    );
    assert_eq!(run(&ended, "-1", &[]).expect("fine").content(), "");
    let open = version("a", Seq(1));
    assert_eq!(
        run(&open, "+2:^aaa", &["b"]).expect("fine").content(),
        "a\nb"
    );
    // An empty last line is a line all the same.
    assert_eq!(
        run(&open, "+2:^aaa", &[""]).expect("fine").content(),
        "a\n\n"
    );
}

#[test]
fn a_fragment_with_its_line_feeds_is_one_line() {
    let open = version("a", Seq(1));
    let done = run(&open, "+1:^aaa", &["x\n\n"]).expect("fine");
    assert_eq!(done.content(), "x\na");
    assert_eq!(done.lines[0].fragment(), fragment_id("x\n\n"));
    // The same text given in full changes nothing.
    assert_eq!(diff(&done, &["x", "a"]).ops, []);
    assert!(run(&open, "+1:^aaa", &["x\ny"]).is_err());
}

#[test]
fn lines_know_their_commit() {
    let abc = version("a\nb\nc", Seq(1));
    let b = fragment_id("b");
    let done = run(&abc, &format!(">3@1 ~2:{b}→^aaa +4:^aaa"), &["B", "d"]).expect("fine");
    assert_eq!(done.content(), "c\na\nB\nd");
    let origins: Vec<(Seq, usize)> = done
        .lines
        .iter()
        .map(|line| (line.origin.commit, line.origin.line))
        .collect();
    let (old, new) = (Seq(1), Seq(9));
    assert_eq!(origins, [(old, 3), (old, 1), (new, 3), (new, 4)]);
}

#[test]
fn differences_are_few() {
    let id = fragment_id;
    assert_eq!(
        told("a\nb\nc", "a\nB\nc"),
        format!("~2:{}→{}", id("b"), id("B"))
    );
    assert_eq!(told("a\nb\nc", "a\nc"), "-2");
    assert_eq!(told("a\nc", "a\nb\nc"), format!("+2:{}", id("b")));
    assert_eq!(told("", "a\nb"), format!("+1:{} +1:{}", id("a"), id("b")));
    assert_eq!(told("a\nb", ""), "-1 -2");
    assert_eq!(told("a\nb\nc\nd", "b\nc\nd\na"), ">1@5");
    assert_eq!(told("a\nb", "a\nb"), "");
    assert_eq!(
        told("a\n\nb\n\nc", "a\n\nb\nx\n\nc"),
        format!("+4:{}", id("x"))
    );
}

#[test]
fn hard_texts_are_compared_in_bounded_work() {
    // Two permutations: the exact search would take the square of this.
    let line = |n: usize| format!("{}", n % 30_000);
    let old: Vec<String> = (0..30_000).map(|n| line(n * 7_919)).collect();
    let new: Vec<String> = (0..30_000).map(|n| line(n * 104_729)).collect();
    let old = version(&old.join("\n"), Seq(1));
    let new: Vec<&str> = new.iter().map(String::as_str).collect();
    let done = after(&old, &diff(&old, &new), false);
    assert_eq!(done.texts(), new);
}

fn merged(
    base: &str,
    ours: &str,
    theirs: &str,
    choices: &[(usize, Choice)],
) -> Result<Version, Vec<Conflict>> {
    let ours_version = renewed(base, ours, Seq(2));
    let theirs_version = renewed(base, theirs, Seq(3));
    let choices: BTreeMap<usize, Choice> = choices.iter().cloned().collect();
    let done = merge(
        &version(base, Seq(1)),
        &ours_version,
        &theirs_version,
        &choices,
    );
    match done.0 {
        Merged::Clean { edit, ended } => Ok(after(&ours_version, &edit, ended)),
        Merged::Open(conflicts) => Err(conflicts),
    }
}

/// A later version of a text.
fn renewed(base: &str, content: &str, commit: Seq) -> Version {
    let base = version(base, Seq(1));
    let (texts, ended) = split(content);
    let edit = diff(&base, &texts);
    let change = Change {
        commit,
        ops: &edit.ops,
        texts: &edit.texts,
        origins: &[],
        ended,
    };
    apply(&base, &change).expect("it is a difference")
}

fn text(of: Result<Version, Vec<Conflict>>) -> String {
    of.expect("it merges").content()
}

#[test]
fn changes_of_different_lines_are_both_taken() {
    assert_eq!(
        text(merged("a\nb\nc", "A\nb\nc", "a\nb\nC", &[])),
        "A\nb\nC"
    );
    assert_eq!(text(merged("a\nb", "A\nb", "a\nB", &[])), "A\nB");
    assert_eq!(text(merged("a\nb", "a\nB", "A\nb", &[])), "A\nB");
    assert_eq!(
        text(merged("a\nb\nc\n", "a\nb\nc\nd\n", "a\nb\nC\n", &[])),
        "a\nb\nC\nd\n"
    );
    assert_eq!(
        text(merged("a\nb\nc", "x\na\nb\nc", "a\nc", &[])),
        "x\na\nc"
    );
    assert_eq!(text(merged("a\nb\nc", "a\nb\nc", "", &[])), "");
    assert_eq!(text(merged("a", "A", "A", &[])), "A");
    assert_eq!(text(merged("a", "a\n", "b", &[])), "b\n");
    assert_eq!(text(merged("a\n", "a\n", "a", &[])), "a");
    assert_eq!(text(merged("", "a", "", &[])), "a");
}

#[test]
fn a_merged_line_keeps_its_commit() {
    let done = merged("a\nb\nc\nd\ne", "A\nb\nc\nd\ne", "a\nb\nc\nD\ne\nf", &[]).expect("fine");
    let commits: Vec<Seq> = done.lines.iter().map(|line| line.origin.commit).collect();
    assert_eq!(done.content(), "A\nb\nc\nD\ne\nf");
    assert_eq!(commits, [2, 1, 1, 3, 1, 3].map(Seq));
    assert_eq!(done.lines[5].origin.line, 6);
}

#[test]
fn contradictions_are_told_and_can_be_settled() {
    let sides = ("a\nb\nc\nd\ne", "a\nB1\nc\nd\nE1", "a\nB2\nc\nD\nE2\nf");
    let run = |choices: &[(usize, Choice)]| merged(sides.0, sides.1, sides.2, choices);
    let open = run(&[]).expect_err("two lines contradict");
    assert_eq!(open.len(), 2);
    assert_eq!(open[0].base.range, 1..2);
    assert_eq!(*open[0].ours.lines[0], *"B1");
    assert_eq!(*open[0].theirs.lines[0], *"B2");
    assert_eq!(open[1].index, 1);
    assert_eq!(open[1].ours.range, 3..5);
    assert_eq!(open[1].theirs.lines.len(), 3);
    let left = run(&[(0, Choice::Ours)]).expect_err("one is left");
    assert_eq!((left.len(), left[0].index), (1, 1));
    let both = |first, second| text(run(&[(0, first), (1, second)]));
    assert_eq!(both(Choice::Ours, Choice::Theirs), "a\nB1\nc\nD\nE2\nf");
    assert_eq!(both(Choice::Base, Choice::Ours), "a\nb\nc\nd\nE1");
    assert_eq!(
        both(
            Choice::Content("x\ny\n".into()),
            Choice::Content(String::new())
        ),
        "a\nx\ny\nc"
    );
    // Both put something at one place: nobody said which comes first.
    assert!(merged("a\nb", "a\nx\nb", "a\ny\nb", &[]).is_err());
    assert_eq!(text(merged("a\nb", "a\nx\nb", "a\nx\nb", &[])), "a\nx\nb");
    assert!(merged("a\nb\nc", "a\nc", "a\nB\nc", &[]).is_err());
}

#[test]
fn differences_are_shown_as_people_know_them() {
    let show = |a: &str, b: &str| unified(&version(a, Seq(1)), &version(b, Seq(2)), ("old", "new"));
    assert_eq!(show("a\n", "a\n"), "");
    assert_eq!(
        show("a\nb\nc\n", "a\nB\nc\n"),
        "--- old\n+++ new\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"
    );
    assert_eq!(
        show("", "a"),
        "--- old\n+++ new\n@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n"
    );
    assert_eq!(
        show("a\n", "a"),
        "--- old\n+++ new\n@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n"
    );
    let far = show("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "x\n2\n3\n4\n5\n6\n7\n8\ny\n");
    assert_eq!(far.matches("@@ -").count(), 2);
    let near = show("1\n2\n3\n4\n5\n6\n7\n8\n", "x\n2\n3\n4\n5\n6\n7\ny\n");
    assert_eq!(near.matches("@@ -").count(), 1);
}

/// Texts of a few different lines, so that they repeat.
fn contents() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "[ab]{0,2}",
        Just("\r".to_string()),
        Just("é😀".to_string()),
        "[a-z]{3}"
    ];
    (prop::collection::vec(line, 0..24), any::<bool>())
        .prop_map(|(lines, ended)| lines.join("\n") + if ended { "\n" } else { "" })
}

proptest! {
    #[test]
    fn a_difference_leads_there(a in contents(), b in contents()) {
        let old = version(&a, Seq(1));
        let (texts, ended) = split(&b);
        let edit = diff(&old, &texts);
        let done = after(&old, &edit, ended);
        prop_assert_eq!(done.content(), b.clone());
        // What is stored is text: it must read back as the same operations.
        prop_assert_eq!(parse(&print(&edit.ops)).expect("it was printed"), edit.ops);
        prop_assert_eq!(edit.texts.len(), edit.origins.len());
    }

    #[test]
    fn a_merge_loses_nothing(a in contents(), b in contents(), c in contents()) {
        let same = |of: Result<Version, Vec<Conflict>>| of.map(|version| version.content());
        prop_assert_eq!(same(merged(&a, &b, &a, &[])), Ok(b.clone()));
        prop_assert_eq!(same(merged(&a, &a, &b, &[])), Ok(b.clone()));
        prop_assert_eq!(same(merged(&a, &b, &b, &[])), Ok(b.clone()));
        match merged(&a, &b, &c, &[]) {
            Ok(done) => {
                // Each side's new lines are there.
                let known = split(&a).0;
                for line in split(&b).0.iter().chain(&split(&c).0) {
                    prop_assert!(known.contains(line) || done.texts().contains(line));
                }
            }
            Err(open) => {
                let all = |choice: Choice| -> Vec<_> {
                    open.iter().map(|one| (one.index, choice.clone())).collect()
                };
                for choice in [Choice::Ours, Choice::Theirs, Choice::Base, Choice::Content("x".into())] {
                    prop_assert!(merged(&a, &b, &c, &all(choice)).is_ok());
                }
            }
        }
    }

    #[test]
    fn any_operations_are_done_or_refused(ops in "[-+~>@:^0-9a-c→# ]{0,40}", a in contents()) {
        let texts = vec!["x"; 40];
        let _ = run(&version(&a, Seq(1)), &ops, &texts);
    }
}
