//! Precedence, places and plain words for what is wrong.

use std::collections::HashMap;
use std::fs;

use super::*;

struct World {
    dir: tempfile::TempDir,
    env: HashMap<&'static str, &'static str>,
}

impl World {
    fn new() -> World {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("repo/deep/er")).unwrap();
        fs::create_dir_all(dir.path().join("config/understory")).unwrap();
        World {
            dir,
            env: HashMap::new(),
        }
    }

    fn project(self, text: &str) -> World {
        fs::write(self.dir.path().join("repo").join(FILE), text).unwrap();
        self
    }

    fn user(self, text: &str) -> World {
        fs::write(self.dir.path().join("config/understory").join(FILE), text).unwrap();
        self
    }

    fn env(mut self, name: &'static str, value: &'static str) -> World {
        self.env.insert(name, value);
        self
    }

    fn read(&self, flags: &Flags) -> Result<Settings, Fault> {
        let env = self.env.clone();
        let at = |name: &str| self.dir.path().join(name);
        let around = Surroundings {
            env: Box::new(move |name| env.get(name).map(OsString::from)),
            folder: at("repo/deep/er"),
            home: Some(at("home")),
            config_dir: Some(at("config")),
            data_dir: Some(at("data")),
        };
        Settings::read(flags, &around)
    }

    fn path(&self, name: &str) -> String {
        self.dir.path().join(name).to_str().unwrap().to_owned()
    }
}

#[test]
fn the_strongest_source_wins() {
    let flags = Flags {
        agent: Some("flag".into()),
        ..Flags::default()
    };
    let all = |world: World| {
        world
            .project("workspace = \"project\"\nproject = \"p\"")
            .user("workspace = \"user\"\nagent = \"user\"\nrole = \"auditor\"")
    };
    let world = all(World::new()).env("UNDERSTORY_AGENT", "env");

    let by_flag = world.read(&flags).unwrap();
    assert_eq!(by_flag.agent.value.as_deref(), Some("flag"));
    assert_eq!(by_flag.agent.source.to_string(), "--agent");

    let by_env = world.read(&Flags::default()).unwrap();
    assert_eq!(by_env.agent.value.as_deref(), Some("env"));
    assert_eq!(by_env.agent.source, Source::Env("UNDERSTORY_AGENT"));

    let world = all(World::new()).env("UNDERSTORY_AGENT", "");
    let by_file = world.read(&Flags::default()).unwrap();
    assert_eq!(by_file.agent.value.as_deref(), Some("user"));
    assert_eq!(by_file.workspace.value.as_deref(), Some("project"));
    assert_eq!(
        by_file.workspace.source.to_string(),
        world.path("repo/understory.toml")
    );
    assert_eq!(by_file.project.value, "p");
    assert_eq!(by_file.role.value, Some(Role::Auditor));
    assert_eq!(
        by_file.role.source.to_string(),
        world.path("config/understory/understory.toml")
    );
    assert_eq!(
        by_file.tools,
        Setting {
            value: "essentials".into(),
            source: Source::Default
        }
    );
    assert_eq!(by_file.claim_ttl_minutes.value, 60);
}

#[test]
fn the_default_store_is_the_users() {
    let world = World::new();
    let settings = world.read(&Flags::default()).unwrap();
    assert_eq!(
        settings.store.value.reveal(),
        world.path("data/understory/understory.db")
    );
    assert_eq!(settings.store.source, Source::Default);
}

#[test]
fn other_names_are_understood() {
    let world = World::new().user(
        "agent_identity = \"claude-code-v1\"\ndb_path = \"./graph.db\"\nclaim_ttl_minutes = 1_5\n",
    );
    let settings = world.read(&Flags::default()).unwrap();
    assert_eq!(settings.agent.value.as_deref(), Some("claude-code-v1"));
    assert_eq!(
        settings.store.value.reveal(),
        world.path("config/understory/./graph.db")
    );
    assert_eq!(settings.claim_ttl_minutes.value, 15);
}

