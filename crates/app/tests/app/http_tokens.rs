//! Identity over HTTP: which tokens are believed, which keys verify, and what a revocation does.

use crate::shell;
use crate::web;
use crate::web::{AppState, Server, caller, now};
use serde_json::{Value, json};
use understory::token::{self, jwk, jws};
use understory_model::{Role, limits};
use understory_testkit::{Backend, on_both};

/// Calls with a token; the status.
fn status(server: &Server, token: &str) -> u16 {
    server.call(token, "graph_onboard", json!({})).status
}

/// A good token with one claim changed, or taken away.
fn with(site: &AppState, claim: &str, value: Option<Value>) -> String {
    let (header, mut claims) = site.good();
    match value {
        Some(value) => claims[claim] = value,
        None => drop(claims.as_object_mut().unwrap().remove(claim)),
    }
    site.signed(&header, &claims)
}

#[test]
fn every_claim_is_checked_just_below_and_just_above() {
    let site = AppState::new(Backend::sqlite());
    let server = site.serve();
    let (header, claims) = site.good();
    assert_eq!(status(&server, &site.signed(&header, &claims)), 200);
    let (at, leeway) = (now(), limits::TOKEN_LEEWAY_SECONDS);
    let long = |extra: usize| "x".repeat(64 + extra);
    for (claim, value, good) in [
        ("iss", None, false),
        ("iss", Some(json!("understory2")), false),
        ("iss", Some(json!(["understory"])), false),
        ("aud", None, false),
        ("aud", Some(json!("another")), false),
        ("aud", Some(json!([])), false),
        ("aud", Some(json!(["x", "understory"])), true),
        ("exp", None, false),
        ("exp", Some(json!("2099-01-01")), false),
        ("exp", Some(json!(at - leeway - 1)), false),
        ("exp", Some(json!(1e300)), false),
        ("exp", Some(json!(at + limits::TOKEN_SECONDS + 60)), false),
        ("exp", Some(json!(at + limits::TOKEN_SECONDS - 60)), true),
        ("exp", Some(json!(i64::MAX)), false),
        ("iat", None, false),
        ("iat", Some(json!(at + leeway + 30)), false),
        ("iat", Some(json!(at + leeway - 2)), true),
        ("iat", Some(json!(-1)), false),
        ("iat", Some(json!(i64::MIN)), false),
        ("iat", Some(json!(at + 60)), false),
        ("nbf", Some(json!(at + leeway + 30)), false),
        ("nbf", Some(json!("soon")), false),
        ("nbf", Some(json!(at)), true),
        ("jti", None, false),
        ("jti", Some(json!("")), false),
        ("jti", Some(json!("a b")), false),
        ("jti", Some(json!("j".repeat(257))), false),
        ("jti", Some(json!("j".repeat(256))), true),
        ("agent_id", None, false),
        ("agent_id", Some(json!("")), false),
        ("agent_id", Some(json!(long(0))), true),
        ("agent_id", Some(json!(long(1))), false),
        ("agent_id", Some(json!("ada\nlog line")), false),
        ("agent_id", Some(json!("../x")), false),
        ("workspace_id", None, false),
        ("workspace_id", Some(json!("a b")), false),
        ("workspace_id", Some(json!({"name": "x"})), false),
        ("session_id", None, false),
        ("session_id", Some(json!("ü: any name")), true),
        ("session_id", Some(json!("a\nb")), false),
        ("session_id", Some(json!("")), false),
        ("role", None, false),
        ("role", Some(json!("admin")), false),
        ("role", Some(json!("Operator")), false),
        ("role", Some(json!("auditor")), true),
        ("unknown", Some(json!("ignored")), true),
    ] {
        let token = with(&site, claim, value.clone());
        let expected = if good { 200 } else { 401 };
        assert_eq!(status(&server, &token), expected, "{claim} {value:?}");
    }
}

