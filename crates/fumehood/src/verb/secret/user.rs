//! Users whose own values are kept.

use access::principal::key_of;
use secrets::vault::{User, UserKey};

use crate::{
    cli::secret::Whose,
    stop::{Stop, USAGE},
};

/// The user that was named; none where the value is everybody's.
pub(super) fn of(asked: &Whose) -> anyhow::Result<Option<User>> {
    let Some(text) = &asked.user else { return Ok(None) };
    // The first one: no URL of an issuer has one in it, and subjects do.
    let Some((issuer, subject)) =
        text.split_once('|').filter(|(issuer, subject)| !issuer.is_empty() && !subject.is_empty())
    else {
        let hint = "write the issuer as its tokens have it, `|`, and the subject: `--user \
                    'https://idp.example.com|alice'`; `fumehood audit tail` shows both of whoever has called";
        return Err(Stop::new(USAGE, format!("`--user {text}` names no user"), hint).into());
    };
    let key = key_of(issuer, subject, asked.tenant.as_deref());
    let key = UserKey::new(key).map_err(|error| Stop::new(USAGE, error.to_string(), ""))?;
    let (issuer, subject) = (issuer.to_owned(), subject.to_owned());
    Ok(Some(User { key, issuer, subject, tenant: asked.tenant.clone() }))
}

/// Whose value it is, as a part of a sentence.
pub(super) fn whose(user: Option<&User>) -> String {
    user.map(|user| format!(" of {user}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use access::principal::{Known, Principal};

    use super::*;

    fn read(user: &str, tenant: Option<&str>) -> anyhow::Result<Option<User>> {
        of(&Whose { user: Some(user.to_owned()), tenant: tenant.map(str::to_owned) })
    }

    #[test]
    fn a_user_is_found_by_the_key_that_its_calls_have() {
        let user = read("urn:fumehood:peer|auth0|alice", Some("acme")).unwrap().unwrap();
        assert_eq!((user.issuer.as_str(), user.subject.as_str()), ("urn:fumehood:peer", "auth0|alice"));
        let known = Known { subject: "auth0|alice".into(), tenant: Some("acme".into()), ..Known::default() };
        assert_eq!(user.key.as_str(), Principal::peer(1000, known.clone()).key());
        let without = read("urn:fumehood:peer|auth0|alice", None).unwrap().unwrap();
        assert_eq!(without.key.as_str(), Principal::peer(1000, Known { tenant: None, ..known }).key());
        assert_ne!(without.key, user.key);
    }

    #[test]
    fn what_names_nobody_is_refused() {
        for text in ["", "alice", "|alice", "https://idp.example|"] {
            assert!(read(text, None).is_err(), "{text}");
        }
    }
}
