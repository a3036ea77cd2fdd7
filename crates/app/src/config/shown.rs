//! The settings as they may be shown to anybody: no password, no key.

use std::path::PathBuf;

use super::{Secret, Setting, Settings, Source};

impl Settings {
    /// Each setting as it may be shown to anybody: its name, its value and what set it.
    pub fn shown(&self) -> Vec<(&'static str, String, &Source)> {
        let or_unset = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
        let role = self
            .role
            .value
            .map_or_else(|| "-".to_owned(), |role| role.to_string());
        vec![
            ("store", self.store.value.to_string(), &self.store.source),
            (
                "store_password",
                hidden(&self.store_password),
                &self.store_password.source,
            ),
            (
                "store_password_file",
                or_unset(&self.store_password_file.value),
                &self.store_password_file.source,
            ),
            (
                "workspace",
                or_unset(&self.workspace.value),
                &self.workspace.source,
            ),
            ("project", self.project.value.clone(), &self.project.source),
            ("agent", or_unset(&self.agent.value), &self.agent.source),
            (
                "session",
                or_unset(&self.session.value),
                &self.session.source,
            ),
            ("role", role, &self.role.source),
            ("tools", self.tools.value.clone(), &self.tools.source),
            (
                "claim_ttl_minutes",
                self.claim_ttl_minutes.value.to_string(),
                &self.claim_ttl_minutes.source,
            ),
            (
                "idempotency_hours",
                self.idempotency_hours.value.to_string(),
                &self.idempotency_hours.source,
            ),
            (
                "stale_after_ticks",
                self.stale_after_ticks.value.to_string(),
                &self.stale_after_ticks.source,
            ),
            (
                "messages_per_minute",
                self.messages_per_minute.value.to_string(),
                &self.messages_per_minute.source,
            ),
            (
                "conflict_window_minutes",
                self.conflict_window_minutes.value.to_string(),
                &self.conflict_window_minutes.source,
            ),
            (
                "secrets",
                self.secrets.value.as_str().to_owned(),
                &self.secrets.source,
            ),
            ("listen", self.listen.value.clone(), &self.listen.source),
            ("url", or_unset(&self.url.value), &self.url.source),
            (
                "tls_cert",
                path_or_unset(&self.tls_cert.value),
                &self.tls_cert.source,
            ),
            (
                "tls_key",
                path_or_unset(&self.tls_key.value),
                &self.tls_key.source,
            ),
            (
                "keys",
                self.keys.value.display().to_string(),
                &self.keys.source,
            ),
            ("issuer", or_unset(&self.issuer.value), &self.issuer.source),
            (
                "audience",
                or_unset(&self.audience.value),
                &self.audience.source,
            ),
            ("jwks", or_unset(&self.jwks.value), &self.jwks.source),
            (
                "issuer_workspaces",
                or_unset(&self.issuer_workspaces.value),
                &self.issuer_workspaces.source,
            ),
            (
                "issuer_roles",
                or_unset(&self.issuer_roles.value),
                &self.issuer_roles.source,
            ),
            (
                "rate_per_second",
                self.rate_per_second.value.to_string(),
                &self.rate_per_second.source,
            ),
            quota("quota_items", &self.quota_items),
            quota("quota_bytes", &self.quota_bytes),
            quota("quota_threads", &self.quota_threads),
            (
                "embedding_url",
                self.embedding.shown_url(),
                &self.embedding.url.source,
            ),
            (
                "embedding_model",
                or_unset(&self.embedding.model.value),
                &self.embedding.model.source,
            ),
            (
                "embedding_key",
                hidden(&self.embedding.key),
                &self.embedding.key.source,
            ),
        ]
    }
}

fn path_or_unset(path: &Option<PathBuf>) -> String {
    path.as_ref()
        .map_or_else(|| "-".to_owned(), |path| path.display().to_string())
}

fn hidden(secret: &Setting<Option<Secret>>) -> String {
    secret.value.as_ref().map_or("-", |_| "***").to_owned()
}

/// A quota as it is shown: 0 is none.
fn quota<'s>(name: &'static str, setting: &'s Setting<i64>) -> (&'static str, String, &'s Source) {
    let shown = match setting.value {
        0 => "off".to_owned(),
        most => most.to_string(),
    };
    (name, shown, &setting.source)
}