#[test]
fn what_is_not_signed_by_a_key_of_the_store_is_refused() {
    let site = AppState::new(Backend::sqlite());
    let server = site.serve();
    let (header, claims) = site.good();
    let good = site.signed(&header, &claims);
    let changed = |field: &str, value: Value| {
        let mut header = header.clone();
        header[field] = value;
        header
    };
    let stranger = tempfile::tempdir().unwrap();
    let stranger = token::keys::Keys::in_folder(stranger.path())
        .rotate()
        .unwrap();
    let public = match &site.keys().public().unwrap()[0].1 {
        jwk::Public::Ed25519(public) => public.clone(),
        _ => unreachable!("the store's keys are Ed25519"),
    };
    // The oldest trick: the public key as a shared secret.
    let hmac = |signed: &[u8]| {
        let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &public);
        ring::hmac::sign(&key, signed).as_ref().to_vec()
    };
    let (first, rest) = good.split_once('.').unwrap();
    let (middle, last) = rest.split_once('.').unwrap();
    let mut other = claims.clone();
    other["agent_id"] = json!("mallory");
    let swapped = site.signed(&header, &other);
    let swapped_claims = swapped.split('.').nth(1).unwrap();
    let encoded = |text: &str| {
        use base64::Engine as _;
        base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(text)
    };
    let twice = claims
        .to_string()
        .replacen('{', "{\"agent_id\":\"mallory\",", 1);
    let twice = {
        let signed = format!("{first}.{}", encoded(&twice));
        let signature = site.keys().signing().unwrap().sign(signed.as_bytes());
        use base64::Engine as _;
        let signature = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(signature);
        format!("{signed}.{signature}")
    };
    for (what, token) in [
        ("nothing", String::new()),
        ("garbage", "garbage".to_owned()),
        ("dots", "..".to_owned()),
        ("many dots", "a.b.c.d".to_owned()),
        ("no signature", format!("{first}.{middle}.")),
        (
            "half a signature",
            format!("{first}.{middle}.{}", &last[..40]),
        ),
        ("padding", format!("{good}=")),
        (
            "another's claims",
            format!("{first}.{swapped_claims}.{last}"),
        ),
        (
            "alg none",
            jws::compact(&changed("alg", json!("none")), &claims, |_| Vec::new()),
        ),
        (
            "alg None",
            jws::compact(&changed("alg", json!("None")), &claims, |_| Vec::new()),
        ),
        (
            "hs256",
            jws::compact(&changed("alg", json!("HS256")), &claims, hmac),
        ),
        ("hs256 as eddsa", jws::compact(&header, &claims, hmac)),
        (
            "rs256",
            site.signed(&changed("alg", json!("RS256")), &claims),
        ),
        ("no alg", site.signed(&changed("alg", Value::Null), &claims)),
        ("no kid", site.signed(&changed("kid", Value::Null), &claims)),
        (
            "unknown kid",
            site.signed(&changed("kid", json!("nope")), &claims),
        ),
        (
            "a path as kid",
            site.signed(&changed("kid", json!("../../x")), &claims),
        ),
        ("no typ", site.signed(&changed("typ", Value::Null), &claims)),
        (
            "another typ",
            site.signed(&changed("typ", json!("dpop+jwt")), &claims),
        ),
        (
            "crit",
            site.signed(&changed("crit", json!(["exp"])), &claims),
        ),
        (
            "a stranger's key",
            jws::compact(&header, &claims, |bytes| stranger.sign(bytes)),
        ),
        (
            "a key in the token",
            jws::compact(
                &changed("jwk", jwk::ed25519("k", &[1; 32])),
                &claims,
                |bytes| stranger.sign(bytes),
            ),
        ),
        ("a claim twice", twice),
        ("claims that are a list", site.signed(&header, &json!([1]))),
    ] {
        let answer = server.call(&token, "graph_onboard", json!({}));
        assert_eq!(answer.status, 401, "{what}: {}", answer.body);
        assert_eq!(answer.code(), "UNAUTHORIZED", "{what}");
        let challenge = answer.header("www-authenticate").unwrap();
        assert!(challenge.starts_with("Bearer ") && challenge.contains("resource_metadata=\""));
        assert!(token.len() < 20 || !answer.body.contains(&token), "{what}");
    }
    assert_eq!(status(&server, &good), 200);
}

