//! Public keys, as the JSON that key sets are made of.
//!
//! Only kinds that have a private half are known here. There is no way to write a secret that is
//! shared, so no public key can be taken for one.

use understory_model::limits;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{self, RsaParameters, UnparsedPublicKey, VerificationAlgorithm};
use serde::Deserialize;
use serde_json::{Value, json};

/// A key that signatures can be checked with.
#[derive(Clone, PartialEq, Eq)]
pub enum Public {
    Ed25519(Vec<u8>),
    /// Of the two NIST curves that tokens use, the point as it is.
    P256(Vec<u8>),
    P384(Vec<u8>),
    Rsa {
        n: Vec<u8>,
        e: Vec<u8>,
    },
}

/// A key of a set, and the one algorithm that the set limits it to, if it does.
#[derive(Clone)]
pub struct Listed {
    pub kid: String,
    pub key: Public,
    alg: Option<String>,
}

impl Listed {
    /// Whether the set lets this key be used with that algorithm.
    pub fn allows(&self, alg: &str) -> bool {
        self.alg.as_deref().is_none_or(|only| only == alg)
    }
}

impl Public {
    /// Whether a signature is this key's. The algorithm must fit the kind of key.
    pub fn verifies(&self, alg: &str, message: &[u8], signed: &[u8]) -> bool {
        let plain = |by: &'static dyn VerificationAlgorithm, key: &[u8]| {
            UnparsedPublicKey::new(by, key)
                .verify(message, signed)
                .is_ok()
        };
        match (self, alg) {
            (Public::Ed25519(key), "EdDSA" | "Ed25519") => plain(&signature::ED25519, key),
            (Public::P256(key), "ES256") => plain(&signature::ECDSA_P256_SHA256_FIXED, key),
            (Public::P384(key), "ES384") => plain(&signature::ECDSA_P384_SHA384_FIXED, key),
            (Public::Rsa { n, e }, alg) => rsa(alg).is_some_and(|by| {
                signature::RsaPublicKeyComponents { n, e }
                    .verify(by, message, signed)
                    .is_ok()
            }),
            _ => false,
        }
    }

    /// One key of a set; none if it is of a kind that is not known, or not for signatures.
    fn read(jwk: &Value) -> Option<Public> {
        let text = |name: &str| jwk[name].as_str();
        let bytes = |name: &str| URL_SAFE_NO_PAD.decode(text(name)?).ok();
        if text("use").is_some_and(|purpose| purpose != "sig") {
            return None;
        }
        let point = |size: usize| {
            let (x, y) = (bytes("x")?, bytes("y")?);
            let right = x.len() == size && y.len() == size;
            right.then(|| [&[4][..], &x, &y].concat())
        };
        match (text("kty")?, text("crv")) {
            ("OKP", Some("Ed25519")) => bytes("x")
                .filter(|key| key.len() == 32 && !is_small_order(key))
                .map(Public::Ed25519),
            ("EC", Some("P-256")) => point(32).map(Public::P256),
            ("EC", Some("P-384")) => point(48).map(Public::P384),
            ("RSA", _) => Some(Public::Rsa {
                n: bytes("n")?,
                e: bytes("e")?,
            }),
            _ => None,
        }
    }
}

/// Whether an Ed25519 key is one of the few points for which anybody can write a signature that
/// verifies. No key that was generated is one of them.
fn is_small_order(key: &[u8]) -> bool {
    // The y coordinates, lowest byte first; the highest bit is the sign of x and does not matter.
    const ORDER_8: [[u8; 32]; 2] = [
        [
            0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef,
            0x98, 0xf0, 0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88,
            0x6d, 0x53, 0xfc, 0x05,
        ],
        [
            0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10,
            0x67, 0x0f, 0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77,
            0x92, 0xac, 0x03, 0x7a,
        ],
    ];
    let [first, middle @ .., last] = key else {
        return false;
    };
    let last = last & 0x7f;
    // 0 and 1; and p - 1, p and p + 1, where p is 2^255 - 19.
    let low = *first <= 1 && middle.iter().all(|byte| *byte == 0) && last == 0;
    let high = *first >= 0xec && middle.iter().all(|byte| *byte == 0xff) && last == 0x7f;
    let eighth = |point: &[u8; 32]| key[..31] == point[..31] && last == point[31];
    low || high || ORDER_8.iter().any(eighth)
}

