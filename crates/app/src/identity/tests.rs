//! Names from settings, folders and repositories of every shape.

use std::fs;
use std::path::{Path, PathBuf};

use super::*;
use crate::config::Flags;

fn around(folder: &Path) -> Surroundings {
    Surroundings {
        env: Box::new(|name| (name == "USER").then(|| "ann lee".into())),
        folder: folder.to_owned(),
        home: None,
        config_dir: None,
        data_dir: Some("/data".into()),
    }
}

fn identity(folder: &Path, flags: &Flags) -> Result<Identity, Fault> {
    let around = around(folder);
    Identity::agent(&Settings::read(flags, &around)?, &around)
}

/// The workspace and the origin that a folder gives.
fn seen(folder: &Path) -> (String, String) {
    let caller = identity(folder, &Flags::default()).unwrap().caller(None);
    (caller.workspace, caller.origin.unwrap())
}

/// A directory that git would take for a repository's own.
fn git_dir(path: &Path) {
    for name in ["objects", "refs"] {
        fs::create_dir_all(path.join(name)).unwrap();
    }
    fs::write(path.join("HEAD"), "ref: refs/heads/main\n").unwrap();
}

fn linked_worktree(common: &Path, name: &str, at: &Path) {
    let own = common.join("worktrees").join(name);
    fs::create_dir_all(&own).unwrap();
    fs::create_dir_all(at).unwrap();
    fs::write(own.join("HEAD"), "ref: refs/heads/other\n").unwrap();
    fs::write(own.join("commondir"), "../..\n").unwrap();
    fs::write(
        own.join("gitdir"),
        format!("{}\n", at.join(".git").display()),
    )
    .unwrap();
    fs::write(at.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
}

struct World(tempfile::TempDir);

impl World {
    fn new() -> World {
        World(tempfile::tempdir().unwrap())
    }

    fn at(&self, path: &str) -> PathBuf {
        let path = self.0.path().canonicalize().unwrap().join(path);
        fs::create_dir_all(&path).unwrap();
        path
    }
}

#[test]
fn worktrees_agree() {
    let world = World::new();
    let common = world.at("the repo/.git");
    git_dir(&common);
    let config = "[remote \"origin\"]\n\turl = https://ann:pw@Example.com/team/app.git\n";
    fs::write(common.join("config"), config).unwrap();
    let tree = world.at("elsewhere/feature");
    linked_worktree(&common, "feature", &tree);

    let main = seen(&world.at("the repo/src/deep"));
    assert_eq!(main.0, "the-repo");
    assert_eq!(
        main.1,
        format!("url:example.com/team/app\npath:{}", common.display())
    );
    assert_eq!(seen(&tree), main);
    assert_eq!(seen(&world.at("elsewhere/feature/src")), main);
    assert_eq!(seen(&common), main, "inside .git itself");
}

#[test]
fn bare_repositories_and_their_worktrees() {
    let world = World::new();
    let bare = world.at("app.git");
    git_dir(&bare);
    let tree = world.at("trees/one");
    linked_worktree(&bare, "one", &tree);
    let expected = ("app".to_owned(), format!("path:{}", bare.display()));
    assert_eq!(seen(&bare), expected);
    assert_eq!(seen(&world.at("app.git/hooks")), expected);
    assert_eq!(seen(&tree), expected);

    let hidden = world.at("shop/.bare");
    git_dir(&hidden);
    fs::write(world.at("shop").join(".git"), "gitdir: ./.bare\n").unwrap();
    assert_eq!(seen(&world.at("shop/main")).0, "shop");
}

#[test]
fn submodules_are_repositories_of_their_own() {
    let world = World::new();
    git_dir(&world.at("super/.git"));
    git_dir(&world.at("super/.git/modules/libs/part"));
    let module = world.at("super/libs/part");
    fs::write(
        module.join(".git"),
        "gitdir: ../../.git/modules/libs/part\n",
    )
    .unwrap();
    assert_eq!(seen(&module).0, "part");
    assert_eq!(seen(&world.at("super/libs")).0, "super");
}

#[test]
fn a_bare_repository_inside_another_is_part_of_it() {
    let world = World::new();
    git_dir(&world.at("innocent/.git"));
    git_dir(&world.at("innocent/vendor/bank.git"));
    assert_eq!(
        seen(&world.at("innocent/vendor/bank.git/hooks")).0,
        "innocent"
    );
    git_dir(&world.at("app.git"));
    git_dir(&world.at("app.git/hooks/bank.git"));
    assert_eq!(seen(&world.at("app.git/hooks/bank.git")).0, "app");
}

#[test]
fn a_line_break_in_a_path_adds_no_line() {
    let world = World::new();
    let real = world.at("bank");
    let forged = world
        .0
        .path()
        .join(format!("evil\npath:{}", real.display()));
    fs::create_dir_all(&forged).unwrap();
    let lines = seen(&forged).1;
    assert_eq!(lines.lines().count(), 1, "{lines}");
}

#[test]
fn what_a_repository_names_stays_its_own() {
    let world = World::new();
    let folder = world.at("x");
    fs::write(folder.join("understory.toml"), "workspace = \"bank\"").unwrap();
    let (name, origin) = seen(&folder);
    assert_eq!(name, "bank");
    assert_eq!(origin, format!("path:{}", folder.display()));
}

#[test]
fn two_repositories_of_one_name_are_told_apart() {
    let world = World::new();
    let (one, other) = (world.at("a/app"), world.at("b/app"));
    git_dir(&one.join(".git"));
    git_dir(&other.join(".git"));
    let (one, other) = (seen(&one), seen(&other));
    assert_eq!(one.0, other.0);
    assert_ne!(one.1, other.1);
}

#[test]
fn a_folder_names_itself_and_a_broken_link_does_not_mislead() {
    let world = World::new();
    let folder = world.at("my notes! (old)");
    assert_eq!(seen(&folder).0, "my-notes-old");
    assert_eq!(seen(&folder).1, format!("path:{}", folder.display()));
    assert_eq!(seen(&world.at("日本")).0, "workspace");
    fs::write(folder.join(".git"), "gitdir: /nowhere/at/all\n").unwrap();
    assert_eq!(seen(&folder).0, "my-notes-old");
}

#[test]
fn who_is_calling() {
    let world = World::new();
    let folder = world.at("x");
    let plain = identity(&folder, &Flags::default()).unwrap();
    assert_eq!(plain.caller(None).agent, "agent");
    assert_eq!(plain.caller(Some("Claude Code")).agent, "Claude-Code");
    assert_eq!(plain.caller(Some("///")).agent, "agent");
    assert_eq!(plain.caller(None).role, Role::Worker);
    assert_eq!(plain.caller(None).session, plain.caller(None).session);
    assert!(plain.caller(None).session.starts_with("sess_"));
    assert_eq!(plain.caller(None).project, "default");

    let flags = Flags {
        agent: Some("me".into()),
        session: Some("s1".into()),
        role: Some("orchestrator".into()),
        workspace: Some("w".into()),
        project: Some("p".into()),
        ..Flags::default()
    };
    let named = identity(&folder, &flags).unwrap().caller(Some("client"));
    let expected = Caller {
        workspace: "w".into(),
        origin: None,
        agent: "me".into(),
        session: "s1".into(),
        role: Role::Orchestrator,
        project: "p".into(),
        via: understory_model::Via::Local,
    };
    assert_eq!(named, expected);
}

#[test]
fn people_are_operators() {
    let world = World::new();
    let around = around(&world.at("x"));
    let settings = Settings::read(&Flags::default(), &around).unwrap();
    let caller = Identity::shell(&settings, &around).unwrap().caller(None);
    assert_eq!(
        (caller.agent.as_str(), caller.role),
        ("ann-lee", Role::Operator)
    );
}

#[test]
fn names_that_were_chosen_must_be_right() {
    let world = World::new();
    let folder = world.at("x");
    for bad in ["", "..", "a b", "a/b", "日本", &"x".repeat(65)] {
        let flags = Flags {
            workspace: Some(bad.to_owned()),
            ..Flags::default()
        };
        let fault = identity(&folder, &flags).unwrap_err();
        assert!(fault.message.starts_with("workspace: "), "{fault}");
        assert_eq!(fault.hint.as_deref(), Some("it was set by --workspace"));
    }
    let flags = Flags {
        project: Some("a b".into()),
        ..Flags::default()
    };
    assert!(
        identity(&folder, &flags)
            .unwrap_err()
            .message
            .starts_with("project: ")
    );
    for good in ["a", "A.b_c-9", &"x".repeat(64)] {
        let flags = Flags {
            workspace: Some(good.to_owned()),
            ..Flags::default()
        };
        assert_eq!(identity(&folder, &flags).unwrap().workspace(), good);
    }
}

/// Surroundings with these variables.
fn within(folder: &Path, set: &'static [(&'static str, &'static str)]) -> Surroundings {
    Surroundings {
        env: Box::new(|name| {
            let found = set.iter().find(|(set, _)| *set == name);
            found.map(|(_, value)| (*value).into())
        }),
        config_dir: Some(folder.join("config")),
        ..around(folder)
    }
}

#[test]
fn a_chat_is_the_clients_unless_another_is_chosen() {
    let world = World::new();
    let folder = world.at("x");
    let of = |set: &'static [(&str, &str)]| {
        let around = within(&folder, set);
        let settings = Settings::read(&Flags::default(), &around).unwrap();
        Identity::agent(&settings, &around).unwrap()
    };
    let told = of(&[("CLAUDE_CODE_SESSION_ID", "c1")]);
    let caller = told.caller(Some("claude-code"));
    assert_eq!(
        (caller.session.as_str(), caller.agent.as_str(), caller.via),
        ("c1", "claude-code", Via::Arriving)
    );
    assert!(told.names_session());
    let in_thread = told.caller_in(Some("codex-mcp-client"), Some("t1"));
    assert_eq!(in_thread.session, "t1");
    let chosen = of(&[
        ("UNDERSTORY_SESSION", "mein Ü"),
        ("UNDERSTORY_AGENT", "bob"),
        ("CLAUDE_CODE_SESSION_ID", "c1"),
    ]);
    let caller = chosen.caller_in(Some("claude-code"), Some("t1"));
    assert_eq!(
        (caller.session.as_str(), caller.agent.as_str(), caller.via),
        ("mein Ü", "bob", Via::Local)
    );
    assert!(!of(&[]).names_session());
}