#[test]
fn a_token_is_taken_from_its_header_alone() {
    let site = AppState::new(Backend::sqlite());
    let server = site.serve();
    let token = site.token("ada", "garden", Role::Worker);
    let path = format!("/v1/graph_onboard?access_token={token}");
    let ask = server.ask("POST", &path).json(&json!({}));
    assert_eq!(ask.send().status, 401);
    let ask = server.ask("POST", "/v1/graph_onboard").json(&json!({}));
    let cookie = format!("understory={token}; access_token={token}");
    assert_eq!(ask.clone().header("Cookie", &cookie).send().status, 401);
    let basic = ask
        .clone()
        .header("Authorization", &format!("Basic {token}"));
    assert_eq!(basic.send().status, 401);
    assert_eq!(ask.clone().token(&token).token(&token).send().status, 401);
    let lower = ask
        .clone()
        .header("authorization", &format!("bearer {token}"));
    assert_eq!(lower.send().status, 200);
    // Just below and just above the largest token.
    let (header, mut claims) = site.good();
    let sized = |claims: &mut Value, pad: usize| {
        claims["pad"] = json!("x".repeat(pad));
        site.signed(&header, claims)
    };
    let small = sized(&mut claims, 5_700);
    assert!(small.len() < limits::TOKEN_BYTES);
    assert_eq!(status(&server, &small), 200);
    let large = sized(&mut claims, 6_100);
    assert!(large.len() > limits::TOKEN_BYTES);
    assert_eq!(status(&server, &large), 401);
    let (_, _, log) = server.stop();
    assert!(log.iter().all(|line| !line.contains("eyJ")), "{log:?}");
}

#[cfg(unix)]
#[test]
fn key_files_are_their_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let site = AppState::new(Backend::sqlite());
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let out = site
        .command(&["token", "issue", "--agent", "ada"])
        .output()
        .unwrap();
    let out = String::from_utf8(out.stdout).unwrap();
    assert_eq!(out.lines().last().unwrap().matches('.').count(), 2, "{out}");
    assert_eq!(mode(&site.keys_folder()), 0o700);
    let file = std::fs::read_dir(site.keys_folder())
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    assert_eq!(mode(&file), 0o600);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    for arguments in [vec!["token", "issue"], vec!["token", "keys"], vec!["serve"]] {
        let done = site.command(&arguments).output().unwrap();
        let err = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(2), "{arguments:?} {err}");
        assert!(
            err.contains("can be read by others") && err.contains("chmod 600"),
            "{err}"
        );
    }
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let folder = |mode| std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(site.keys_folder(), folder(0o770)).unwrap();
    let done = site.command(&["token", "issue"]).output().unwrap();
    assert!(
        String::from_utf8(done.stderr)
            .unwrap()
            .contains("others may put keys")
    );
    std::fs::set_permissions(site.keys_folder(), folder(0o750)).unwrap();
    let done = site.command(&["token", "issue"]).output().unwrap();
    assert!(done.status.success());
    std::fs::write(&file, "{}").unwrap();
    let done = site.command(&["token", "issue"]).output().unwrap();
    assert!(
        String::from_utf8(done.stderr)
            .unwrap()
            .contains("is not a key file")
    );
}

