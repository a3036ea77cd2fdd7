//! Revocations: facts of one workspace, known with their commit, and there after a replay.

use understory_engine::kernel::revoked::{Issued, Revocation};
use understory_model::{Caller, Code, Role, Time};
use understory_testkit::{World, on_both};

fn issued<'a>(jti: &'a str, session: &'a str, at: Time) -> Issued<'a> {
    Issued { jti, session, at }
}

#[on_both]
fn a_token_and_a_session_are_revoked_in_their_workspace(world: World) {
    let ada = World::caller("ada");
    let engine = &world.engine;
    let is = |caller: &Caller, jti: &str, session: &str, at: i64| {
        let token = issued(jti, session, Time(at));
        let is = engine.is_revoked(caller, token).unwrap();
        // Asked for many at once it is the same.
        let all = engine.revocations(caller).unwrap().expect("not too many");
        assert_eq!(all.has(token), is);
        is
    };
    assert!(!is(&ada, "j1", "s1", 0), "before there is a workspace");
    engine.revoke(&ada, Revocation::Token("j1".into())).unwrap();
    assert!(is(&ada, "j1", "s1", 0) && is(&ada, "j1", "s2", i64::MAX));
    assert!(!is(&ada, "j2", "s1", 0) && !is(&ada, "s1", "j1", 0));
    let said = engine
        .revoke(&ada, Revocation::Session("s1".into()))
        .unwrap();
    let at = said.at.0;
    assert!(is(&ada, "j2", "s1", at) && !is(&ada, "j2", "s1", at + 1));
    assert!(!is(&ada, "j2", "j1", at), "a token's id is no session");
    let elsewhere = Caller {
        workspace: "other".into(),
        ..ada.clone()
    };
    assert!(!is(&elsewhere, "j1", "s1", 0));

    // Another process knows at once, and so does a replay.
    let other = world.another();
    assert!(other.is_revoked(&ada, issued("j1", "x", Time(0))).unwrap());
    assert_eq!(world.head(), 2);
    other.rebuild(|_, _| ()).unwrap();
    assert!(is(&ada, "j1", "s1", 0) && is(&ada, "j2", "s1", at));
    assert!(!is(&ada, "j2", "s1", at + 1));
}

#[on_both]
fn only_who_writes_revokes_and_only_a_name(world: World) {
    let auditor = Caller {
        role: Role::Auditor,
        ..World::caller("eve")
    };
    let refused = world.engine.revoke(&auditor, Revocation::Token("j".into()));
    assert_eq!(refused.unwrap_err().code, Code::Forbidden);
    for name in ["", "\0", &"x".repeat(257)] {
        let ada = World::caller("ada");
        let refused = world.engine.revoke(&ada, Revocation::Token(name.into()));
        assert_eq!(refused.unwrap_err().code, Code::Validation, "{name:?}");
    }
    assert_eq!(world.head(), 0);
}
