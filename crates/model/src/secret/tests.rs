//! What is a credential and what is not, and that telling them apart takes linear work.
//!
//! The credentials are put together here from parts, so that no scanner takes this file for a leak.

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Letters and digits as chance would have them, this many.
fn body(length: usize) -> String {
    let signs = b"k7Qz2mXw9RtB4vNc8LpY3hGd6JsF5aTe1UoKiDxW0qZrMnE";
    let signs = signs.iter().cycle().step_by(5).take(length);
    signs.map(|byte| char::from(*byte)).collect()
}

fn upper(length: usize) -> String {
    body(length).to_ascii_uppercase()
}

fn hex(length: usize) -> String {
    let signs = b"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    let signs = signs.iter().cycle().take(length);
    signs.map(|byte| char::from(*byte)).collect()
}

fn jwt() -> String {
    format!("eyJhbGciOiJFZERTQSJ9.eyJ{}.{}", body(40), body(43))
}

fn pem() -> String {
    let line = body(64);
    format!("-----BEGIN EC PRIVATE KEY-----\n{line}\n{line}\n-----END EC PRIVATE KEY-----")
}

/// One credential or more of every kind.
fn credentials() -> Vec<(Kind, String)> {
    let mut all = vec![
        (Kind::AwsKey, format!("AKIA{}", upper(16))),
        (Kind::AwsKey, format!("ASIA{}", upper(16))),
        (Kind::GithubToken, format!("github_pat_{}", body(60))),
        (Kind::GitlabToken, format!("glpat-{}", body(20))),
        (Kind::OpenaiKey, format!("sk-{}", body(48))),
        (Kind::OpenaiKey, format!("sk-proj-{}", body(60))),
        (Kind::AnthropicKey, format!("sk-ant-api03-{}", body(80))),
        (Kind::GoogleKey, format!("AIza{}", body(35))),
        (Kind::StripeKey, format!("sk_live_{}", body(24))),
        (Kind::StripeKey, format!("rk_live_{}", body(24))),
        (Kind::NpmToken, format!("npm_{}", body(36))),
        (Kind::PypiToken, format!("pypi-AgEIcHlwaS5vcmc{}", body(60))),
        (Kind::HuggingFaceToken, format!("hf_{}", body(34))),
        (Kind::DigitalOceanToken, format!("dop_v1_{}", hex(64))),
        (Kind::SendgridKey, format!("SG.{}.{}", body(22), body(43))),
        (Kind::TelegramToken, format!("712345678:AA{}", body(33))),
        (Kind::Jwt, jwt()),
        (Kind::PrivateKey, pem()),
    ];
    for prefix in ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"] {
        all.push((Kind::GithubToken, format!("{prefix}{}", body(36))));
    }
    for prefix in ["xoxb-", "xoxp-", "xapp-"] {
        all.push((Kind::SlackToken, format!("{prefix}{}", body(40))));
    }
    all
}

#[test]
fn every_kind_is_found_wherever_it_stands() {
    for (kind, credential) in credentials() {
        for text in [
            credential.clone(),
            format!("Use {credential} for the build."),
            format!("(\"{credential}\")"),
            format!("é{credential}é"),
            format!("TOKEN={credential}\nnext"),
            format!("a\n\n  - {credential},"),
        ] {
            let found = find(&text);
            let [one] = found.as_slice() else {
                panic!("{kind:?}: {} found", found.len());
            };
            let span = &text[one.span.clone()];
            assert_eq!((one.kind, span), (kind, credential.as_str()), "{kind:?}");
        }
    }
    let known: std::collections::BTreeSet<Kind> =
        credentials().into_iter().map(|(kind, _)| kind).collect();
    let beyond = [Kind::UrlPassword, Kind::NamedValue];
    assert_eq!(known.len() + beyond.len(), Kind::ALL.len());
}

#[test]
fn passwords_in_urls_and_named_values_are_found() {
    let secret = body(24);
    let word = "Tr0ub4dor&3";
    for (text, found, kind) in [
        (
            format!("postgres://ada:{word}@db.internal/x"),
            word,
            Kind::UrlPassword,
        ),
        (
            format!("https://ci:{secret}@git.internal/r.git"),
            secret.as_str(),
            Kind::UrlPassword,
        ),
        (format!("password={word}"), word, Kind::NamedValue),
        (format!("DB_PASSWORD: \"{word}\""), word, Kind::NamedValue),
        (
            format!("the password: {word}, and so on"),
            word,
            Kind::NamedValue,
        ),
        (format!("api_key = '{secret}'"), &secret, Kind::NamedValue),
        (format!("API-KEY: {secret}"), &secret, Kind::NamedValue),
        (
            format!("{{\"client_secret\": \"{secret}\"}}"),
            &secret,
            Kind::NamedValue,
        ),
        (
            format!("export AUTH_TOKEN={secret}"),
            &secret,
            Kind::NamedValue,
        ),
        (format!("token: {secret}"), &secret, Kind::NamedValue),
        (format!("key={secret}"), &secret, Kind::NamedValue),
        (
            format!("access_token={}", hex(40)),
            &hex(40),
            Kind::NamedValue,
        ),
    ] {
        let all = find(&text);
        let told: Vec<(Kind, &str)> = all
            .iter()
            .map(|one| (one.kind, &text[one.span.clone()]))
            .collect();
        assert_eq!(told, [(kind, found)], "{text}");
    }
}

