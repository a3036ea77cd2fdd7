//! The ladder under a controlled clock: each step, and what follows when it cannot be taken.

use understory_model::thread::WakeResult;

use super::*;

const SECOND: i64 = 1_000_000;

fn job() -> WakeData {
    WakeData {
        thread: "th_001".into(),
        target: "bob".into(),
        reason: None,
        prompt: "look".into(),
        action: WakeAction::None,
        result: WakeResult::Queued,
        up_to: 1,
        asked_by: None,
        asked_at: None,
        session: None,
        channel: None,
        forced: false,
        defer_reason: None,
        deferred_until: None,
        deferred_since: None,
        delivered_at: None,
        tried: Vec::new(),
        more: serde_json::Map::new(),
    }
}

fn way(session: &str, channel: Channel) -> Way {
    Way {
        session: session.into(),
        client: "codex".into(),
        client_session: format!("{session}-chat"),
        channel: Some(channel),
        address: String::new(),
        folder: "/repo".into(),
        activity: Activity::Idle,
        terminal: (channel == Channel::Terminal).then_some(Activity::Idle),
        alive: true,
        resumable: true,
        here: true,
    }
}

fn ended(session: &str) -> Way {
    Way {
        alive: false,
        ..way(session, Channel::CodexQueue)
    }
}

fn all() -> Able {
    let codex = vec!["codex".to_owned()];
    Able {
        own: None,
        queues: codex.clone(),
        resumes: codex.clone(),
        starts: codex,
        decides: true,
        runs: None,
        agent: None,
        full: false,
        alone: true,
    }
}

fn after(seconds: i64, job: &WakeData, ways: &[Way], able: &Able) -> (Next, Vec<Tried>) {
    let mut missed = Vec::new();
    let now = Time(seconds * SECOND);
    let next = next(job, Time::ZERO, false, ways, able, now, &mut missed);
    (next, missed)
}

fn taken(next: &Next) -> Option<WakeAction> {
    match next {
        Next::Take { action, .. } => Some(*action),
        _ => None,
    }
}

fn left(next: &Next) -> Option<WakeAction> {
    match next {
        Next::Leave { action, .. } => Some(*action),
        _ => None,
    }
}

fn failed(job: &mut WakeData, action: WakeAction, session: Option<&str>) {
    job.tried.push(Tried {
        action,
        code: WakeFailure::WakeFailed,
        why: "exit status 1".into(),
        session_id: session.map(str::to_owned),
        at: Time::ZERO,
    });
}

#[test]
fn whoever_waits_is_left_alone() {
    let mut missed = Vec::new();
    let ways = [way("s", Channel::CodexQueue)];
    let next = next(
        &job(),
        Time::ZERO,
        true,
        &ways,
        &all(),
        Time::ZERO,
        &mut missed,
    );
    assert_eq!(left(&next), Some(WakeAction::WaitForMessages));
}

#[test]
fn a_channel_comes_before_everything_else() {
    let ways = [
        ended("old"),
        way("terminal", Channel::Terminal),
        way("live", Channel::CodexQueue),
    ];
    let (next, _) = after(0, &job(), &ways, &all());
    let Next::Take { action, way, .. } = next else {
        panic!("{next:?}");
    };
    assert_eq!(action, WakeAction::InSession);
    assert_eq!(way.unwrap().session, "live");
}

#[test]
fn only_its_own_hook_wakes_claude_code_and_others_wait_for_it() {
    let ways = [way("c", Channel::ClaudeRewake)];
    let (next, _) = after(0, &job(), &ways, &all());
    assert_eq!(left(&next), Some(WakeAction::InSession));
    // The supervisor of its terminal cannot begin its turn either, and goes on to type.
    let own = Able {
        own: Some("c".into()),
        ..all()
    };
    let mut managed = way("c", Channel::ClaudeRewake);
    managed.terminal = Some(Activity::Idle);
    let (next, _) = after(0, &job(), std::slice::from_ref(&managed), &own);
    assert_eq!(left(&next), Some(WakeAction::InSession));
    let (next, missed) = after(16, &job(), &[managed], &own);
    assert_eq!(taken(&next), Some(WakeAction::TriggerRuntime));
    assert!(
        missed
            .iter()
            .all(|one| one.code == WakeFailure::UnmanagedRuntime),
        "{missed:?}"
    );
    let (next, missed) = after(16, &job(), &ways, &all());
    assert_eq!(next, Next::Failed);
    assert_eq!(missed[0].why, "no hook waits in the session");
}