#[test]
fn the_limit_of_staleness_is_a_setting_like_others() {
    let world = World::new();
    let settings = world.read(&Flags::default()).unwrap();
    assert_eq!(settings.stale_after_ticks.value, 20);
    let world = world.project("stale_after_ticks = 5");
    let settings = world.read(&Flags::default()).unwrap();
    assert_eq!(settings.stale_after_ticks.value, 5);
    let world = world.env("UNDERSTORY_STALE_AFTER_TICKS", "7");
    let settings = world.read(&Flags::default()).unwrap();
    assert_eq!(settings.stale_after_ticks.value, 7);
    let source = settings.stale_after_ticks.source.to_string();
    assert_eq!(source, "UNDERSTORY_STALE_AFTER_TICKS");
    let world = world.env("UNDERSTORY_STALE_AFTER_TICKS", "0");
    let fault = world.read(&Flags::default()).unwrap_err();
    assert!(fault.message.contains("stale_after_ticks"), "{fault}");
}

#[test]
fn a_path_is_relative_to_where_it_was_written() {
    let world = World::new().env("UNDERSTORY_STORE", "x.db");
    let settings = world.read(&Flags::default()).unwrap();
    assert_eq!(
        settings.store.value.reveal(),
        world.path("repo/deep/er/x.db")
    );
    let world = World::new().user("store = \"~/x.db\"");
    let settings = world.read(&Flags::default()).unwrap();
    assert_eq!(settings.store.value.reveal(), world.path("home/x.db"));
}

#[test]
fn mistakes_name_the_place_and_the_nearest_word() {
    let said = |text: &str| {
        let fault = World::new().user(text).read(&Flags::default()).unwrap_err();
        assert_eq!(fault.code, Code::Validation);
        format!("{} ({})", fault.message, fault.hint.unwrap_or_default())
    };
    let unknown = said("# a note\n\nagnet = \"x\"\n");
    assert!(
        unknown.contains("understory.toml:3: unknown setting agnet"),
        "{unknown}"
    );
    assert!(unknown.contains("did you mean `agent`?"), "{unknown}");
    assert!(said("[table]\nx = 1").contains(":1: unknown setting table"));
    assert!(said("agent = 5").contains(":1: `agent` must be a string in quotes"));
    assert!(
        said("\nclaim_ttl_minutes = \"5\"").contains(":2: `claim_ttl_minutes` must be a whole")
    );
    assert!(said("claim_ttl_minutes = 0").contains("must be a whole number from 1"));
    assert!(said("store = \"a\"\ndb_path = \"b\"").contains("are the same setting"));
    assert!(said("role = \"boss\"").contains("unknown role boss"));
    assert!(said("store = \"mysql://h/d\"").contains("the scheme mysql is not a kind of store"));
    assert!(said("agent = \"x\nproject = 1").contains("understory.toml:1"));
}

#[test]
fn keys_lie_beside_the_store_or_in_the_users_own_directory() {
    let keys = |world: &World| world.read(&Flags::default()).unwrap().keys;
    let world = World::new().env("UNDERSTORY_STORE", "x.db");
    assert_eq!(
        keys(&world).value.to_str().unwrap(),
        world.path("repo/deep/er/x.db.keys")
    );
    let of = |address: &'static str| {
        let world = World::new().env("UNDERSTORY_STORE", address);
        let keys = keys(&world).value;
        let folder = world.path("data/understory/keys");
        let name = keys.strip_prefix(folder).unwrap().to_owned();
        (name, keys.display().to_string())
    };
    let first = of("postgres://ann:hunter2@db/app");
    assert!(!first.1.contains("hunter2"));
    let rotated = of("postgres://ann:hunter3@db/app");
    assert_eq!(first.0, rotated.0, "another password, the same keys");
    assert_ne!(first.0, of("postgres://ann:hunter2@db/other").0);
    let world = World::new().user("keys = \"secret/keys\"\njwks = \"k.json\"");
    assert_eq!(
        keys(&world).value.to_str().unwrap(),
        world.path("config/understory/secret/keys")
    );
    let jwks = |world: &World| world.read(&Flags::default()).unwrap().jwks.value.unwrap();
    assert_eq!(jwks(&world), world.path("config/understory/k.json"));
    let world = world.env("UNDERSTORY_JWKS", "https://id.example/k.json");
    assert_eq!(jwks(&world), "https://id.example/k.json");
}