/// Texts of every day that hold no credential.
#[test]
fn ordinary_text_is_left_alone() {
    let uuid = "0199d3a0-1b2c-7000-8000-9f86d081884c";
    for text in [
        "sk-...".to_string(),
        "sk-ant-... and ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx".into(),
        "AKIAIOSFODNN7EXAMPLE".into(),
        "github_pat_<your token here, thirty-six signs or more>".into(),
        "token: <token>, password: ${PASSWORD}, secret=$SECRET_VALUE_1".into(),
        "password=changeme password=xxxxxxxxxxxx password: ********".into(),
        "password=password password: secret".into(),
        "postgres://user:password@host/db and postgres://understory:secret@db/understory".into(),
        "https://ada@host/repo and http://localhost:8080/a@b:c".into(),
        "git@github.com:owner/repository.git".into(),
        format!(
            "commit {} fixed it; key={} token={}",
            hex(40),
            hex(40),
            hex(64)
        ),
        format!("checksum = \"{}\"", hex(64)),
        format!("item_{uuid} entity_{uuid} uuid_{uuid} token: {uuid} key={uuid} secret={uuid}"),
        "TASK-001 R001 th_001 msg_12 prop_001 wake_001 conflict-831b808b47de1f65 item#^a7f".into(),
        format!("data:image/png;base64,{}{}", body(400), "=="),
        format!("<img src=\"data:image/png;base64,{}\">", body(900)),
        "let token = self.config.auth_token.clone(); let key = cache_key(&item_id_12345678)".into(),
        "let password = std::env::var(\"DB_PASSWORD_FOR_TESTS_2\")?;".into(),
        "api_key = os.environ[\"SERVICE_API_KEY_2024\"]".into(),
        "password = getpass.getpass(\"Password for admin1: \")".into(),
        "idempotency_key=7f3k9q2m8x4w1z6b5n0p next_page_token=7f3k9q2m8x4w1z6b5n0pQ".into(),
        "The key: measure twice, cut once. The secret: patience and 12 weeks.".into(),
        "primary key: (workspace_id, sequence_number_0001)".into(),
        "public_key: MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE".into(),
        "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6F\n-----END PUBLIC KEY-----".into(),
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----".into(),
        "eyJhbGciOi... is how a token begins; eyJhbGciOiJFZERTQSJ9 alone is a header".into(),
        "risk-averse desk-1234567890123456789012345678901234567890 task-42".into(),
        "npm_config_registry npm_package_version hf_hub_download pypi-publish".into(),
        "docs at https://host/a?token=abc&x=1".into(),
        "12:30:45 1234567890:short 2026-02-17T12:00:00.009000Z".into(),
        "sha512-kZ8Xq5mJt2vN1cLpY3hGd6JsF5aTe1UoKiDxW0qZrMnE4Qz2mXw9RtB7w==".into(),
    ] {
        assert_eq!(find(&text), [], "{text}");
    }
}

#[test]
fn what_this_project_itself_writes_is_left_alone() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let mut files = vec![
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
    ];
    files.extend([
        "Cargo.lock",
        "Cargo.toml",
        "deny.toml",
        "docs/benchmarks.md",
    ]);
    let mut paths: Vec<std::path::PathBuf> = files
        .iter()
        .map(|file| std::path::Path::new(root).join(file))
        .collect();
    for folder in ["docs/adr", "docs/tools", "crates/model/src"] {
        let folder = std::fs::read_dir(std::path::Path::new(root).join(folder));
        let entries = folder.into_iter().flatten().flatten();
        paths.extend(
            entries
                .map(|entry| entry.path())
                .filter(|path| path.is_file()),
        );
    }
    assert!(paths.len() > 50, "{} files", paths.len());
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        let found = find(&text);
        let lines: Vec<&str> = found
            .iter()
            .map(|one| {
                text[..one.span.start]
                    .rsplit('\n')
                    .next()
                    .unwrap_or_default()
            })
            .collect();
        assert_eq!(lines, [] as [&str; 0], "{}", path.display());
    }
}