fn rsa(alg: &str) -> Option<&'static RsaParameters> {
    Some(match alg {
        "RS256" => &signature::RSA_PKCS1_2048_8192_SHA256,
        "RS384" => &signature::RSA_PKCS1_2048_8192_SHA384,
        "RS512" => &signature::RSA_PKCS1_2048_8192_SHA512,
        "PS256" => &signature::RSA_PSS_2048_8192_SHA256,
        "PS384" => &signature::RSA_PSS_2048_8192_SHA384,
        "PS512" => &signature::RSA_PSS_2048_8192_SHA512,
        _ => return None,
    })
}

/// The keys of a set that can be used; those of other kinds are passed over.
pub fn read_set(text: &str) -> Option<Vec<Listed>> {
    #[derive(Deserialize)]
    struct Set {
        keys: Vec<Value>,
    }
    /// What is said of a key beside the key itself.
    #[derive(Deserialize)]
    struct Named {
        kid: String,
        alg: Option<Value>,
    }
    let set: Set = serde_json::from_str(text).ok()?;
    let listed = set
        .keys
        .iter()
        .take(limits::KEY_SET_KEYS)
        .filter_map(|jwk| {
            let Named { kid, alg } = Named::deserialize(jwk).ok()?;
            Some(Listed {
                kid,
                key: Public::read(jwk)?,
                // An algorithm that is not named by a text is as none.
                alg: alg.and_then(|alg| alg.as_str().map(str::to_owned)),
            })
        });
    Some(listed.collect())
}

/// What precedes an Ed25519 key in the usual wrapping of public keys (RFC 8410).
const SPKI: [u8; 12] = [48, 42, 48, 5, 6, 3, 43, 101, 112, 3, 33, 0];

/// An Ed25519 key from PEM text.
pub fn read_pem(text: &str) -> Option<Public> {
    let (_, rest) = text.split_once("-----BEGIN PUBLIC KEY-----")?;
    let (body, _) = rest.split_once("-----END PUBLIC KEY-----")?;
    let body: String = body.split_whitespace().collect();
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(body)
        .ok()?;
    let key = bytes.strip_prefix(&SPKI)?;
    (key.len() == 32).then(|| Public::Ed25519(key.to_vec()))
}

/// An Ed25519 key as a member of a set.
pub fn ed25519(kid: &str, public: &[u8]) -> Value {
    json!({
        "kty": "OKP",
        "crv": "Ed25519",
        "alg": "EdDSA",
        "use": "sig",
        "kid": kid,
        "x": URL_SAFE_NO_PAD.encode(public),
    })
}

