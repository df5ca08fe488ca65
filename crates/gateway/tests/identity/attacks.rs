//! Tokens that must not count, as a table: what is wrong, which guard sees it, and what is answered.

use serde_json::{Value, json};

use crate::mint::{KEYS, NOW, Token, encoded, good, judged, of_bytes};

/// One attack.
pub(crate) struct Attack {
    pub(crate) name: &'static str,
    /// The guards that see it; without them it works.
    pub(crate) guards: &'static [&'static str],
    pub(crate) code: &'static str,
    /// Lines of the operator's file.
    pub(crate) provider: &'static str,
    pub(crate) token: fn() -> String,
    /// What the issuer publishes.
    pub(crate) keys: fn() -> Value,
}

const TENANT: &str = "claims.tenant = \"tid\"";

fn published() -> Value {
    KEYS.published()
}

/// The issuer's RSA key with this said of it, and one that is of use.
fn said_of_the_key(name: &str, value: impl Into<Value>) -> Value {
    let mut key = KEYS.rsa.jwk();
    key[name] = value.into();
    json!({ "keys": [key, KEYS.ed.jwk()] })
}

fn of_the_issuer(token: Token) -> String {
    token.of(&KEYS.rsa)
}

const fn attack(
    name: &'static str,
    guards: &'static [&'static str],
    code: &'static str,
    token: fn() -> String,
) -> Attack {
    Attack { name, guards, code, provider: "", token, keys: published }
}

const CLAIMS: &[&str] = &["token-claims"];