#[test]
fn a_value_is_looked_through_to_any_depth() {
    let (token, secret) = (format!("ghp_{}", body(36)), body(30));
    let mut at_key = json!({});
    at_key[token.as_str()] = json!(1);
    let value = json!({
        "nodes": [{"summary": "plain"}, {"summary": token, "properties": {"api_key": secret}}],
        "texts": ["a", "-----BEGIN PRIVATE KEY-----", body(64), "-----END PRIVATE KEY-----", "z"],
        "map": at_key,
        "password": 7,
    });
    let mut found: Vec<(String, Kind)> = Vec::new();
    find_in(&value, |one, text| {
        assert!(text.get(one.span.clone()).is_some());
        found.push((one.path, one.kind));
    });
    found.sort();
    let want = [
        ("map.…", Kind::GithubToken),
        ("nodes[1].properties.api_key", Kind::NamedValue),
        ("nodes[1].summary", Kind::GithubToken),
        ("texts[1]", Kind::PrivateKey),
        ("texts[2]", Kind::PrivateKey),
        ("texts[3]", Kind::PrivateKey),
    ];
    let want: Vec<(String, Kind)> = want.map(|(path, kind)| (path.to_string(), kind)).into();
    assert_eq!(found, want);
}

/// Steps for a text of `times` repetitions.
fn work(unit: &str, times: usize) -> usize {
    let mut steps = 0;
    find_counted(&unit.repeat(times), &mut steps);
    steps
}

#[test]
fn twice_the_text_is_twice_the_work() {
    let mut units: Vec<String> = [
        "a",
        "-",
        "=",
        ":",
        "key=",
        "token:",
        "eyJ",
        "eyJ.",
        "://",
        "a://b:",
        "sk-",
        "ghp_",
        "SG.",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n.",
        "0",
        "1:",
        "password=\"",
        "é",
        "\\\"",
    ]
    .map(str::to_string)
    .into();
    units.extend(credentials().into_iter().map(|(_, one)| one));
    for unit in units {
        let (once, twice) = (work(&unit, 2_000), work(&unit, 4_000));
        assert!(
            twice <= once * 2 + once / 10 + 10_000,
            "{unit}: {once}, {twice}"
        );
        assert!(once <= unit.len() * 2_000 * 40, "{unit}: {once}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read_without_harm(text in "\\PC*") {
        for one in find(&text) {
            prop_assert!(text.get(one.span).is_some());
        }
    }

    #[test]
    fn pieces_of_credentials_are_read_without_harm(
        parts in prop::collection::vec(prop_oneof![
            Just("ghp_".to_string()), Just("-----BEGIN PRIVATE KEY-----".into()), Just("://".into()),
            Just("eyJ".into()), Just("password=".into()), Just("\"".into()), Just("@".into()),
            Just("é".into()), Just(":".into()), Just(".".into()), "[a-zA-Z0-9]{0,40}", Just("\n".into()),
        ], 0..40)
    ) {
        let text = parts.concat();
        let mut last = 0;
        for one in find(&text) {
            prop_assert!(text.get(one.span.clone()).is_some());
            prop_assert!(one.span.start >= last && one.span.end > one.span.start);
            last = one.span.end;
        }
    }
}

#[test]
fn the_quick_look_passes_over_no_credential() {
    for (_, credential) in credentials() {
        assert!(may_hold(credential.as_bytes()), "{credential}");
    }
    assert!(!may_hold(
        b"Fix the parser of the kitchen, before 5 it breaks."
    ));
}

proptest! {
    #[test]
    fn a_quick_look_changes_nothing(
        before in "[ -~]{0,24}",
        which in 0_usize..23,
        cut in 0_usize..64,
        after in "[ -~\n]{0,24}",
    ) {
        let all = credentials();
        let (_, credential) = &all[which % all.len()];
        let kept = credential.get(..cut.min(credential.len())).unwrap_or_default();
        let text = format!("{before}{kept}{after}");
        prop_assert_eq!(find(&text), find_counted(&text, &mut 0));
    }
}

/// What stands in the document that is looked at before it is read.
fn values() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "[a-z ,.\n]{0,30}",
        "[0-9a-f-]{0,70}",
        Just("hunter2hunter2".to_owned()),
        Just(format!("ghp_{}", body(36))),
        Just("-----BEGIN PRIVATE KEY-----".to_owned()),
        Just("say \"password\": \\ \u{1}".to_owned()),
    ];
    let name = prop_oneof![
        "[a-z_]{1,12}",
        Just("Password_".to_owned()),
        Just("api-key".to_owned())
    ];
    text.prop_map(Value::from)
        .prop_recursive(3, 24, 4, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(name.clone(), inner, 0..4)
                    .prop_map(|fields| fields.into_iter().collect::<Value>()),
            ]
        })
}

proptest! {
    #[test]
    fn a_document_that_holds_a_credential_looks_like_it(value in values()) {
        let mut found = 0;
        find_in(&value, |_, _| found += 1);
        let json = value.to_string();
        prop_assert!(found == 0 || may_be_in(&json), "{json}");
    }
}

#[test]
fn what_is_written_every_day_is_not_read_for_credentials() {
    let written = json!({
        "kind": "node", "handle": "TASK-001", "commit": hex(64), "action": "created",
        "data": {"summary": "Make the thing work as it should", "properties": {"priority": 3}},
        "place": {"to": {"id": 2, "handle": "PLAN-001"}},
    });
    assert!(!may_be_in(&written.to_string()));
    let more = json!({"data": {"properties": {"api_key": "x"}}});
    assert!(may_be_in(&more.to_string()), "a name is telling");
}
