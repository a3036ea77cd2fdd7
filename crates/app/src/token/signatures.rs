//! Signatures that were verified before. A client sends the same token with every call, and verifying its
//! signature takes longer than all else that a short call does.
//!
//! Only this is remembered: that a key signed a token. Whether the key still counts, and what the token
//! claims, is judged anew each time.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use understory_model::item::Hash;

use super::jwk::Public;
use super::jws::Jws;

/// Tokens that are remembered; beyond that all are forgotten, which costs each one look.
const KEPT: usize = 4_096;

/// The tokens whose signatures were verified, by their digests, and the keys that signed them.
#[derive(Default)]
pub struct Signatures {
    verified: Mutex<HashMap<Hash, Public>>,
}

impl Signatures {
    /// As [`Jws::signed_by`]. What is not signed by the key is not remembered.
    pub fn verify(&self, jws: &Jws<'_>, key: &Public) -> bool {
        let digest = jws.digest();
        let verified = || self.verified.lock().unwrap_or_else(PoisonError::into_inner);
        if verified().get(&digest) == Some(key) {
            return true;
        }
        if !jws.signed_by(key) {
            return false;
        }
        let mut verified = verified();
        if verified.len() >= KEPT {
            verified.clear();
        }
        verified.insert(digest, key.clone());
        true
    }
}

#[cfg(test)]
mod tests {
    use ring::rand::SystemRandom;
    use ring::signature::{Ed25519KeyPair, KeyPair};
    use serde_json::json;

    use super::*;
    use crate::token::jws::compact;

    fn pair() -> Ed25519KeyPair {
        let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        Ed25519KeyPair::from_pkcs8(document.as_ref()).unwrap()
    }

    fn public(pair: &Ed25519KeyPair) -> Public {
        Public::Ed25519(pair.public_key().as_ref().to_vec())
    }

    #[test]
    fn what_is_remembered_vouches_for_one_token_and_key_alone() {
        let (ours, other, signatures) = (pair(), pair(), Signatures::default());
        let token = |role: &str, by: &Ed25519KeyPair| {
            let header = json!({"alg": "EdDSA", "typ": "JWT", "kid": "k"});
            compact(&header, &json!({"role": role}), |bytes| {
                by.sign(bytes).as_ref().to_vec()
            })
        };
        let verify = |token: &str, key: &Ed25519KeyPair| {
            signatures.verify(&Jws::parse(token).unwrap(), &public(key))
        };
        let good = token("worker", &ours);
        for _ in 0..3 {
            assert!(verify(&good, &ours));
            assert!(
                !verify(&good, &other),
                "a key of the same name that took its place"
            );
            let forged = token("operator", &other);
            assert!(!verify(&forged, &ours));
            // Other claims under a signature that was verified.
            let signature = good.rsplit_once('.').unwrap().1;
            let claims = forged.rsplit_once('.').unwrap().0;
            assert!(!verify(&format!("{claims}.{signature}"), &ours));
        }
        assert_eq!(signatures.verified.lock().unwrap().len(), 1);
    }

    #[test]
    fn no_more_than_so_many_are_remembered() {
        let (ours, signatures) = (pair(), Signatures::default());
        let header = json!({"alg": "EdDSA", "typ": "JWT", "kid": "k"});
        let filler = (0..KEPT).map(|n| {
            (
                understory_model::canon::sha256(&n.to_be_bytes()),
                public(&ours),
            )
        });
        signatures.verified.lock().unwrap().extend(filler);
        let token = compact(&header, &json!({}), |bytes| {
            ours.sign(bytes).as_ref().to_vec()
        });
        assert!(signatures.verify(&Jws::parse(&token).unwrap(), &public(&ours)));
        assert_eq!(signatures.verified.lock().unwrap().len(), 1);
    }
}
