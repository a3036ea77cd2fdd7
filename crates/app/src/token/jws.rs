//! A signed token's compact form: three parts of base64url, taken apart and put together.
//!
//! What it reads is not to be believed before `signed_by` has said yes. The algorithm is the key's
//! alone: what the token says of it can only be refused, never chosen by.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::{Map, Value};
use understory_model::canon::sha256;
use understory_model::item::Hash;
use understory_model::limits;

use super::jwk::{Listed, Public};

/// A token that has the right shape.
pub struct Jws<'t> {
    pub kid: String,
    pub claims: Map<String, Value>,
    alg: String,
    signed: &'t str,
    signature: Vec<u8>,
}

impl<'t> Jws<'t> {
    /// Takes a token apart; none if it is not exactly of this form.
    pub fn parse(token: &'t str) -> Option<Jws<'t>> {
        if token.len() > limits::TOKEN_BYTES {
            return None;
        }
        let (signed, signature) = token.rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        let header = object(header)?;
        let text = |name: &str| header.get(name).and_then(Value::as_str);
        let typed = text("typ").is_some_and(|typ| {
            typ.eq_ignore_ascii_case("JWT") || typ.eq_ignore_ascii_case("at+jwt")
        });
        // `crit` names what must be understood, and nothing is.
        if !typed || header.contains_key("crit") {
            return None;
        }
        Some(Jws {
            kid: text("kid")?.to_owned(),
            alg: text("alg")?.to_owned(),
            claims: object(claims)?,
            signed,
            signature: URL_SAFE_NO_PAD.decode(signature).ok()?,
        })
    }

    /// A claim that is a text.
    pub fn text(&self, claim: &str) -> Option<&str> {
        self.claims.get(claim).and_then(Value::as_str)
    }

    /// A claim that is an integer.
    pub fn integer(&self, claim: &str) -> Option<i64> {
        self.claims.get(claim).and_then(Value::as_i64)
    }

    /// Whether a key set lets the key be used for a token like this.
    pub fn allowed_by(&self, key: &Listed) -> bool {
        key.allows(&self.alg)
    }

    /// Whether this key signed it, by an algorithm of this key.
    pub fn signed_by(&self, key: &Public) -> bool {
        key.verifies(&self.alg, self.signed.as_bytes(), &self.signature)
    }

    /// What stands for this token and its signature, and for no other.
    pub fn digest(&self) -> Hash {
        sha256(&[self.signed.as_bytes(), b"\0", &self.signature].concat())
    }
}

/// Writes a token; `sign` signs its first two parts.
pub fn compact(header: &Value, claims: &Value, sign: impl FnOnce(&[u8]) -> Vec<u8>) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let signed = format!("{}.{}", part(header), part(claims));
    let signature = URL_SAFE_NO_PAD.encode(sign(signed.as_bytes()));
    format!("{signed}.{signature}")
}

fn object(part: &str) -> Option<Map<String, Value>> {
    let bytes = URL_SAFE_NO_PAD.decode(part).ok()?;
    let Once(map) = serde_json::from_slice(&bytes).ok()?;
    Some(map)
}

/// An object that says nothing twice: two readers of one that does may each believe another half.
struct Once(Map<String, Value>);

impl<'de> Deserialize<'de> for Once {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Once, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Once;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Once, A::Error> {
                let mut read = Map::new();
                while let Some((name, value)) = map.next_entry::<String, Value>()? {
                    if read.insert(name, value).is_some() {
                        return Err(A::Error::custom("duplicate name"));
                    }
                }
                Ok(Once(read))
            }
        }
        from.deserialize_map(Reader)
    }
}