#[test]
fn keys_rotate_and_retire_under_a_running_server() {
    let site = AppState::new(Backend::sqlite());
    let server = site.serve();
    assert_eq!(
        server.get("/.well-known/jwks.json").json(),
        json!({"keys": []})
    );
    let first = site.token("ada", "garden", Role::Worker);
    assert_eq!(status(&server, &first), 200);
    let run = |arguments: &[&str]| {
        let done = site.command(arguments).output().unwrap();
        assert!(done.status.success(), "{done:?}");
        serde_json::from_slice::<Value>(&done.stdout).unwrap()
    };
    let listed = run(&["token", "keys", "--rotate", "--json"]);
    let states = |listed: &Value| -> Vec<String> {
        let keys = listed["keys"].as_array().unwrap().iter();
        keys.map(|key| key["state"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(states(&listed), ["verifying", "signing"]);
    let second = site.token("ada", "garden", Role::Worker);
    assert_ne!(
        first.split('.').next(),
        second.split('.').next(),
        "another key"
    );
    assert_eq!(
        (status(&server, &first), status(&server, &second)),
        (200, 200)
    );
    let kid = listed["keys"][0]["kid"].as_str().unwrap();
    let listed = run(&["token", "keys", "--retire", kid, "--json"]);
    assert_eq!(states(&listed), ["retired", "signing"]);
    let begun = std::time::Instant::now();
    while status(&server, &first) != 401 {
        assert!(
            begun.elapsed() < web::PATIENCE,
            "the retired key still verifies"
        );
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert_eq!(status(&server, &second), 200);
    let set = server.get("/.well-known/jwks.json").json();
    assert_eq!(set["keys"].as_array().unwrap().len(), 1);
    assert!(set["keys"][0].get("d").is_none() && !set.to_string().contains("pkcs8"));
    let done = site
        .command(&["token", "keys", "--retire", "nope"])
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(3));
}

#[on_both]
fn a_revocation_is_known_everywhere_at_once(backend: Backend) {
    let site = AppState::new(backend);
    let (one, other) = (site.serve(), site.serve());
    let key = site.keys().signing().unwrap();
    let ada = caller("ada", "garden", Role::Worker);
    let issue = || token::issue(&key, &ada, now(), 600).unwrap();
    let ((first, jti), (second, _)) = (issue(), issue());
    let both = |token: &str| (status(&one, token), status(&other, token));
    assert_eq!((both(&first), both(&second)), ((200, 200), (200, 200)));

    let revoke = |arguments: &[&str]| {
        let all = [&["token", "revoke", "--json"], arguments].concat();
        let done = site.command(&all).output().unwrap();
        assert!(done.status.success(), "{done:?}");
        serde_json::from_slice::<Value>(&done.stdout).unwrap()
    };
    let said = revoke(&[&jti, "--workspace", "garden"]);
    assert_eq!(
        (&said["revoked"], &said["name"]),
        (&json!("token"), &json!(jti))
    );
    assert_eq!((both(&first), both(&second)), ((401, 401), (200, 200)));
    // By the token itself, and nothing of it is shown or kept but its id.
    let (third, _) = issue();
    revoke(&[&third]);
    assert_eq!(both(&third), (401, 401));

    // A session's revocation covers what was issued until then, in this workspace only.
    let elsewhere = site.token("ada", "elsewhere", Role::Worker);
    revoke(&["--session", "sess_ada", "--workspace", "garden"]);
    assert_eq!(both(&second), (401, 401));
    assert_eq!(both(&elsewhere), (200, 200));
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    let (later, _) = issue();
    assert_eq!(both(&later), (200, 200));

    let log = site.shell.ok(&["log", "--workspace", "garden"]);
    shell::says(
        &log,
        &["revoked", "session sess_ada", &format!("token {jti}")],
    );
    assert!(!log.contains("eyJ"));
    // It is a fact like all others: proved, and there after a replay.
    site.shell.ok(&["verify"]);
    site.shell.ok(&["rebuild"]);
    site.shell.ok(&["verify"]);
    assert_eq!((both(&first), both(&later)), ((401, 401), (200, 200)));
}
