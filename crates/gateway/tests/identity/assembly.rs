//! From the operator's file to callers.

use access::principal::How;
use gateway::identify::{Asked, Connection, Identifier};
use gateway::jwks::{KeysError, Trust};
use gateway::resource_metadata::WELL_KNOWN;
use http::{HeaderMap, HeaderValue, Uri, header};
use model::config::Operator;
use model::digest::Digest;
use serde_json::json;

use crate::mint::{AUDIENCE, ISSUER, KEYS, good, now};

fn identifier(file: &str, before: Option<&Identifier>) -> Identifier {
    let operator = Operator::resolve("config.toml", file.as_bytes(), None).unwrap();
    Identifier::of(&operator, AUDIENCE, |_| Trust::pem(b""), before).unwrap()
}

async fn asks(
    identifier: &Identifier,
    token: Option<&str>,
    connection: Connection,
) -> Result<How, &'static str> {
    let mut headers = HeaderMap::new();
    if let Some(token) = token {
        headers.insert(header::AUTHORIZATION, HeaderValue::from_str(&format!("Bearer {token}")).unwrap());
    }
    let asked = Asked { uri: &Uri::from_static("/mcp"), headers: &headers, connection };
    let who = identifier.identify(asked, now()).await.map_err(|error| error.code())?;
    assert!(who.roles().contains("support"), "{who:?}");
    Ok(who.how().clone())
}

#[tokio::test]
async fn callers_are_those_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jwks.json");
    std::fs::write(&path, KEYS.published().to_string()).unwrap();
    let digest = Digest::of(b"fh-key").hex();
    let file = format!(
        "[serve]\nurl = \"{AUDIENCE}\"\n[roles.support]\ntools = []\n\
         [identity.corp]\nissuer = \"{ISSUER}\"\nkeys = \"{}\"\nclaims.roles = \"scope\"\nroles.tools = [\"support\"]\n\
         [keys.ci]\nsha256 = \"{digest}\"\nroles = [\"support\"]\n[peers.alice]\nuid = 4000\nroles = [\"support\"]\n",
        path.display()
    );
    let first = identifier(&file, None);
    let (tcp, unix) = (Connection::Tcp(([127, 0, 0, 1], 1).into()), Connection::Unix { uid: 4000 });
    let token = good().of(&KEYS.rsa);
    assert_eq!(first.fetch().await, []);
    assert_eq!(asks(&first, Some(&token), tcp).await, Ok(How::Token));
    assert_eq!(asks(&first, Some("fh-key"), tcp).await, Ok(How::Key("ci".to_owned())));
    assert_eq!(asks(&first, None, unix).await, Ok(How::Peer { uid: 4000 }));
    assert_eq!(first.metadata().document(WELL_KNOWN).unwrap()["scopes_supported"], json!(["tools"]));

    // Read anew: what was kept is used further, and a file that is broken now is named.
    std::fs::write(&path, "{").unwrap();
    let second = identifier(&file, Some(&first));
    assert_eq!(asks(&second, Some(&token), tcp).await, Ok(How::Token));
    let faults = second.fetch().await;
    assert!(matches!(&faults[..], [(issuer, KeysError::Set { .. })] if issuer == ISSUER), "{faults:?}");
    assert_eq!(asks(&second, Some(&token), tcp).await, Ok(How::Token));
    let third = identifier(&file, None);
    assert_eq!(asks(&third, Some(&token), tcp).await, Err("FH-KEYS-UNAVAILABLE"));
}

#[tokio::test]
async fn keys_are_kept_fresh_without_anybody_asking() {
    let origin = crate::origin::Origin::plain().await;
    origin.publishes(&KEYS.published());
    let file = format!("[serve]\nurl = \"{AUDIENCE}\"\n[identity.corp]\nissuer = \"{}\"\n", origin.url(""));
    let identifier = identifier(&file, None);
    let keeping = tokio::spawn(identifier.keep());
    for _ in 0..500 {
        if identifier.ailing().count() == 0 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    assert_eq!(identifier.ailing().count(), 0);
    assert_eq!(origin.asked(crate::origin::JWKS), 1);
    keeping.abort();
}
