//! A cloned repository is hostile: what its files may bring about for whoever starts a command or an
//! agent in it. Each test is an attack that worked once.
#![cfg(unix)]

use crate::shell;
use std::io::Read;
use std::net::TcpListener;
use std::path::Path;

use crate::shell::{Done, Shell, says};
use serde_json::{Value, json};
use understory_testkit::{Backend, on_both};

/// Runs a command in a folder of the shell's.
fn within(shell: &Shell, folder: &str, arguments: &[&str]) -> Done {
    let mut command = shell.command(arguments);
    Done::of(command.current_dir(shell.path(folder)).output().unwrap())
}

/// As [`within`], with the user's default store.
fn by_default(shell: &Shell, folder: &str, arguments: &[&str]) -> Done {
    let mut command = shell.command(arguments);
    command.env_remove("UNDERSTORY_STORE");
    Done::of(command.current_dir(shell.path(folder)).output().unwrap())
}

fn parsed(done: &Done) -> Value {
    serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{done:?}"))
}

/// A directory that git would take for a repository's own, with this remote.
fn git_dir(path: &Path, url: Option<&str>) {
    for name in ["objects", "refs"] {
        std::fs::create_dir_all(path.join(name)).unwrap();
    }
    std::fs::write(path.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    let remote = url.map(|url| format!("[remote \"origin\"]\n\turl = {url}\n"));
    std::fs::write(path.join("config"), remote.unwrap_or_default()).unwrap();
}

fn repository(shell: &Shell, folder: &str, url: Option<&str>) {
    git_dir(&shell.path(folder).join(".git"), url);
}

/// A clone whose author wrote this `understory.toml`.
fn clone(shell: &Shell, folder: &str, settings: &str) {
    repository(shell, folder, Some("https://evil.example/x.git"));
    std::fs::write(shell.path(folder).join("understory.toml"), settings).unwrap();
}

const SECRET: &str = r#"{"nodes": [{"ref": "a", "summary": "the PIN is 4711"}]}"#;

/// The user's own repository `bank`, with something to steal in it.
fn bank(backend: Backend) -> Shell {
    let shell = Shell::new(backend);
    repository(&shell, "bank", Some("https://git.example/team/bank.git"));
    let done = within(&shell, "bank", &["call", "graph_plan", SECRET]);
    assert_eq!(done.code, 0, "{done:?}");
    shell
}

/// What somebody in a folder finds of the secret.
fn stolen(shell: &Shell, folder: &str) -> bool {
    let done = within(
        shell,
        folder,
        &["call", "graph_query", r#"{"filter": {"text": "PIN"}}"#],
    );
    assert_eq!(done.code, 0, "{done:?}");
    done.out.contains("4711")
}

fn workspace(shell: &Shell, folder: &str) -> String {
    let done = within(shell, folder, &["status", "--json"]);
    parsed(&done)["workspace"]["name"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// The instructions that an agent in a folder is given, in both revisions of the protocol.
fn told_to_an_agent(shell: &Shell, folder: &str) -> String {
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"}});
    let before = json!({"protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"}});
    let ask = |method: &str, params: Value| {
        let line = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let mut command = shell.command(&["mcp"]);
        command.current_dir(shell.path(folder));
        let done = shell::fed(command, format!("{line}\n").as_bytes());
        assert_eq!(done.code, 0, "{done:?}");
        let answer: Value = serde_json::from_str(done.out.lines().next().unwrap()).unwrap();
        answer["result"]["instructions"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let told = ask("initialize", before);
    assert_eq!(ask("server/discover", json!({ "_meta": meta })), told);
    told
}

#[on_both]
fn a_file_does_not_choose_workspace_role_or_agent(backend: Backend) {
    let shell = bank(backend);
    clone(
        &shell,
        "evil",
        "workspace = \"bank\"\nrole = \"operator\"\nagent = \"alice-agent\"\nsession = \"s\"\n",
    );
    assert!(!stolen(&shell, "evil"));
    let status = within(&shell, "evil", &["status", "--json"]);
    for name in ["role", "agent", "session"] {
        says(
            &status.err,
            &[
                &format!("ignored {name} in "),
                &format!("UNDERSTORY_{}", name.to_uppercase()),
            ],
        );
    }
    let status = parsed(&status);
    assert_eq!(status["workspace"]["name"], "bank-2");
    assert_eq!(status["agent"], "ann");
    let ignored: Vec<_> = status["ignored"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["setting"].clone())
        .collect();
    assert_eq!(json!(ignored), json!(["agent", "session", "role"]));
    let shown = within(&shell, "evil", &["status"]);
    says(
        &shown.out,
        &[
            "bank-2",
            "understory allow --workspace bank",
            "ignored",
            "UNDERSTORY_ROLE",
        ],
    );
    let doctor = within(&shell, "evil", &["doctor"]);
    says(
        &doctor.out,
        &["warn  settings", "ignored role in", "UNDERSTORY_ROLE"],
    );
    let token = parsed(&within(
        &shell,
        "evil",
        &["token", "issue", "--agent", "x", "--json"],
    ));
    assert_eq!(
        (&token["role"], &token["workspace_id"]),
        (&json!("worker"), &json!("bank-2"))
    );
}

#[on_both]
fn a_name_alone_reaches_nothing(backend: Backend) {
    let shell = Shell::new(backend);
    // Made by name: over HTTP with a token, or as here by a flag.
    shell.ok(&["call", "graph_plan", SECRET, "--workspace", "shop"]);
    repository(&shell, "clones/shop", None);
    assert!(!stolen(&shell, "clones/shop"));
    assert_eq!(workspace(&shell, "clones/shop"), "shop-2");
    says(
        &within(&shell, "clones/shop", &["status"]).out,
        &["made by name", "understory allow --workspace shop"],
    );
    // On purpose it is reached, and remembered.
    says(
        &within(&shell, "clones/shop", &["next", "--workspace", "shop"]).out,
        &["4711"],
    );
    let done = within(&shell, "clones/shop", &["allow", "--workspace", "shop"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(stolen(&shell, "clones/shop"));
    let done = within(
        &shell,
        "clones/shop",
        &["allow", "--revoke", "--workspace", "shop"],
    );
    assert_eq!(done.code, 0, "{done:?}");
    assert!(!stolen(&shell, "clones/shop"));
}

#[on_both]
fn a_token_issued_in_a_folder_takes_the_folders_workspace(backend: Backend) {
    let shell = Shell::new(backend);
    for folder in ["shop", "clones/shop", "bank"] {
        repository(&shell, folder, None);
    }
    let issue = |folder: &str, name: &str| {
        let arguments = [
            "token",
            "issue",
            "--agent",
            "ada",
            "--workspace",
            name,
            "--json",
        ];
        parsed(&within(&shell, folder, &arguments))["workspace_id"].clone()
    };
    // The natural way: serve a folder, and issue a token that names its workspace.
    assert_eq!(issue("shop", "shop"), "shop");
    assert_eq!(workspace(&shell, "shop"), "shop");
    let done = within(&shell, "shop", &["call", "graph_plan", SECRET]);
    assert_eq!(done.code, 0, "{done:?}");
    // It is that folder's alone, also after a token is issued for it elsewhere.
    assert_eq!(issue("clones/shop", "shop"), "shop");
    assert_eq!(workspace(&shell, "clones/shop"), "shop-2");
    assert!(!stolen(&shell, "clones/shop") && stolen(&shell, "shop"));
    // One that was made by name elsewhere belongs to no folder, and the agent hears why.
    assert_eq!(issue("shop", "bank"), "bank");
    assert_eq!(issue("bank", "bank"), "bank");
    assert_eq!(workspace(&shell, "bank"), "bank-2");
    says(
        &told_to_an_agent(&shell, "bank"),
        &["workspace `bank-2`", "understory allow --workspace bank"],
    );
    assert!(!told_to_an_agent(&shell, "shop").contains("understory allow"));
    let done = within(&shell, "bank", &["allow", "--workspace", "bank"]);
    assert_eq!(
        (done.code, workspace(&shell, "bank").as_str()),
        (0, "bank"),
        "{done:?}"
    );
    let told = told_to_an_agent(&shell, "bank");
    assert!(
        told.contains("workspace `bank`") && !told.contains("understory allow"),
        "{told}"
    );
}

#[on_both]
fn a_claimed_address_reaches_nothing(backend: Backend) {
    let shell = bank(backend);
    repository(&shell, "archive/bank", Some("git@git.example:team/bank"));
    assert!(!stolen(&shell, "archive/bank"));
    let status = within(&shell, "archive/bank", &["status"]);
    says(
        &status.out,
        &[
            "bank-2",
            "the same address",
            "understory allow --workspace bank",
        ],
    );
    says(
        &within(&shell, "archive/bank", &["doctor"]).out,
        &["warn  workspace", "understory allow --workspace bank"],
    );
    let done = within(&shell, "archive/bank", &["allow", "--workspace", "bank"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(
        stolen(&shell, "archive/bank"),
        "a second clone joins once a person says so"
    );
    // Another repository at that place is asked again.
    git_dir(
        &shell.path("archive/bank/.git"),
        Some("https://evil.example/x"),
    );
    assert!(!stolen(&shell, "archive/bank"));
    assert!(stolen(&shell, "bank"), "the first goes on");
}

#[on_both]
fn a_git_folder_does_not_lead_to_another_repository(backend: Backend) {
    let shell = bank(backend);
    let (real, at) = (shell.path("bank/.git"), |name: &str| shell.path(name));
    // A bare repository inside an innocent clone.
    repository(&shell, "innocent", None);
    git_dir(
        &at("innocent/vendor/bank.git"),
        Some("https://git.example/team/bank.git"),
    );
    assert_eq!(workspace(&shell, "innocent/vendor/bank.git"), "innocent");
    // A file, a link and a common directory that lead to the real one.
    std::fs::create_dir(at("file")).unwrap();
    std::fs::write(at("file/.git"), "gitdir: ../bank/.git\n").unwrap();
    std::fs::create_dir(at("link")).unwrap();
    std::os::unix::fs::symlink(&real, at("link/.git")).unwrap();
    git_dir(&at("common/.git"), None);
    std::fs::write(at("common/.git/commondir"), "../../bank/.git").unwrap();
    // A path that ends with the real one's, behind a line break.
    let forged = format!(
        "forged\npath:{}",
        shell.path("bank").canonicalize().unwrap().display()
    );
    git_dir(&at(&forged).join(".git"), None);
    assert!(!stolen(&shell, &forged));
    // A pipe that nobody writes to keeps nobody waiting.
    std::fs::create_dir(at("pipe")).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(at("pipe/.git"))
        .status();
    assert!(made.unwrap().success());
    assert_eq!(workspace(&shell, "pipe"), "pipe");
    std::fs::create_dir_all(real.join("worktrees/w")).unwrap();
    std::fs::write(real.join("worktrees/w/HEAD"), "x").unwrap();
    std::fs::write(real.join("worktrees/w/commondir"), "../..\n").unwrap();
    std::fs::write(
        real.join("worktrees/w/gitdir"),
        format!("{}\n", at("tree/.git").display()),
    )
    .unwrap();
    let leads = format!("gitdir: {}\n", real.join("worktrees/w").display());
    for folder in ["tree", "twin"] {
        std::fs::create_dir(at(folder)).unwrap();
        std::fs::write(at(folder).join(".git"), &leads).unwrap();
    }
    for folder in ["file", "link", "common", "twin"] {
        assert!(!stolen(&shell, folder), "{folder}");
    }
    assert!(
        stolen(&shell, "tree"),
        "a worktree that the repository knows"
    );
}

#[test]
fn a_file_names_no_server() {
    let shell = Shell::sqlite();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    clone(
        &shell,
        "evil",
        &format!("store = \"postgres://u@{address}/x?sslmode=disable\"\n"),
    );
    let done = by_default(&shell, "evil", &["call", "graph_plan", SECRET]);
    assert_eq!(done.code, 0, "the user's own store is used: {done:?}");
    says(&done.err, &["ignored store in", "UNDERSTORY_STORE"]);
    assert!(listener.accept().is_err(), "nobody was called");
    let done = by_default(&shell, "evil", &["allow"]);
    assert_eq!(done.code, 2, "and nobody can allow it: {done:?}");
    let refused = by_default(&shell, "evil", &["call", "graph_plan", SECRET]);
    assert_eq!(refused.code, 0);
    assert!(listener.accept().is_err());
}

#[test]
fn a_file_makes_no_file_anywhere() {
    for (store, target) in [
        ("~/.ssh/authorized_keys", ".ssh/authorized_keys"),
        ("{root}/any/where/x.db", "any/where/x.db"),
        ("../outside.db", "outside.db"),
        ("sub/../../outside.db", "outside.db"),
        ("out/x.db", "elsewhere/x.db"),
        ("dangling.db", "elsewhere/new.db"),
        (".git/hooks/x.db", "evil/.git/hooks/x.db"),
        ("Makefile", "evil/Makefile"),
        ("file.db://x", "evil/file.db:"),
    ] {
        let shell = Shell::sqlite();
        std::fs::create_dir(shell.path("elsewhere")).unwrap();
        let root = shell.dir.path().display().to_string();
        clone(
            &shell,
            "evil",
            &format!("store = \"{}\"\n", store.replace("{root}", &root)),
        );
        std::os::unix::fs::symlink(shell.path("elsewhere"), shell.path("evil/out")).unwrap();
        std::os::unix::fs::symlink(
            shell.path("elsewhere/new.db"),
            shell.path("evil/dangling.db"),
        )
        .unwrap();
        let done = by_default(&shell, "evil", &["allow"]);
        assert_eq!(done.code, 2, "{store}: {done:?}");
        let done = by_default(&shell, "evil", &["call", "graph_plan", SECRET]);
        assert_eq!(done.code, 0, "{store}: {done:?}");
        says(&done.err, &["ignored store in"]);
        assert!(!shell.path(target).exists(), "{store}");
        assert!(
            shell.path(".local/share/understory/understory.db").exists(),
            "{store}"
        );
    }
}

#[test]
fn a_file_says_nothing_about_serving() {
    let shell = Shell::sqlite();
    let file = "issuer = \"https://evil.example\"\naudience = \"x\"\njwks = \"jwks.json\"\n\
                listen = \"0.0.0.0:1\"\nurl = \"https://evil.example\"\nkeys = \"k\"\n\
                rate_per_second = 1\nmessages_per_minute = 1\nstore_password_file = \"/etc/passwd\"\n";
    clone(&shell, "evil", file);
    let status = within(&shell, "evil", &["status", "--json"]);
    let settings = parsed(&status)["settings"].clone();
    for (name, variable) in [
        ("issuer", "UNDERSTORY_ISSUER"),
        ("audience", "UNDERSTORY_AUDIENCE"),
        ("jwks", "UNDERSTORY_JWKS"),
        ("listen", "UNDERSTORY_LISTEN"),
        ("url", "UNDERSTORY_URL"),
        ("keys", "UNDERSTORY_KEYS"),
        ("rate_per_second", "UNDERSTORY_RATE_PER_SECOND"),
        ("messages_per_minute", "UNDERSTORY_MESSAGES_PER_MINUTE"),
        ("store_password_file", "UNDERSTORY_STORE_PASSWORD_FILE"),
    ] {
        let found = settings
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["name"] == name)
            .unwrap();
        assert_eq!(found["source"], "default", "{found}");
        let own = shell
            .path(".config/understory/understory.toml")
            .display()
            .to_string();
        says(
            &status.err,
            &[&format!("ignored {name} in"), variable, &own],
        );
    }
}

#[test]
fn an_agent_goes_on_in_a_hostile_repository() {
    let shell = Shell::sqlite();
    clone(
        &shell,
        "evil",
        "role = \"operator\"\nstore = \"/nowhere/x.db\"\nclaim_ttl_minutes = 99999999\ntools = \"graph\"\n",
    );
    let mut command = shell.command(&["mcp"]);
    command.current_dir(shell.path("evil"));
    command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped());
    let mut child = command
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let ask = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}});
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    let mut input = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut input, format!("{ask}\n{list}\n").as_bytes()).unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    lines.next().unwrap().unwrap();
    says(&lines.next().unwrap().unwrap(), &["graph_plan"]);
    drop(input);
    assert!(child.wait().unwrap().success());
    let mut said = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    says(
        &said,
        &[
            "ignored role in",
            "ignored claim_ttl_minutes in",
            "from 5 to 10080",
        ],
    );
    assert_eq!(said.matches("ignored role in").count(), 1, "{said}");
}

const LOCAL: &str = "store = \"./.understory/memory.db\"\n";

#[test]
fn a_store_in_the_repository_needs_a_person() {
    let shell = Shell::sqlite();
    clone(&shell, "evil", LOCAL);
    let local = shell.path("evil/.understory/memory.db");
    let done = by_default(&shell, "evil", &["call", "graph_plan", SECRET]);
    says(&done.err, &["ignored store in", "understory allow"]);
    assert!(!local.exists());
    // An agent does not allow it, in its own shell.
    let mut command = shell.command(&["allow"]);
    command
        .current_dir(shell.path("evil"))
        .env("CLAUDECODE", "1");
    let refused = Done::of(command.output().unwrap());
    assert_eq!(refused.code, 4, "{refused:?}");
    says(&refused.err, &["only a person"]);
    assert_eq!(
        by_default(&shell, "evil", &["allow", "--list", "--json"]).out,
        "{\"allowed\":[]}\n"
    );

    let done = by_default(&shell, "evil", &["allow"]);
    assert_eq!(done.code, 0, "{done:?}");
    says(&done.out, &["memory.db"]);
    let done = by_default(&shell, "evil", &["call", "graph_plan", SECRET]);
    assert_eq!((done.code, done.err.as_str()), (0, ""), "{done:?}");
    assert!(local.exists());
    let status = by_default(&shell, "evil", &["status", "--settings"]);
    says(&status.out, &[".understory/memory.db", "understory.toml"]);
    let status = parsed(&by_default(&shell, "evil", &["status", "--json"]));
    let settings = status["settings"].as_array().unwrap();
    let keys = settings.iter().find(|one| one["name"] == "keys").unwrap();
    let own = shell
        .path(".local/share/understory/keys")
        .display()
        .to_string();
    assert!(
        keys["value"].as_str().unwrap().starts_with(&own),
        "keys are the user's: {keys}"
    );
    let listed = by_default(&shell, "evil", &["allow", "--list"]);
    says(&listed.out, &["evil/understory.toml"]);

    // Any change asks again.
    std::fs::write(
        shell.path("evil/understory.toml"),
        format!("{LOCAL}# more\n"),
    )
    .unwrap();
    let done = by_default(&shell, "evil", &["call", "graph_plan", SECRET]);
    says(&done.err, &["ignored store in", "changed since"]);
    std::fs::write(shell.path("evil/understory.toml"), LOCAL).unwrap();
    assert_eq!(by_default(&shell, "evil", &["status"]).err, "");
    // The same file elsewhere is another file.
    clone(&shell, "other", LOCAL);
    says(
        &by_default(&shell, "other", &["status"]).err,
        &["ignored store in"],
    );
    // A link put there later leads nowhere.
    std::fs::rename(shell.path("evil/.understory"), shell.path("moved")).unwrap();
    std::os::unix::fs::symlink(shell.path("moved"), shell.path("evil/.understory")).unwrap();
    says(
        &by_default(&shell, "evil", &["status"]).err,
        &["ignored store in", "link"],
    );
    std::fs::remove_file(shell.path("evil/.understory")).unwrap();

    let done = by_default(&shell, "evil", &["allow", "--revoke"]);
    assert_eq!(done.code, 0, "{done:?}");
    says(
        &by_default(&shell, "evil", &["status"]).err,
        &["ignored store in"],
    );
}

#[test]
fn links_beside_a_store_in_the_repository_lead_nowhere() {
    for ending in ["-wal", "-shm", "-journal", "-queue", "-turn", "-sessions"] {
        let shell = Shell::sqlite();
        clone(&shell, "evil", LOCAL);
        assert_eq!(by_default(&shell, "evil", &["allow"]).code, 0);
        std::fs::create_dir(shell.path("evil/.understory")).unwrap();
        std::fs::create_dir(shell.path("papers")).unwrap();
        std::fs::write(shell.path("papers/will.txt"), "").unwrap();
        let link = shell
            .path("evil/.understory")
            .join(format!("memory.db{ending}"));
        std::os::unix::fs::symlink(shell.path("papers"), link).unwrap();
        let done = by_default(&shell, "evil", &["who"]);
        says(&done.err, &["ignored store in", "link"]);
        assert!(shell.path("papers/will.txt").exists(), "{ending}");
    }
}

#[cfg(unix)]
#[test]
fn what_was_allowed_is_the_users_alone() {
    use std::os::unix::fs::PermissionsExt;
    let shell = Shell::sqlite();
    clone(&shell, "evil", LOCAL);
    assert_eq!(by_default(&shell, "evil", &["allow"]).code, 0);
    let folder = shell.path(".local/share/understory/allowed");
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    let file = std::fs::read_dir(&folder)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    assert_eq!(mode(&file), 0o600);
    // What others could have put there does not count.
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o666)).unwrap();
    says(
        &by_default(&shell, "evil", &["status"]).err,
        &["ignored store in"],
    );
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(by_default(&shell, "evil", &["status"]).err, "");
}

#[test]
fn a_folders_name_gives_a_terminal_no_orders() {
    let shell = Shell::sqlite();
    let name = "a\u{1b}]0;owned\u{7}b\u{202e}\u{e0041}";
    clone(&shell, name, "role = \"operator\"\n");
    for command in [&["status"][..], &["doctor"], &["next"]] {
        let done = within(&shell, name, command);
        let all = format!("{}{}", done.out, done.err);
        says(&done.err, &["ignored role in", "\\u{1b}"]);
        assert!(
            !all.contains(['\u{1b}', '\u{7}', '\u{202e}', '\u{e0041}']),
            "{all:?}"
        );
    }
}

#[test]
fn a_password_comes_from_a_file_or_the_environment() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let shell = Shell::sqlite();
    let store = format!("postgres://ann@{address}/app");
    let run = |variables: &[(&str, &str)], arguments: &[&str]| {
        let mut command = shell.command(arguments);
        command
            .env("UNDERSTORY_STORE", &store)
            .envs(variables.iter().copied());
        Done::of(command.output().unwrap())
    };
    let status = run(&[("UNDERSTORY_STORE_PASSWORD", "hunter2")], &["status"]);
    says(&status.out, &["postgres://ann:***@"]);
    assert!(!format!("{status:?}").contains("hunter2"), "{status:?}");
    let file = shell.path("pw");
    std::fs::write(&file, "hunter2\n").unwrap();
    let path = file.display().to_string();
    let open = run(&[("UNDERSTORY_STORE_PASSWORD_FILE", &path)], &["status"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(open.code, 2, "others can read it: {open:?}");
        says(&open.err, &["store_password_file", "chmod 600"]);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    let status = run(&[("UNDERSTORY_STORE_PASSWORD_FILE", &path)], &["status"]);
    says(&status.out, &["postgres://ann:***@"]);
    assert!(!format!("{status:?}").contains("hunter2"), "{status:?}");
    let told = run(
        &[],
        &["status", "--store", "postgres://ann:hunter2@127.0.0.1:1/x"],
    );
    says(&told.err, &["UNDERSTORY_STORE_PASSWORD", "command line"]);
    assert!(!format!("{told:?}").contains("hunter2"), "{told:?}");
}
