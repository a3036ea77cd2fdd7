//! Every setting: its names, its kind, and who may set it.
//!
//! A repository is written by whoever wrote it, and read by whoever clones it. So a setting is the
//! user's alone unless it says here that a repository's file may set it too.

/// Who may set a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MaySet {
    /// Flags, the environment and the user's own file.
    UserOnly,
    /// A repository's file as well: it cannot harm whoever cloned it.
    Anyone,
    /// A repository's file as well, after the user allowed its content with `understory allow`.
    Allowed,
}

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    /// A whole number, with the range that a repository's file may choose from.
    Number {
        least: i64,
        most: i64,
    },
}

/// A setting's names: in a file, in a file written for another tool, in the environment.
pub(super) struct Key {
    pub name: &'static str,
    pub alias: Option<&'static str>,
    pub env: &'static str,
    pub kind: Kind,
    pub may_set: MaySet,
}

impl Key {
    pub fn is_number(&self) -> bool {
        matches!(self.kind, Kind::Number { .. })
    }

    const fn alias(mut self, alias: &'static str) -> Key {
        self.alias = Some(alias);
        self
    }

    const fn anyone(mut self) -> Key {
        self.may_set = MaySet::Anyone;
        self
    }

    const fn allowed(mut self) -> Key {
        self.may_set = MaySet::Allowed;
        self
    }

    /// A number that a repository may choose within these bounds.
    const fn within(mut self, least: i64, most: i64) -> Key {
        self.kind = Kind::Number { least, most };
        self.anyone()
    }
}

const fn text(name: &'static str, env: &'static str) -> Key {
    Key {
        name,
        alias: None,
        env,
        kind: Kind::Text,
        may_set: MaySet::UserOnly,
    }
}

const fn number(name: &'static str, env: &'static str) -> Key {
    Key {
        kind: Kind::Number { least: 1, most: 0 },
        ..text(name, env)
    }
}

/// Every setting, in the order in which it is shown.
pub(super) const KEYS: [Key; 32] = [
    text("store", "UNDERSTORY_STORE").alias("db_path").allowed(),
    text("store_password", "UNDERSTORY_STORE_PASSWORD"),
    text("store_password_file", "UNDERSTORY_STORE_PASSWORD_FILE"),
    // It reaches no workspace but those that this repository made; see `Identity`.
    text("workspace", "UNDERSTORY_WORKSPACE").anyone(),
    text("project", "UNDERSTORY_PROJECT").anyone(),
    text("agent", "UNDERSTORY_AGENT").alias("agent_identity"),
    text("session", "UNDERSTORY_SESSION"),
    text("role", "UNDERSTORY_ROLE"),
    text("tools", "UNDERSTORY_TOOLS").anyone(),
    // From five minutes to a week: nobody loses a claim while working, none outlives its holder long.
    number("claim_ttl_minutes", "UNDERSTORY_CLAIM_TTL_MINUTES").within(5, 7 * 24 * 60),
    // A retry is recognised for an hour at least; answers are kept for a month at most.
    number("idempotency_hours", "UNDERSTORY_IDEMPOTENCY_HOURS").within(1, 30 * 24),
    number("stale_after_ticks", "UNDERSTORY_STALE_AFTER_TICKS").within(1, 1_000),
    number("messages_per_minute", "UNDERSTORY_MESSAGES_PER_MINUTE"),
    number(
        "conflict_window_minutes",
        "UNDERSTORY_CONFLICT_WINDOW_MINUTES",
    )
    .within(1, 24 * 60),
    text("secrets", "UNDERSTORY_SECRETS"),
    text("listen", "UNDERSTORY_LISTEN"),
    text("url", "UNDERSTORY_URL"),
    text("tls_cert", "UNDERSTORY_TLS_CERT"),
    text("tls_key", "UNDERSTORY_TLS_KEY"),
    text("keys", "UNDERSTORY_KEYS"),
    text("issuer", "UNDERSTORY_ISSUER"),
    text("audience", "UNDERSTORY_AUDIENCE"),
    text("jwks", "UNDERSTORY_JWKS"),
    text("issuer_workspaces", "UNDERSTORY_ISSUER_WORKSPACES"),
    text("issuer_roles", "UNDERSTORY_ISSUER_ROLES"),
    number("rate_per_second", "UNDERSTORY_RATE_PER_SECOND"),
    number("quota_items", "UNDERSTORY_QUOTA_ITEMS"),
    number("quota_bytes", "UNDERSTORY_QUOTA_BYTES"),
    number("quota_threads", "UNDERSTORY_QUOTA_THREADS"),
    text("embedding_url", "UNDERSTORY_EMBEDDING_URL"),
    text("embedding_model", "UNDERSTORY_EMBEDDING_MODEL"),
    text("embedding_key", "UNDERSTORY_EMBEDDING_KEY"),
];
