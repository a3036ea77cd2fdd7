//! Tokens: who is calling over HTTP, signed by a key of this store or by a named issuer.
//!
//! `keys` keeps the key files, `jws` and `jwk` are the formats, `verify` says yes or no, `issuer`
//! knows somebody else's public keys, `allowed` what that issuer may say, `checkpoint` what the keys
//! sign beside tokens. A token or a private key never appears in a log, an error or
//! the database.

use ring::rand::{SecureRandom, SystemRandom};
use serde_json::json;
use understory_model::canon::hex;
use understory_model::{Caller, Code, Fault, limits};

use self::keys::Signing;

pub mod allowed;
pub mod checkpoint;
pub mod issuer;
pub mod jwk;
pub mod jws;
pub mod keys;
mod signatures;
pub mod verify;

/// Who issues the tokens that a store's own keys sign, and whom they are for.
pub const ISSUER: &str = "understory";
pub const AUDIENCE: &str = "understory";

/// A random text that nobody guesses: 32 hexadecimal digits for each 16 bytes.
pub fn random(bytes: usize) -> Result<String, Fault> {
    let mut drawn = vec![0; bytes];
    SystemRandom::new()
        .fill(&mut drawn)
        .map_err(|_| Fault::new(Code::Internal, "the system gives no random numbers"))?;
    Ok(hex(&drawn))
}

/// A token for a caller, good for `seconds` from `now`, both whole seconds; and its `jti`.
pub fn issue(
    key: &Signing,
    caller: &Caller,
    now: i64,
    seconds: i64,
) -> Result<(String, String), Fault> {
    if !(1..=limits::TOKEN_SECONDS).contains(&seconds) {
        let days = limits::TOKEN_SECONDS / 86_400;
        let problem = format!("a token is good for 1 second to {days} days");
        return Err(Fault::invalid("ttl", problem));
    }
    let jti = random(16)?;
    let header = json!({ "alg": "EdDSA", "kid": key.kid(), "typ": "JWT" });
    let claims = json!({
        "iss": ISSUER,
        "aud": AUDIENCE,
        "agent_id": caller.agent,
        "workspace_id": caller.workspace,
        "role": caller.role.as_str(),
        "session_id": caller.session,
        "iat": now,
        "exp": now + seconds,
        "jti": jti,
    });
    let token = jws::compact(&header, &claims, |signed| key.sign(signed));
    Ok((token, jti))
}