#[cfg(test)]
mod tests {
    use ring::rand::SystemRandom;
    use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};

    use super::*;

    /// A throw-away key, and its signature of `message`.
    const RSA_N: &str = "lp6Mh1H70PcL46ULuX8D7Lr4WQNQsX1XqDpECmwCEGl8QpUlI_jx3nk_sRstPQHgX3zLqs2ZGcF9-CXp8U8DfCsiEMdyPWh1PnVFDC2AIFGlwpXaaalwTrpAZe4_XXmEJTLnaC-kfPJ3UE8FcMhiEvax9DrIkC32qJoaeKGUO0Snb4bPVfjh9jgH86pqc665lMLt7-RrELgm-VuFpzFRhrNQ8kbHmqU-9ACTy0x-y125fFHmSiOCpP_Zrru8UbmJtrzDy-WOU3EZ85yJLFOG1obqHOTKI_kAhK-X-sMRNv5WwdN8zZYRVdPP5D6LkKYUVXh_jU5J7Ibd_jkkloA2nQ";
    const RSA_SIGNED: &str = "ffkU-_EP-3casejjJaFrH4ZEiMzinEuzmVpSLALJqBqdweqg9WH2b4blM-L4wjn05jP4GYvvojEBxVGd99zfUFdoDKsxqqzPvq9zS4M7m244WSMd0pE9iJ23OFOA7WoUR_xdgxIu8VwNYjtpv7yw5Ra9qNAm1MvFLnOvDyfVi-_DLQFmT5f324VU71OSBsiZXxhT8ShX9vvY55OBnEyJ4hi5jMC1h1IRd6fnXZk-aFNG2qeroxVYJ0KLvF_udEN96YPOikkqhwqMgAPeFOz8Ik02IzLiJ3kE5b7x37uuwuzmGtKeZZtdCh5DN9zg0WO0SapzP5QuowgGMVqhVPVJVA";

    fn read(jwk: Value) -> Option<Listed> {
        read_set(&json!({ "keys": [jwk] }).to_string())?.pop()
    }

    #[test]
    fn a_key_verifies_by_its_own_algorithms_alone() {
        let jwk = json!({"kty": "RSA", "kid": "r", "n": RSA_N, "e": "AQAB", "alg": "RS256"});
        let listed = read(jwk).unwrap();
        let signed = URL_SAFE_NO_PAD.decode(RSA_SIGNED).unwrap();
        assert!(listed.key.verifies("RS256", b"message", &signed));
        assert!(listed.allows("RS256") && !listed.allows("PS256"));
        for alg in ["PS256", "RS384", "EdDSA", "ES256", "HS256", "none", ""] {
            assert!(!listed.key.verifies(alg, b"message", &signed), "{alg}");
        }
        assert!(!listed.key.verifies("RS256", b"massage", &signed));

        let random = SystemRandom::new();
        let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let pair =
            EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, made.as_ref(), &random)
                .unwrap();
        let point = pair.public_key().as_ref();
        let part = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let jwk = json!({"kty": "EC", "crv": "P-256", "kid": "e",
                         "x": part(&point[1..33]), "y": part(&point[33..])});
        let listed = read(jwk).unwrap();
        let signed = pair.sign(&random, b"message").unwrap();
        assert!(listed.key.verifies("ES256", b"message", signed.as_ref()));
        for alg in ["ES384", "RS256", "EdDSA", "HS256", "none"] {
            assert!(
                !listed.key.verifies(alg, b"message", signed.as_ref()),
                "{alg}"
            );
        }
    }

    #[test]
    fn a_key_for_which_anybody_can_sign_is_passed_over() {
        let mut key = [0; 32];
        for sign in [0, 0x80] {
            for first in [0, 1] {
                key[0] = first;
                key[31] = sign;
                assert!(read(ed25519("k", &key)).is_none(), "{key:?}");
            }
        }
        let mut key = [0xff; 32];
        for first in 0xec..=0xee {
            key[0] = first;
            assert!(read(ed25519("k", &key)).is_none(), "{key:?}");
        }
        // An order of 8, with either sign.
        let mut key = unhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05");
        assert!(read(ed25519("k", &key)).is_none());
        key[31] |= 0x80;
        assert!(read(ed25519("k", &key)).is_none());
        key[0] ^= 1;
        assert!(read(ed25519("k", &key)).is_some());
    }

    fn unhex(text: &str) -> Vec<u8> {
        understory_model::canon::unhex(text).unwrap()
    }

    #[test]
    fn what_is_no_key_for_signatures_is_passed_over() {
        let good = ed25519("k", &[7; 32]);
        assert!(read(good.clone()).is_some());
        for (field, value) in [
            ("kty", json!("oct")),
            ("kty", json!("EC")),
            ("crv", json!("X25519")),
            ("use", json!("enc")),
            ("x", json!("AAAA")),
            ("x", json!("not base64!")),
            ("kid", json!(5)),
        ] {
            let mut jwk = good.clone();
            jwk[field] = value;
            assert!(read(jwk.clone()).is_none(), "{jwk}");
        }
        assert!(read(json!({"kty": "oct", "kid": "k", "k": "c2VjcmV0"})).is_none());
        assert!(read_set("[]").is_none() && read_set("{").is_none());
    }
}
