//! Every setting, declared once: its type, its help, its names in the environment, on the command
//! line and in files, how it is read and what it is by default, and whether a repository may set it.
//!
//! The flags, `Settings`, `understory status --settings`, docs/settings.md and what is taken from a
//! repository's file all follow from the one list below.

use std::path::PathBuf;

use understory_engine::{
    CONFLICT_MINUTES, STALE_AFTER, WAKE_PATIENCE_SECONDS, WAKE_RECHECK_SECONDS, WAKES_PER_HOUR,
};
use understory_model::secret::Policy;
use understory_model::{Fault, Role, limits};

use super::embedding::{Endpoint, Secret};
use super::key::{Flag, Key, MaySet, Value};
use super::project::Ignored;
use super::store::Address;
use super::{Layers, Setting, Source};

/// Declares the settings. Each has one line of help, a type, an environment variable, and:
/// `read`, the method of `Layers` that reads it, with its default; and if it has them a flag of any
/// command (`global`), of `understory serve` (`serve`), or one that commands declare themselves
/// (`own`); another name in files (`alias`); and what a repository's file may do (`repository`).
macro_rules! settings {
    ($(
        #[doc = $help:literal]
        $name:ident: $type:ty, $env:literal {
            read $read:ident($($arg:expr),*);
            $(global $global:ty as $global_value:literal;)?
            $(serve $serve:ty as $serve_value:literal;)?
            $(own $own:ty;)?
            $(alias $alias:literal;)?
            $(repository $may_set:expr;)?
        }
    )*) => {
        /// Every setting, in the order in which it is shown.
        pub(super) const KEYS: &[Key] = &[$(
            Key::new(stringify!($name), $env, $help, <$type as Value>::IS_NUMBER)
                $(.flag(flag!($global, Global)))?
                $(.flag(flag!($serve, Serve)))?
                $(.flag(flag!($own, Own)))?
                $(.alias($alias))?
                $(.repository($may_set))?,
        )*];

        /// What the command line may set for any command.
        #[derive(Debug, Clone, Default, clap::Args)]
        #[command(next_help_heading = "Settings")]
        pub struct Flags {
            $($(
                #[doc = $help]
                #[arg(long, global = true, value_name = $global_value)]
                pub $name: Option<$global>,
            )?)*
            $($(
                /// Set by the commands that take it.
                #[arg(skip)]
                pub $name: Option<$own>,
            )?)*
            /// Set by `understory serve`.
            #[arg(skip)]
            pub serve: ServeFlags,
        }

        /// What the command line may set for `understory serve` alone.
        #[derive(Debug, Clone, Default, clap::Args)]
        pub struct ServeFlags {
            $($(
                #[doc = $help]
                #[arg(long, value_name = $serve_value)]
                pub $name: Option<$serve>,
            )?)*
        }

        impl Flags {
            /// What a flag says of a setting.
            pub(super) fn get(&self, name: &str) -> Option<String> {
                $($(
                    if name == stringify!($name) {
                        return self.$name.as_ref().map(<$global as ToString>::to_string);
                    }
                )?)*
                $($(
                    if name == stringify!($name) {
                        return self.$name.as_ref().map(<$own as ToString>::to_string);
                    }
                )?)*
                $($(
                    if name == stringify!($name) {
                        return self.serve.$name.as_ref().map(<$serve as ToString>::to_string);
                    }
                )?)*
                None
            }

            /// The flags of any command that were given, for another process of ours: as variables, because
            /// others on the machine can read a command line.
            pub fn as_variables(&self) -> Vec<(&'static str, String)> {
                let mut variables = Vec::new();
                $($(
                    if let Some(value) = self.$name.as_ref().map(<$global as ToString>::to_string) {
                        variables.push(($env, value));
                    }
                )?)*
                variables
            }
        }

        /// Everything that can be set.
        #[derive(Debug, Clone)]
        pub struct Settings {
            $(
                #[doc = $help]
                pub $name: Setting<$type>,
            )*
            /// What the repository's file set and may not.
            pub ignored: Vec<Ignored>,
        }

        impl Settings {
            /// Reads every setting.
            pub(super) fn from_layers(
                layers: &Layers<'_>,
                ignored: Vec<Ignored>,
            ) -> Result<Settings, Fault> {
                Ok(Settings {
                    $($name: layers.$read(stringify!($name) $(, $arg)*)?,)*
                    ignored,
                })
            }

            /// Each setting as it may be shown to anybody: its name, its value and what set it.
            pub fn shown(&self) -> Vec<(&'static str, String, &Source)> {
                vec![$(
                    (stringify!($name), self.$name.value.shown(), &self.$name.source),
                )*]
            }
        }
    };
}