#[test]
fn a_working_agent_is_told_at_the_end_of_its_turn() {
    let mut busy = way("s", Channel::Hooks);
    busy.activity = Activity::Busy;
    let (next, _) = after(0, &job(), &[busy.clone()], &all());
    assert_eq!(left(&next), Some(WakeAction::EndOfTurn));
    let (next, missed) = after(15 * 60, &job(), &[busy], &all());
    assert_eq!(next, Next::Failed);
    assert_eq!(missed[0].action, WakeAction::EndOfTurn);
}

#[test]
fn only_its_supervisor_types_into_a_terminal() {
    let ways = [way("t", Channel::Terminal)];
    let (next, _) = after(30, &job(), &ways, &all());
    assert_eq!(left(&next), Some(WakeAction::TriggerRuntime));
    let own = Able {
        own: Some("t".into()),
        ..Able::default()
    };
    let (next, _) = after(30, &job(), &ways, &own);
    assert_eq!(taken(&next), Some(WakeAction::TriggerRuntime));
}

#[test]
fn a_live_session_is_never_resumed_nor_joined_by_a_new_one() {
    let mut live = way("s", Channel::Hooks);
    live.channel = None;
    let (next, missed) = after(600, &job(), &[live, ended("old")], &all());
    assert_eq!(next, Next::Failed);
    assert!(missed[0].why.contains("two would corrupt it"), "{missed:?}");
}

#[test]
fn an_ended_session_is_resumed_and_then_a_new_one_begun() {
    let ways = [ended("old")];
    let mut job = job();
    let (next, _) = after(0, &job, &ways, &all());
    assert_eq!(taken(&next), Some(WakeAction::ResumeSession));
    failed(&mut job, WakeAction::ResumeSession, Some("old"));
    let (next, _) = after(0, &job, &ways, &all());
    let Next::Take { action, client, .. } = next else {
        panic!("{next:?}");
    };
    assert_eq!(
        (action, client.as_deref()),
        (WakeAction::SpawnSession, Some("codex"))
    );
    failed(&mut job, WakeAction::SpawnSession, None);
    let (next, _) = after(0, &job, &ways, &all());
    assert_eq!(next, Next::Failed);
}

#[test]
fn nothing_is_started_that_the_settings_do_not_list() {
    let bare = Able {
        decides: true,
        ..Able::default()
    };
    let (next, _) = after(0, &job(), &[ended("old")], &bare);
    assert_eq!(
        left(&next),
        Some(WakeAction::ResumeSession),
        "another worker may"
    );
    let (next, missed) = after(61, &job(), &[ended("old")], &bare);
    assert_eq!(next, Next::Failed);
    let actions: Vec<_> = missed.iter().map(|one| one.action).collect();
    assert_eq!(
        actions,
        [WakeAction::ResumeSession, WakeAction::SpawnSession]
    );
}

#[test]
fn a_worker_that_runs_as_many_agents_as_it_may_leaves_the_job() {
    let full = Able {
        full: true,
        ..all()
    };
    let (next, missed) = after(600, &job(), &[ended("old")], &full);
    assert_eq!(left(&next), Some(WakeAction::ResumeSession));
    assert!(missed.is_empty(), "{missed:?}");
    let mut job = job();
    failed(&mut job, WakeAction::ResumeSession, Some("old"));
    let (next, _) = after(600, &job, &[ended("old")], &full);
    assert_eq!(left(&next), Some(WakeAction::SpawnSession));
}

#[test]
fn a_machine_that_can_start_nothing_waits_for_others_where_there_may_be_some() {
    for (alone, seconds, fails) in [(true, 0, true), (false, 59, false), (false, 60, true)] {
        let bare = Able {
            decides: true,
            alone,
            ..Able::default()
        };
        let (next, _) = after(seconds, &job(), &[], &bare);
        assert_eq!(next == Next::Failed, fails, "{alone} {seconds}: {next:?}");
    }
}

