//! Tokens, key sets and key files.
//!
//! The first line of an input says what the rest is: `token` as it is sent, `signed` and `forged`
//! two objects (header and claims) signed by the right key or another, `jwks` a key set, `key` a
//! key file.

use std::fs;
use std::path::PathBuf;

use serde_json::{Map, Value, json};
use tempfile::TempDir;
use understory::token::keys::{Keys, Signing};
use understory::token::verify::{Judged, Verified, Verifier};
use understory::token::{self, jwk, jws};
use understory_model::name::is_name;
use understory_model::{Caller, Role, Via, limits};

use crate::chance::Chance;
use crate::target::{Outcome, Target, check, check_fault, shape, text, value};
use crate::{json, mutate};

/// When every token here is judged, in whole seconds.
const NOW: i64 = 1_771_329_600;
const ALGORITHMS: [&str; 9] = [
    "EdDSA", "Ed25519", "ES256", "ES384", "RS256", "PS512", "HS256", "none", "",
];

pub struct Tokens {
    verifier: Verifier,
    key: Signing,
    stranger: Signing,
    issued: String,
    /// Where damaged key files are put, and the whole one that they are made from.
    files: TempDir,
    file: (PathBuf, Vec<u8>),
    /// The folders of the keys go with it.
    _folders: [TempDir; 2],
}

impl Tokens {
    pub fn new() -> Tokens {
        let folder = || {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let keys = Keys::in_folder(folder.path().join("keys"));
            let key = keys.signing().expect("a key");
            (folder, keys, key)
        };
        let ((own, keys, key), (other, _, stranger)) = (folder(), folder());
        let (issued, _) = token::issue(&key, &caller(), NOW - 60, 3_600).expect("a token");
        let path = keys.folder().join(format!("{}.key", key.kid()));
        let whole = fs::read(&path).expect("the key file");
        let files = tempfile::tempdir().expect("a temporary folder");
        Tokens {
            verifier: Verifier::new(keys, None, "default".into()),
            file: (path, whole),
            key,
            stranger,
            issued,
            files,
            _folders: [own, other],
        }
    }

    fn judged(&self, token: &str) -> Result<Option<Verified>, String> {
        match self.verifier.judge(token, NOW, true) {
            Judged::Good(verified) => Ok(Some(verified)),
            Judged::Bad(fault) => {
                check_fault(&fault)?;
                let leaks = token.len() > 40
                    && fault
                        .message
                        .contains(&token[..token.floor_char_boundary(40)]);
                check(!leaks, || format!("the refusal shows the token: {fault:?}"))?;
                Ok(None)
            }
            Judged::Refused(_) => Ok(None),
            Judged::Refresh(_) => Err("there is no other issuer to ask".into()),
        }
    }

    fn token(&self, token: &str) -> Outcome {
        // Only the issued one is good. Anything else says that a signature was not looked at.
        let token = token.replace("ISSUED", &self.issued);
        let good = self.judged(&token)?.is_some();
        check(good == (token == self.issued), || {
            format!("judged {good}: {token}")
        })?;
        Ok(format!("token {good}"))
    }

    fn made(&self, rest: &[u8], right_key: bool) -> Outcome {
        let mut parts = serde_json::Deserializer::from_slice(rest).into_iter::<Value>();
        let (Some(Ok(mut header)), Some(Ok(claims))) = (parts.next(), parts.next()) else {
            return Ok("no objects".into());
        };
        if header["kid"] == "KID" {
            header["kid"] = json!(self.key.kid());
        }
        let key = if right_key { &self.key } else { &self.stranger };
        let token = jws::compact(&header, &claims, |signed| key.sign(signed));
        let verified = self.judged(&token)?;
        let Some(verified) = verified else {
            return Ok(format!(
                "refused {}",
                claims.as_object().map_or(0, Map::len).min(12)
            ));
        };
        check(right_key, || {
            format!("a stranger's token was accepted: {header} {claims}")
        })?;
        check(token.len() <= limits::TOKEN_BYTES, || {
            "a long token was accepted".into()
        })?;
        check(header["kid"] == self.key.kid(), || {
            format!("accepted with {header}")
        })?;
        check(header.get("crit").is_none(), || {
            format!("accepted with {header}")
        })?;
        check(
            matches!(header["alg"].as_str(), Some("EdDSA" | "Ed25519")),
            || format!("accepted with {header}"),
        )?;
        claimed(&claims, &verified)?;
        Ok(format!(
            "accepted {}",
            claims.as_object().map_or(0, Map::len).min(12)
        ))
    }

    fn key_set(rest: &str) -> Outcome {
        let Some(keys) = jwk::read_set(rest) else {
            return Ok("no set".into());
        };
        check(keys.len() <= 64, || format!("{} keys", keys.len()))?;
        for listed in &keys {
            for alg in ALGORITHMS {
                for signature in [&[0_u8; 64][..], &[0; 96], &[0; 256], &[1], &[]] {
                    check(!listed.key.verifies(alg, b"message", signature), || {
                        format!(
                            "{} says that nobody's signature is its own by {alg}",
                            listed.kid
                        )
                    })?;
                }
            }
        }
        Ok(format!("{} keys", keys.len().min(5)))
    }