#[test]
fn nothing_that_is_shown_has_a_password() {
    let world = World::new().env("UNDERSTORY_STORE", "postgres://ann:hunter2@db/app");
    let settings = world.read(&Flags::default()).unwrap();
    assert_eq!(
        settings.store.value.reveal(),
        "postgres://ann:hunter2@db/app"
    );
    assert!(!format!("{settings:?} {:?}", settings.shown()).contains("hunter2"));
    assert_eq!(settings.shown()[0].1, "postgres://ann:***@db/app");
}

/// Only the superuser can give a file away; others have nothing to try here.
#[cfg(unix)]
#[test]
fn a_file_that_somebody_else_put_there_is_ignored() {
    let world = World::new().project("project = \"mallory\"");
    let path = world.dir.path().join("repo").join(FILE);
    if std::os::unix::fs::chown(&path, Some(12_345), None).is_ok() {
        let project = world.read(&Flags::default()).unwrap().project;
        assert_eq!(project.source, Source::Default);
    }
}

/// A new setting needs a decision about repositories: they may set none but these.
#[test]
fn a_repository_sets_what_cannot_harm_and_nothing_else() {
    let theirs = [
        "workspace",
        "project",
        "tools",
        "claim_ttl_minutes",
        "idempotency_hours",
        "stale_after_ticks",
        "conflict_window_minutes",
    ];
    for key in KEYS {
        let text = if key.is_number {
            format!("{} = 7", key.name)
        } else {
            format!("{} = \"x\"", key.name)
        };
        let world = World::new().project(&text);
        let settings = world.read(&Flags::default()).unwrap();
        let shown = settings.shown();
        let (_, _, source) = shown.iter().find(|(name, ..)| *name == key.name).unwrap();
        let taken = **source != Source::Default;
        assert_eq!(taken, theirs.contains(&key.name), "{}", key.name);
        let ignored: Vec<_> = settings.ignored.iter().map(|one| one.setting).collect();
        if taken {
            assert_eq!(ignored, Vec::<&str>::new())
        } else {
            assert_eq!(ignored, [key.name])
        }
        for one in &settings.ignored {
            let advice = one.advice();
            assert!(advice.contains(key.env), "{advice}");
            assert!(
                advice.contains(&world.path("config/understory/understory.toml")),
                "{advice}"
            );
        }
    }
}

#[test]
fn a_repositorys_numbers_have_bounds_of_their_own() {
    for (name, least, most) in [
        ("claim_ttl_minutes", 5, 10_080),
        ("idempotency_hours", 1, 720),
        ("stale_after_ticks", 1, 1_000),
        ("conflict_window_minutes", 1, 1_440),
    ] {
        let source = |value: i64| {
            let world = World::new().project(&format!("{name} = {value}"));
            let settings = world.read(&Flags::default()).unwrap();
            let shown = settings.shown();
            let (_, _, source) = shown.iter().find(|(shown, ..)| *shown == name).unwrap();
            (**source).clone()
        };
        for good in [least, most] {
            assert!(
                matches!(source(good), Source::Repository(_)),
                "{name} {good}"
            );
        }
        for bad in [least - 1, most + 1, i64::MAX] {
            assert_eq!(source(bad), Source::Default, "{name} {bad}");
        }
    }
}

#[test]
fn a_password_set_apart_is_put_into_the_address() {
    for (address, whole) in [
        ("postgres://ann@db/app", "postgres://ann:p%40s%20s@db/app"),
        ("postgres://db/app", "postgres://db/app?password=p%40s%20s"),
        (
            "postgres://db/app?user=ann",
            "postgres://db/app?user=ann&password=p%40s%20s",
        ),
        ("/a/file.db", "/a/file.db"),
    ] {
        let world = World::new()
            .env("UNDERSTORY_STORE", address)
            .env("UNDERSTORY_STORE_PASSWORD", "p@s s");
        let settings = world.read(&Flags::default()).unwrap();
        assert_eq!(settings.store.value.reveal(), whole);
        assert!(!format!("{settings:?} {:?}", settings.shown()).contains("s%20s"));
    }
    let world = World::new()
        .env("UNDERSTORY_STORE", "postgres://ann:x@db/app")
        .env("UNDERSTORY_STORE_PASSWORD", "y");
    let fault = world.read(&Flags::default()).unwrap_err();
    assert!(fault.message.contains("has a password already"), "{fault}");
}