#[test]
fn a_worker_of_one_session_never_decides_that_all_is_lost() {
    let own = Able {
        own: Some("other".into()),
        ..Able::default()
    };
    let (next, _) = after(3_600, &job(), &[], &own);
    assert!(left(&next).is_some());
}

#[test]
fn somebody_unknown_is_begun_only_where_its_name_says_what_it_is() {
    let mut job = job();
    let (next, _) = after(61, &job, &[], &all());
    assert_eq!(next, Next::Failed);
    job.target = "codex-2".into();
    let (next, _) = after(61, &job, &[], &all());
    assert_eq!(taken(&next), Some(WakeAction::SpawnSession));
    assert!(!is_named_after("codexia", "codex") && !is_named_after("codex-x", "codex"));
}

#[test]
fn what_was_delivered_is_waited_for_while_its_session_lives() {
    let mut job = job();
    (job.delivered_at, job.session) = (Some(Time::ZERO), Some("s".into()));
    job.action = WakeAction::InSession;
    let (next, _) = after(3_600, &job, &[way("s", Channel::CodexQueue)], &all());
    assert_eq!(left(&next), Some(WakeAction::InSession));
    let (next, _) = after(60, &job, &[ended("s")], &all());
    assert_eq!(
        left(&next),
        Some(WakeAction::InSession),
        "it may be about to read"
    );
    let (next, _) = after(121, &job, &[ended("s")], &all());
    assert_eq!(taken(&next), Some(WakeAction::ResumeSession));
}

#[test]
fn a_prompt_is_lost_when_its_session_has_ended_and_a_while_has_passed() {
    let mut job = job();
    let at = |seconds| Time(seconds * SECOND);
    assert!(!is_lost(&job, &[], at(3_600)), "nothing was delivered");
    (job.delivered_at, job.session) = (Some(Time::ZERO), Some("s".into()));
    assert!(!is_lost(&job, &[ended("s")], at(119)));
    assert!(is_lost(&job, &[ended("s")], at(120)));
    assert!(is_lost(&job, &[], at(120)), "nothing is known of it");
    let live = way("s", Channel::CodexQueue);
    assert!(!is_lost(&job, std::slice::from_ref(&live), at(86_400)));
    let other = way("other", Channel::CodexQueue);
    assert!(is_lost(&job, &[other], at(120)));
    // A new session has no name yet; whoever began it reads, or it is lost.
    job.session = None;
    assert!(is_lost(&job, &[live], at(120)));
}

#[test]
fn each_step_waits_for_its_worker_and_no_longer() {
    let bare = Able {
        decides: true,
        ..Able::default()
    };
    let queue = way("s", Channel::CodexQueue);
    let elsewhere = Way {
        here: false,
        ..queue.clone()
    };
    let ended_elsewhere = Way {
        here: false,
        ..ended("old")
    };
    let unlisted = "your settings list no command that";
    let unseen = "no worker on its machine took the job";
    for (one, able, seconds, action, why) in [
        (&queue, &bare, 15, WakeAction::InSession, unlisted),
        (&elsewhere, &all(), 15, WakeAction::InSession, unseen),
        (
            &ended("old"),
            &bare,
            60,
            WakeAction::ResumeSession,
            unlisted,
        ),
        (
            &ended_elsewhere,
            &bare,
            60,
            WakeAction::ResumeSession,
            unseen,
        ),
    ] {
        let ways = std::slice::from_ref(one);
        let (next, missed) = after(seconds - 1, &job(), ways, able);
        assert_eq!(left(&next), Some(action), "{one:?}");
        assert!(missed.is_empty(), "{missed:?}");
        let (next, missed) = after(seconds, &job(), ways, able);
        assert_eq!(next, Next::Failed);
        assert_eq!(missed[0].action, action);
        assert!(missed[0].why.contains(why), "{missed:?}");
    }
    // Where a new session may be begun, one is.
    let (next, missed) = after(60, &job(), &[ended_elsewhere], &all());
    assert_eq!(taken(&next), Some(WakeAction::SpawnSession));
    assert_eq!(missed[0].action, WakeAction::ResumeSession);
}
