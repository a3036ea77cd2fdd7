//! The flags that every command understands.

/// What the command line may set for any command.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Settings")]
pub struct Flags {
    /// The store: a SQLite file or postgres://…
    #[arg(long, global = true, value_name = "STORE")]
    pub store: Option<String>,
    /// The workspace, instead of the git repository's or folder's name
    #[arg(long, global = true, value_name = "NAME")]
    pub workspace: Option<String>,
    /// The project to work in, instead of `default`
    #[arg(long, global = true, value_name = "NAME")]
    pub project: Option<String>,
    /// Who is calling
    #[arg(long, global = true, value_name = "NAME")]
    pub agent: Option<String>,
    /// The session that calls belong to
    #[arg(long, global = true, value_name = "NAME")]
    pub session: Option<String>,
    /// operator, orchestrator, worker or auditor
    #[arg(long, global = true, value_name = "ROLE")]
    pub role: Option<String>,
    /// How long a claim is respected
    #[arg(long, global = true, value_name = "MINUTES")]
    pub claim_ttl_minutes: Option<i64>,
    /// How long an idempotency key is remembered
    #[arg(long, global = true, value_name = "HOURS")]
    pub idempotency_hours: Option<i64>,
    /// How many writes a session may miss before it is stale
    #[arg(long, global = true, value_name = "TICKS")]
    pub stale_after_ticks: Option<i64>,
    /// How long a session that went away still counts as working on its records
    #[arg(long, global = true, value_name = "MINUTES")]
    pub conflict_window_minutes: Option<i64>,
    /// Set by the commands that list tools, from a flag of their own.
    #[arg(skip)]
    pub tools: Option<String>,
    /// Set by `understory serve`, from flags of its own.
    #[arg(skip)]
    pub listen: Option<String>,
    #[arg(skip)]
    pub url: Option<String>,
    #[arg(skip)]
    pub tls_cert: Option<String>,
    #[arg(skip)]
    pub tls_key: Option<String>,
}

impl Flags {
    /// What a flag says of a setting.
    pub(super) fn get(&self, name: &str) -> Option<String> {
        match name {
            "store" => self.store.clone(),
            "workspace" => self.workspace.clone(),
            "project" => self.project.clone(),
            "agent" => self.agent.clone(),
            "session" => self.session.clone(),
            "role" => self.role.clone(),
            "tools" => self.tools.clone(),
            "claim_ttl_minutes" => self.claim_ttl_minutes.map(|minutes| minutes.to_string()),
            "idempotency_hours" => self.idempotency_hours.map(|hours| hours.to_string()),
            "stale_after_ticks" => self.stale_after_ticks.map(|ticks| ticks.to_string()),
            "conflict_window_minutes" => self
                .conflict_window_minutes
                .map(|minutes| minutes.to_string()),
            "listen" => self.listen.clone(),
            "url" => self.url.clone(),
            "tls_cert" => self.tls_cert.clone(),
            "tls_key" => self.tls_key.clone(),
            _ => None,
        }
    }
}