    fn key_file(&self, rest: &[u8]) -> Outcome {
        let keys = self.files.path().join("keys");
        let name = self.file.0.file_name().unwrap_or_default();
        private_folder(&keys).map_err(|error| error.to_string())?;
        private_file(&keys.join(name), rest).map_err(|error| error.to_string())?;
        let keys = Keys::in_folder(&keys);
        let way = match keys.public() {
            Ok(public) => {
                let right = public.len() == 1 && public[0].0 == self.key.kid();
                check(right, || "a damaged key file gave other keys".into())?;
                "a key".into()
            }
            Err(fault) => {
                check_fault(&fault)?;
                let secret = value(&self.file.1).unwrap_or_default();
                let secret = secret["pkcs8"].as_str().unwrap_or("-").to_owned();
                check(!format!("{fault:?}").contains(&secret), || {
                    "a key is shown".into()
                })?;
                shape(fault.message.rsplit(".key").next().unwrap_or_default())
            }
        };
        if let Err(fault) = keys.list() {
            check_fault(&fault)?;
        }
        Ok(way)
    }
}

impl Target for Tokens {
    fn run(&mut self, input: &[u8]) -> Outcome {
        let at = input
            .iter()
            .position(|byte| *byte == b'\n')
            .unwrap_or(input.len());
        let (first, rest) = input.split_at(at);
        let rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        match first {
            b"token" => self.token(&text(rest)),
            b"signed" => self.made(rest, true),
            b"forged" => self.made(rest, false),
            b"jwks" => Tokens::key_set(&text(rest)),
            b"key" => self.key_file(rest),
            _ => self.token(&text(input)),
        }
    }

    fn make(&mut self, chance: &mut Chance, known: &[Vec<u8>]) -> Vec<u8> {
        let words = self.words();
        match chance.below(8) {
            0 | 1 => {
                let mut token = self.issued.clone().into_bytes();
                mutate::mutate(chance, &mut token, &[".", "=", "-", "_", "A", "eyJ"], &[]);
                [b"token\n".to_vec(), token].concat()
            }
            2 => {
                let mut file = self.file.1.clone();
                mutate::mutate(chance, &mut file, words, &[]);
                [b"key\n".to_vec(), file].concat()
            }
            3..=5 => {
                let (mut header, mut claims) = good();
                for _ in 0..chance.few(3) {
                    let part = if chance.one_in(3) {
                        &mut header
                    } else {
                        &mut claims
                    };
                    json::mutate(chance, part, words);
                }
                let who = if chance.one_in(5) { "forged" } else { "signed" };
                format!("{who}\n{header}\n{claims}").into_bytes()
            }
            _ => {
                let mut input = chance.pick(known).clone();
                mutate::mutate(chance, &mut input, words, known);
                input
            }
        }
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "iss",
            "aud",
            "understory",
            "agent_id",
            "workspace_id",
            "role",
            "operator",
            "session_id",
            "iat",
            "exp",
            "nbf",
            "jti",
            "1771329540",
            "1771333140",
            "kid",
            "KID",
            "alg",
            "EdDSA",
            "typ",
            "JWT",
            "crit",
            "ISSUED",
            "kty",
            "RSA",
            "OKP",
            "EC",
            "x",
            "n",
            "e",
        ]
    }
}

fn caller() -> Caller {
    Caller {
        workspace: "garden-shed".into(),
        origin: None,
        agent: "ada".into(),
        session: "sess_ada".into(),
        role: Role::Worker,
        project: "default".into(),
        via: Via::Local,
    }
}

fn good() -> (Value, Value) {
    let header = json!({ "alg": "EdDSA", "kid": "KID", "typ": "JWT" });
    let claims = json!({
        "iss": "understory", "aud": "understory", "agent_id": "ada", "workspace_id": "garden-shed",
        "role": "worker", "session_id": "sess_ada", "iat": NOW - 60, "exp": NOW + 600, "jti": "j1",
    });
    (header, claims)
}

/// What an accepted token must have said.
fn claimed(claims: &Value, verified: &Verified) -> Result<(), String> {
    let text = |name: &str| claims[name].as_str().unwrap_or_default();
    let number = |name: &str| claims[name].as_i64().unwrap_or(i64::MAX);
    let (issued, expires) = (number("iat"), number("exp"));
    let leeway = limits::TOKEN_LEEWAY_SECONDS;
    let caller = &verified.caller;
    let for_us = claims["aud"] == "understory"
        || claims["aud"]
            .as_array()
            .is_some_and(|all| all.contains(&json!("understory")));
    let holds = for_us
        && text("iss") == "understory"
        && (0..=NOW + leeway).contains(&issued)
        && expires > NOW - leeway
        && expires - issued <= limits::TOKEN_SECONDS
        && claims
            .get("nbf")
            .is_none_or(|from| from.as_i64().is_some_and(|from| from <= NOW + leeway))
        && is_name(&caller.agent)
        && is_name(&caller.workspace)
        && caller.agent == text("agent_id")
        && caller.workspace == text("workspace_id")
        && caller.session == text("session_id")
        && caller.role.as_str() == text("role")
        && caller.via == Via::Token
        && !text("jti").is_empty();
    check(holds, || format!("accepted: {claims}"))
}

fn private_folder(path: &std::path::Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
}

fn private_file(path: &std::path::Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::write(path, bytes)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))
}