pub(crate) const ATTACKS: &[Attack] = &[
    // The token says how it is judged.
    attack("alg none", &["token-algorithms"], "FH-TOKEN-ALGORITHM", || {
        good().header("alg", "none").with(|_| Vec::new())
    }),
    attack("alg NoNe", &["token-algorithms"], "FH-TOKEN-ALGORITHM", || {
        good().header("alg", "NoNe").with(|_| Vec::new())
    }),
    attack("HS256 with the public key as its secret", &["token-algorithms"], "FH-TOKEN-ALGORITHM", || {
        good().header("alg", "HS256").with(|message| hmac(&KEYS.rsa.modulus(), message))
    }),
    Attack {
        provider: "algorithms = [\"ES256\"]",
        ..attack(
            "an algorithm the operator did not list",
            &["token-algorithms"],
            "FH-TOKEN-ALGORITHM",
            || of_the_issuer(good()),
        )
    },
    attack("its own key in the header", &["token-embedded-key"], "FH-TOKEN-SIGNATURE", || {
        good().header("jwk", KEYS.foreign.jwk()).signed(&KEYS.foreign)
    }),
    attack("its own key in the header, by its own name", &["token-embedded-key"], "FH-TOKEN-KEY", || {
        good().header("jwk", KEYS.foreign.jwk()).of(&KEYS.foreign)
    }),
    attack("another's signature under the issuer's key", &["token-signature"], "FH-TOKEN-SIGNATURE", || {
        good().signed(&KEYS.foreign)
    }),
    attack("claims changed after signing", &["token-signature"], "FH-TOKEN-SIGNATURE", || {
        let token = of_the_issuer(good());
        let parts: Vec<&str> = token.split('.').collect();
        let claims = good().claim("sub", "root").claims.to_string();
        format!("{}.{}.{}", parts[0], encoded(claims.as_bytes()), parts[2])
    }),
    attack("no signature", &["token-signature"], "FH-TOKEN-SIGNATURE", || good().with(|_| Vec::new())),
    attack("a critical header", &["token-critical"], "FH-TOKEN-MALFORMED", || {
        of_the_issuer(good().header("crit", json!(["exp"])))
    }),
    attack("an unencoded payload", &["token-critical"], "FH-TOKEN-MALFORMED", || {
        of_the_issuer(good().header("b64", false).header("crit", json!(["b64"])))
    }),
    // The key says what it is for.
    Attack {
        keys: || said_of_the_key("use", "enc"),
        ..attack("a key for encryption", &["token-key-fits"], "FH-TOKEN-KEY", || of_the_issuer(good()))
    },
    Attack {
        keys: || said_of_the_key("key_ops", json!(["encrypt"])),
        ..attack("a key for other operations", &["token-key-fits"], "FH-TOKEN-KEY", || of_the_issuer(good()))
    },
    Attack {
        keys: || said_of_the_key("alg", "PS256"),
        ..attack("a key for another algorithm", &["token-key-fits"], "FH-TOKEN-KEY", || of_the_issuer(good()))
    },
    // Read in two ways.
    attack("a claim twice", &["token-doubled-keys"], "FH-TOKEN-MALFORMED", || {
        with_more("", "\"sub\":\"root\",")
    }),
    attack("a header twice", &["token-doubled-keys"], "FH-TOKEN-MALFORMED", || {
        with_more("\"alg\":\"none\",", "")
    }),
    attack("a claim twice, deep inside", &["token-doubled-keys"], "FH-TOKEN-MALFORMED", || {
        with_more("", "\"act\":{\"sub\":\"a\",\"sub\":\"b\"},")
    }),
    attack("a token of 1 MiB", &["token-length"], "FH-TOKEN-SIZE", || {
        of_the_issuer(good().claim("padding", "x".repeat(1 << 20)))
    }),
    // Time.
    attack("expired by a second", &["token-expired"], "FH-TOKEN-EXPIRED", || {
        of_the_issuer(good().claim("exp", NOW - 1))
    }),
    attack("expired now", &["token-expired"], "FH-TOKEN-EXPIRED", || of_the_issuer(good().claim("exp", NOW))),
    Attack {
        provider: "leeway = \"30s\"",
        ..attack("expired beyond the leeway", &["token-expired"], "FH-TOKEN-EXPIRED", || {
            of_the_issuer(good().claim("exp", NOW - 30))
        })
    },
    attack("valid from the next second on", &["token-early"], "FH-TOKEN-EARLY", || {
        of_the_issuer(good().claim("nbf", NOW + 1))
    }),
    // For somebody else, or from somebody else.
    attack("another audience", &["token-audience"], "FH-TOKEN-AUDIENCE", || {
        of_the_issuer(good().claim("aud", "https://other.example.com"))
    }),
    attack("an audience that begins as ours", &["token-audience"], "FH-TOKEN-AUDIENCE", || {
        of_the_issuer(good().claim("aud", "https://mcp.example.com.evil.example"))
    }),
    attack("no audience in the list", &["token-audience"], "FH-TOKEN-AUDIENCE", || {
        of_the_issuer(good().claim("aud", json!([])))
    }),
    attack("another issuer", &["token-issuer"], "FH-TOKEN-ISSUER", || {
        of_the_issuer(good().claim("iss", "https://evil.example.com"))
    }),
    attack("the issuer with a slash", &["token-issuer"], "FH-TOKEN-ISSUER", || {
        of_the_issuer(good().claim("iss", "https://idp.example.com/"))
    }),
    attack("a list of issuers with the right one in it", &["token-issuer"], "FH-TOKEN-CLAIM", || {
        of_the_issuer(good().claim("iss", json!(["https://idp.example.com"])))
    }),
    attack("no issuer", &["token-issuer"], "FH-TOKEN-CLAIM", || of_the_issuer(good().without("iss"))),
    // Another kind of token.
    attack("an ID token, by its nonce", &["token-kind"], "FH-TOKEN-KIND", || {
        of_the_issuer(good().header("typ", "JWT").claim("nonce", "n"))
    }),
    attack("an ID token, by the hash of its access token", &["token-kind"], "FH-TOKEN-KIND", || {
        let mut token = good().claim("at_hash", "h");
        token.header.as_object_mut().unwrap().remove("typ");
        of_the_issuer(token)
    }),
    attack("an ID token, by a claim of its issuer", &["token-kind"], "FH-TOKEN-KIND", || {
        of_the_issuer(good().header("typ", "JWT").claim("typ", "ID"))
    }),
    attack("a refresh token", &["token-kind"], "FH-TOKEN-KIND", || {
        of_the_issuer(good().header("typ", "JWT").claim("typ", "Refresh"))
    }),
    attack("a logout token", &["token-kind"], "FH-TOKEN-KIND", || {
        of_the_issuer(good().header("typ", "logout+jwt").claim("events", json!({})))
    }),
    Attack {
        provider: "token_types = [\"at+jwt\"]",
        ..attack("no declared access token where one is wanted", &["token-kind"], "FH-TOKEN-KIND", || {
            of_the_issuer(good().header("typ", "JWT"))
        })
    },
    attack("a token that is bound to a key", &["token-bound"], "FH-TOKEN-KIND", || {
        of_the_issuer(good().claim("cnf", json!({ "jkt": "x" })))
    }),
    // Without a tenant.
    Attack {
        provider: TENANT,
        ..attack("no tenant", &["token-tenant"], "FH-TOKEN-TENANT", || of_the_issuer(good().without("tid")))
    },
    Attack {
        provider: TENANT,
        ..attack("an empty tenant", &["token-claims", "token-tenant"], "FH-TOKEN-CLAIM", || {
            of_the_issuer(good().claim("tid", ""))
        })
    },
    Attack {
        provider: TENANT,
        ..attack("a list of tenants", &["token-claims", "token-tenant"], "FH-TOKEN-CLAIM", || {
            of_the_issuer(good().claim("tid", json!(["t1", "t2"])))
        })
    },
    // Those who act for it.
    attack("a chain of nine actors", &["token-actors"], "FH-TOKEN-CLAIM", || {
        let act = (0..9).fold(Value::Null, |inner, number| match inner {
            Value::Null => json!({ "sub": format!("a{number}") }),
            inner => json!({ "sub": format!("a{number}"), "act": inner }),
        });
        of_the_issuer(good().claim("act", act))
    }),
    // Claims of another type than they have.
    attack("aud is a number", CLAIMS, "FH-TOKEN-CLAIM", || of_the_issuer(good().claim("aud", 1))),
    attack("aud is an object", CLAIMS, "FH-TOKEN-CLAIM", || {
        of_the_issuer(good().claim("aud", json!({ "https://mcp.example.com": true })))
    }),
    attack("aud has something else in it", CLAIMS, "FH-TOKEN-CLAIM", || {
        of_the_issuer(good().claim("aud", json!(["https://mcp.example.com", 1])))
    }),
    attack("aud is null", CLAIMS, "FH-TOKEN-CLAIM", || of_the_issuer(good().claim("aud", Value::Null))),
    attack("no aud", CLAIMS, "FH-TOKEN-CLAIM", || of_the_issuer(good().without("aud"))),
    attack("sub is a number", CLAIMS, "FH-TOKEN-CLAIM", || of_the_issuer(good().claim("sub", 7))),
    attack("sub is a list", CLAIMS, "FH-TOKEN-CLAIM", || of_the_issuer(good().claim("sub", json!(["ann"])))),
    attack("sub is empty", CLAIMS, "FH-TOKEN-CLAIM", || of_the_issuer(good().claim("sub", ""))),
    attack("no sub", CLAIMS, "FH-TOKEN-CLAIM", || of_the_issuer(good().without("sub"))),
    attack("exp is a text", CLAIMS, "FH-TOKEN-CLAIM", || of_the_issuer(good().claim("exp", "1900000000"))),
    attack("exp is true", CLAIMS, "FH-TOKEN-CLAIM", || of_the_issuer(good().claim("exp", true))),
    attack("exp is null", CLAIMS, "FH-TOKEN-CLAIM", || of_the_issuer(good().claim("exp", Value::Null))),
    attack("exp is beyond every calendar", CLAIMS, "FH-TOKEN-CLAIM", || {
        of_the_issuer(good().claim("exp", json!(1e300)))
    }),
    attack("exp is negative", CLAIMS, "FH-TOKEN-CLAIM", || of_the_issuer(good().claim("exp", -1))),
    attack("no exp", CLAIMS, "FH-TOKEN-CLAIM", || of_the_issuer(good().without("exp"))),
    attack("nbf is a text", CLAIMS, "FH-TOKEN-CLAIM", || of_the_issuer(good().claim("nbf", "0"))),
    attack("iat is a text", CLAIMS, "FH-TOKEN-CLAIM", || of_the_issuer(good().claim("iat", "0"))),
    attack("roles have a number among them", CLAIMS, "FH-TOKEN-CLAIM", || {
        of_the_issuer(good().claim("roles", json!(["support", 1])))
    }),
    attack("scope is an object", CLAIMS, "FH-TOKEN-CLAIM", || {
        of_the_issuer(good().claim("scope", json!({})))
    }),
];