#[test]
fn only_a_persons_own_file_makes_an_agents_shell_more_than_a_worker() {
    let world = World::new();
    let folder = world.at("x");
    let role = |set: &'static [(&str, &str)], flag: Option<&str>| {
        let around = within(&folder, set);
        let flags = Flags {
            role: flag.map(str::to_owned),
            ..Flags::default()
        };
        let settings = Settings::read(&flags, &around).unwrap();
        Identity::shell(&settings, &around).map(|found| found.caller(None).role)
    };
    const SHELL: &[(&str, &str)] = &[("CLAUDECODE", "1")];
    const RAISED: &[(&str, &str)] = &[("CLAUDECODE", "1"), ("UNDERSTORY_ROLE", "operator")];
    assert_eq!(role(&[], None), Ok(Role::Operator));
    assert_eq!(role(SHELL, None), Ok(Role::Worker));
    assert_eq!(role(RAISED, None), Ok(Role::Worker));
    assert_eq!(role(SHELL, Some("auditor")), Ok(Role::Auditor));
    let fault = role(SHELL, Some("operator")).unwrap_err();
    assert_eq!(fault.code, Code::InsufficientAuthority);
    fs::write(folder.join("understory.toml"), "role = \"operator\"").unwrap();
    assert_eq!(role(SHELL, None), Ok(Role::Worker));
    fs::remove_file(folder.join("understory.toml")).unwrap();
    let own = world.at("x/config/understory");
    fs::write(own.join("understory.toml"), "role = \"operator\"").unwrap();
    assert_eq!(role(SHELL, None), Ok(Role::Operator));
}
