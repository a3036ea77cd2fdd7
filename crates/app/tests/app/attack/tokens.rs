//! Tokens that no server may believe.

use serde_json::{Value, json};
use understory::token;
use understory::token::jws;
use understory_model::Role;

use crate::web::{AppState, now};

/// The `jti` of the token that is revoked; the test revokes it.
pub const REVOKED: &str = "revoked";

/// Tokens that must not be believed, each by its fault.
pub fn bad_tokens(
    site: &AppState,
    role: Role,
    workspace: &str,
) -> Vec<(&'static str, Option<String>)> {
    let (header, mut claims) = site.good();
    claims["role"] = json!(role.as_str());
    claims["workspace_id"] = json!(workspace);
    let with = |claim: &str, value: Value| {
        let mut claims = claims.clone();
        claims[claim] = value;
        Some(site.signed(&header, &claims))
    };
    let mut none = header.clone();
    none["alg"] = json!("none");
    let other = tempfile::tempdir().unwrap();
    let other = token::keys::Keys::in_folder(other.path()).rotate().unwrap();
    vec![
        ("missing", None),
        ("garbage", Some("garbage".to_owned())),
        (
            "unsigned",
            Some(jws::compact(&none, &claims, |_| Vec::new())),
        ),
        (
            "another key's",
            Some(jws::compact(&header, &claims, |bytes| other.sign(bytes))),
        ),
        ("expired", with("exp", json!(now() - 60))),
        ("for somebody else", with("aud", json!("other"))),
        ("another issuer's", with("iss", json!("other"))),
        ("from the future", with("iat", json!(now() + 600))),
        ("of no role", with("role", json!("root"))),
        ("revoked", with("jti", json!(REVOKED))),
    ]
}