/// Signed by the issuer, with these members at the beginning of header and claims.
fn with_more(header: &str, claims: &str) -> String {
    let token = good().by("EdDSA").header("kid", "ed");
    let more = |value: &Value, members: &str| value.to_string().replacen('{', &format!("{{{members}"), 1);
    of_bytes(more(&token.header, header).as_bytes(), more(&token.claims, claims).as_bytes())
}

pub(crate) fn hmac(secret: &[u8], message: &[u8]) -> Vec<u8> {
    use aws_lc_rs::hmac;
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), message).as_ref().to_vec()
}

/// Whether it works.
pub(crate) fn tried(attack: &Attack) -> Result<(), &'static str> {
    judged(attack.provider, &(attack.keys)(), &(attack.token)()).map(drop).map_err(|error| error.code())
}

#[test]
fn none_of_them_counts() {
    for attack in ATTACKS {
        assert_eq!(tried(attack), Err(attack.code), "{}", attack.name);
    }
}

#[test]
fn a_public_key_is_no_secret_in_any_spelling() {
    let jwk = KEYS.rsa.jwk();
    let published = KEYS.published().to_string();
    let spellings: [Vec<u8>; 4] = [
        jwk.to_string().into_bytes(),
        jwk["n"].as_str().unwrap().as_bytes().to_vec(),
        published.into_bytes(),
        Vec::new(),
    ];
    for secret in spellings {
        for algorithm in ["HS256", "HS384", "HS512", "hs256"] {
            let token = good().header("alg", algorithm).with(|message| hmac(&secret, message));
            let refused = judged("", &KEYS.published(), &token).unwrap_err();
            assert_eq!(refused.code(), "FH-TOKEN-ALGORITHM");
        }
    }
}

#[test]
fn no_byte_of_a_token_can_be_changed() {
    let token = of_the_issuer(good());
    let keys = KEYS.published();
    let verifier = access::token::Verifier::new(crate::mint::provider(""));
    let set = crate::mint::set_of(&keys);
    assert!(verifier.verify(&token, &set, crate::mint::now()).is_ok());
    for at in 0..token.len() {
        let mut bytes = token.clone().into_bytes();
        // The neighbour in the alphabet, which changes the last bits: those that a lax decoder ignores.
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(bytes).unwrap();
        if changed != token {
            assert!(verifier.verify(&changed, &set, crate::mint::now()).is_err(), "byte {at}");
        }
    }
    for end in 0..token.len() {
        assert!(
            verifier.verify(token.get(..end).unwrap(), &set, crate::mint::now()).is_err(),
            "cut at {end}"
        );
    }
}
