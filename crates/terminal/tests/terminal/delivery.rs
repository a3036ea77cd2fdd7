//! What is delivered to an agent, when, and what never is.

use crate::helpers::{Office, wait_for};

#[test]
fn an_idle_agent_is_given_the_text_and_nothing_else() {
    let mut office = Office::new();
    assert_eq!(
        office.courier.result(1, "Read th_001, please", false),
        "1 delivered"
    );
    let text = "Two lines:\nthe second für 日本";
    assert_eq!(office.courier.result(2, text, false), "2 delivered");
    let expected = [
        "pasted \"Read th_001, please\"",
        "submitted \"Read th_001, please\"",
        "pasted \"Two lines:\\nthe second für 日本\"",
        "submitted \"Two lines:\\nthe second für 日本\"",
    ];
    assert_eq!(office.record(), expected);
}

#[test]
fn a_half_typed_line_is_never_touched() {
    let mut office = Office::new();
    office.tmux.types("my own wo");
    office.tmux.wait_for("❯ my own wo");
    let result = office.courier.result(1, "Read th_001", false);
    assert_eq!(result, "1 gave_up human_input_busy");
    assert!(office.tmux.screen().contains("❯ my own wo\n"));
    office.tmux.types("rds");
    office.tmux.press("Enter");
    office.wait_for_record("submitted \"my own words\"");
    assert_eq!(office.record().len(), 1);
}

#[test]
fn a_line_that_was_deleted_again_is_no_line() {
    let mut office = Office::new();
    office.tmux.types("ab");
    office.tmux.wait_for("❯ ab");
    office.tmux.press("BSpace");
    office.tmux.press("BSpace");
    assert_eq!(
        office.courier.result(1, "Read th_001", false),
        "1 delivered"
    );
}

#[test]
fn force_submits_a_half_typed_line_with_the_text() {
    let mut office = Office::new();
    office.tmux.types("first ");
    office.tmux.wait_for("❯ first");
    assert_eq!(office.courier.result(1, "Read th_001", true), "1 delivered");
    office.wait_for_record("submitted \"first Read th_001\"");
}

#[test]
fn a_dialog_is_never_answered() {
    let mut office = Office::new();
    office.order("dialog");
    office.tmux.wait_for("Do you want to proceed?");
    assert_eq!(
        office.courier.result(1, "yes", false),
        "1 gave_up dialog_open"
    );
    assert_eq!(
        office.courier.result(2, "yes", true),
        "2 gave_up dialog_open"
    );
    assert_eq!(office.courier.look(), "Dialog");
    assert_eq!(office.record(), Vec::<String>::new());
}

#[test]
fn a_dialog_that_opens_over_the_text_is_not_answered_either() {
    let mut office = Office::new();
    office.order("asks");
    assert_eq!(
        office.courier.result(1, "Read th_001", false),
        "1 stranded DialogOpened"
    );
    assert_eq!(office.record(), ["pasted \"Read th_001\""]);
}

#[test]
fn a_busy_agent_is_given_the_text_once_it_is_idle() {
    let mut office = Office::new();
    office.order("busy");
    office.tmux.wait_for("esc to interrupt");
    office.courier.deliver(1, "Read th_001", false);
    assert_eq!(office.courier.next(), "1 deferred agent_busy");
    assert_eq!(office.record(), Vec::<String>::new());
    office.order("idle");
    assert_eq!(office.courier.last(), "1 delivered");
}

#[test]
fn what_goes_on_is_seen() {
    let mut office = Office::new();
    wait_for("a quiet terminal", || {
        (office.courier.look() == "Idle").then_some(())
    });
    office.order("busy");
    office.tmux.wait_for("esc to interrupt");
    assert_eq!(office.courier.look(), "Busy");
    office.order("idle");
    office.tmux.wait_for("? for shortcuts");
    office.tmux.types("x");
    office.tmux.wait_for("❯ x");
    assert_eq!(office.courier.look(), "Typing");
}

#[test]
fn hostile_texts_type_nothing_but_themselves() {
    let mut office = Office::new();
    for (id, hostile) in (1..).zip([
        "a\x1b[201~\rrm -rf /\r",
        "b\x03\x03\x04\x15c",
        "d\x1b[20\x1b[201~1~\re",
        "f\u{9b}201~\rg\x1b\x1b",
        "h\x1b]0;title\x07i\u{202e}",
    ]) {
        assert_eq!(
            office.courier.result(id, hostile, false),
            format!("{id} delivered")
        );
    }
    let record = office.record();
    let submitted = record.iter().filter(|line| line.starts_with("submitted"));
    assert_eq!(submitted.count(), 5, "{record:#?}");
    assert_eq!(record.len(), 10, "one paste and one line each: {record:#?}");
    let submitted: Vec<&str> = record
        .iter()
        .skip(1)
        .step_by(2)
        .map(String::as_str)
        .collect();
    assert_eq!(submitted[0], "submitted \"a[201~\\nrm -rf /\"");
    assert_eq!(submitted[1], "submitted \"bc\"");
}

#[test]
fn commands_of_the_agent_are_refused() {
    let mut office = Office::new();
    let result = office.courier.result(1, "\x1b!rm -rf /", false);
    assert_eq!(result, "1 refused LikeACommand");
    assert_eq!(office.record(), Vec::<String>::new());
}

#[test]
fn a_text_that_is_not_shown_is_not_submitted() {
    let mut office = Office::new();
    office.order("blind");
    assert_eq!(
        office.courier.result(1, "Read th_001", false),
        "1 stranded NotShown"
    );
    assert_eq!(office.record(), ["pasted \"Read th_001\""]);
}

#[test]
fn a_text_that_stays_in_the_composer_is_reported() {
    let mut office = Office::new();
    office.order("deaf");
    assert_eq!(
        office.courier.result(1, "Read th_001", false),
        "1 stranded NotSubmitted"
    );
    assert_eq!(office.record(), ["pasted \"Read th_001\"", "return"]);
    let next = office.courier.result(2, "More", false);
    assert_eq!(next, "2 gave_up human_input_busy", "nothing is added to it");
}

#[test]
fn keys_during_a_delivery_come_after_it_and_none_is_lost() {
    let mut office = Office::new();
    office.order("blind");
    office.courier.deliver(1, "Read th_001", false);
    office.wait_for_record("pasted \"Read th_001\"");
    office.tmux.types("after für 日");
    office.tmux.types("wards");
    office.order("show");
    assert_eq!(office.courier.last(), "1 delivered");
    office.tmux.wait_for("❯ after für 日wards\n");
    let expected = ["pasted \"Read th_001\"", "submitted \"Read th_001\""];
    assert_eq!(office.record(), expected);
    let next = office.courier.result(2, "More", false);
    assert_eq!(
        next, "2 gave_up human_input_busy",
        "they are a half-typed line"
    );
}

#[test]
fn what_was_not_delivered_when_the_agent_ends_is_said() {
    let mut office = Office::new();
    office.tmux.types("my own");
    office.tmux.wait_for("❯ my own");
    office.courier.deliver(1, "Read th_001", false);
    assert_eq!(office.courier.next(), "1 deferred human_input_busy");
    office.order("end");
    assert_eq!(office.courier.last(), "1 gave_up program_ended");
    office.tmux.wait_for("outer$");
    wait_for("a record", || office.record().is_empty().then_some(()));
}