/// Where a setting's flag belongs to; the type only says that there is one.
macro_rules! flag {
    ($type:ty, $flag:ident) => {
        Flag::$flag
    };
}

settings! {
    /// The store: a SQLite file or postgres://…
    store: Address, "UNDERSTORY_STORE" {
        read store();
        global String as "STORE";
        alias "db_path";
        repository MaySet::Allowed;
    }
    /// The password of a PostgreSQL store, where its address has none
    store_password: Option<Secret>, "UNDERSTORY_STORE_PASSWORD" {
        read store_password();
    }
    /// A file with that password, which only you may read
    store_password_file: Option<String>, "UNDERSTORY_STORE_PASSWORD_FILE" {
        read text();
    }
    // It reaches no workspace but those that this repository made; see `Identity`.
    /// The workspace, instead of the git repository's or folder's name
    workspace: Option<String>, "UNDERSTORY_WORKSPACE" {
        read workspace();
        global String as "NAME";
        repository MaySet::Anyone;
    }
    /// The project to work in, instead of `default`
    project: String, "UNDERSTORY_PROJECT" {
        read text_or("default");
        global String as "NAME";
        repository MaySet::Anyone;
    }
    /// Who is calling
    agent: Option<String>, "UNDERSTORY_AGENT" {
        read text();
        global String as "NAME";
        alias "agent_identity";
    }
    /// The session that calls belong to
    session: Option<String>, "UNDERSTORY_SESSION" {
        read text();
        global String as "NAME";
    }
    /// operator, orchestrator, worker or auditor
    role: Option<Role>, "UNDERSTORY_ROLE" {
        read role();
        global String as "ROLE";
    }
    /// The tools that MCP clients are shown: surfaces by name, `essentials` or `all`
    tools: String, "UNDERSTORY_TOOLS" {
        read text_or("essentials");
        own String;
        repository MaySet::Anyone;
    }
    // From five minutes to a week: nobody loses a claim while working, none outlives its holder long.
    /// How long a claim is respected
    claim_ttl_minutes: i64, "UNDERSTORY_CLAIM_TTL_MINUTES" {
        read number(60, limits::KEPT_HOURS * 60);
        global i64 as "MINUTES";
        repository MaySet::Within { least: 5, most: 7 * 24 * 60 };
    }
    // A retry is recognised for an hour at least; answers are kept for a month at most.
    /// How long an idempotency key is remembered
    idempotency_hours: i64, "UNDERSTORY_IDEMPOTENCY_HOURS" {
        read number(24, limits::KEPT_HOURS);
        global i64 as "HOURS";
        repository MaySet::Within { least: 1, most: 30 * 24 };
    }
    /// How many writes a session may miss before it is stale
    stale_after_ticks: i64, "UNDERSTORY_STALE_AFTER_TICKS" {
        read number(STALE_AFTER, limits::STALE_TICKS);
        global i64 as "TICKS";
        repository MaySet::Within { least: 1, most: 1_000 };
    }
    /// Messages a minute that one agent may post, however it is reached
    messages_per_minute: i64, "UNDERSTORY_MESSAGES_PER_MINUTE" {
        read number(600, limits::RATE_PER_SECOND);
    }
    /// How often one agent may be woken in an hour
    wakes_per_hour: i64, "UNDERSTORY_WAKES_PER_HOUR" {
        read number(WAKES_PER_HOUR, limits::WAKES_PER_HOUR);
    }
    /// Retry delay of a wake deferred because of the terminal's screen
    wake_recheck_seconds: i64, "UNDERSTORY_WAKE_RECHECK_SECONDS" {
        read number(WAKE_RECHECK_SECONDS.cast_signed(), limits::WAKE_SECONDS);
    }
    /// Quiet time after the last key before anything is typed
    wake_quiet_seconds: i64, "UNDERSTORY_WAKE_QUIET_SECONDS" {
        read number(20, limits::WAKE_SECONDS);
    }
    /// How long typing may defer a wake
    wake_patience_seconds: i64, "UNDERSTORY_WAKE_PATIENCE_SECONDS" {
        read number(WAKE_PATIENCE_SECONDS.cast_signed(), limits::WAKE_SECONDS);
    }
    /// How long a session that went away still counts as working on its records
    conflict_window_minutes: i64, "UNDERSTORY_CONFLICT_WINDOW_MINUTES" {
        read number(CONFLICT_MINUTES.cast_signed(), limits::KEPT_HOURS * 60);
        global i64 as "MINUTES";
        repository MaySet::Within { least: 1, most: 24 * 60 };
    }
    /// What is done about credentials in the arguments of a call: flag, refuse or off
    secrets: Policy, "UNDERSTORY_SECRETS" {
        read secrets();
    }
    /// Where to listen, instead of 127.0.0.1:7878
    listen: String, "UNDERSTORY_LISTEN" {
        read text_or("127.0.0.1:7878");
        serve String as "ADDRESS";
    }
    /// The address that callers use, when it is not where this listens
    url: Option<String>, "UNDERSTORY_URL" {
        read text();
        serve String as "URL";
    }
    /// The certificate to serve TLS with: a PEM file, the server's own first; read again when it changes
    tls_cert: Option<PathBuf>, "UNDERSTORY_TLS_CERT" {
        read path();
        serve String as "FILE";
    }
    /// The certificate's private key, a PEM file
    tls_key: Option<PathBuf>, "UNDERSTORY_TLS_KEY" {
        read path();
        serve String as "FILE";
    }
    /// The directory of the key files that sign tokens
    keys: PathBuf, "UNDERSTORY_KEYS" {
        read keys();
    }
    /// Another issuer whose tokens are accepted
    issuer: Option<String>, "UNDERSTORY_ISSUER" {
        read text();
    }
    /// What that issuer calls this server
    audience: Option<String>, "UNDERSTORY_AUDIENCE" {
        read text();
    }
    /// That issuer's key set, by its address or its file
    jwks: Option<String>, "UNDERSTORY_JWKS" {
        read key_set();
    }
    /// Which workspaces that issuer's tokens may name
    issuer_workspaces: Option<String>, "UNDERSTORY_ISSUER_WORKSPACES" {
        read text();
    }
    /// Which roles that issuer's tokens may name
    issuer_roles: Option<String>, "UNDERSTORY_ISSUER_ROLES" {
        read text();
    }
    /// Calls a second that one agent may make over HTTP
    rate_per_second: i64, "UNDERSTORY_RATE_PER_SECOND" {
        read number(500, limits::RATE_PER_SECOND);
    }
    /// How many items each workspace may have
    quota_items: i64, "UNDERSTORY_QUOTA_ITEMS" {
        read number(0, i64::MAX);
    }
    /// How many bytes each workspace may have
    quota_bytes: i64, "UNDERSTORY_QUOTA_BYTES" {
        read number(0, i64::MAX);
    }
    /// How many threads each workspace may have
    quota_threads: i64, "UNDERSTORY_QUOTA_THREADS" {
        read number(0, i64::MAX);
    }
    /// The endpoint of an external embedding model
    embedding_url: Option<Endpoint>, "UNDERSTORY_EMBEDDING_URL" {
        read endpoint();
    }
    /// What that endpoint calls the model
    embedding_model: Option<String>, "UNDERSTORY_EMBEDDING_MODEL" {
        read text();
    }
    /// The key that endpoint asks for
    embedding_key: Option<Secret>, "UNDERSTORY_EMBEDDING_KEY" {
        read secret();
    }
}
