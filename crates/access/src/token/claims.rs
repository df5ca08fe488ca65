//! Claims, each of the type it has to have.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;

use super::error::TokenError;
use crate::principal::Actor;

/// A text that is not empty, if the claim is there.
pub(super) fn text<'a>(claim: Option<&'a Value>, name: &'static str) -> Result<Option<&'a str>, TokenError> {
    match claim {
        None => Ok(None),
        Some(Value::String(text)) if !text.is_empty() => Ok(Some(text)),
        Some(_) => Err(TokenError::Claim(name)),
    }
}

/// A list of texts or one text, if the claim is there.
pub(super) fn texts(
    claim: Option<&Value>,
    name: &'static str,
) -> Result<Option<BTreeSet<String>>, TokenError> {
    match claim {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(BTreeSet::from([text.clone()]))),
        Some(Value::Array(items)) => {
            let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
            texts.collect::<Option<_>>().map(Some).ok_or(TokenError::Claim(name))
        }
        Some(_) => Err(TokenError::Claim(name)),
    }
}

/// A time, as the distance from 1970 (RFC 7519, section 2: NumericDate), if the claim is there.
pub(super) fn date(claims: &Value, name: &'static str) -> Result<Option<Duration>, TokenError> {
    match claims.get(name) {
        None => Ok(None),
        Some(Value::Number(number)) => {
            let seconds = number.as_f64().filter(|seconds| (0.0..=LATEST).contains(seconds));
            let exact = number.as_u64().map(Duration::from_secs);
            let date = seconds.map(|seconds| exact.unwrap_or_else(|| Duration::from_secs_f64(seconds)));
            date.map(Some).ok_or(TokenError::Claim(name))
        }
        Some(_) => Err(TokenError::Claim(name)),
    }
}

/// The end of the year 9999: what every calendar of ours can say.
const LATEST: f64 = 253_402_300_799.0;

/// Those who act for the subject, the one who acts now first (RFC 8693, section 4.1).
pub(super) fn actors(claims: &Value, most: usize) -> Result<Vec<Actor>, TokenError> {
    let mut actors = Vec::new();
    let mut next = claims.get("act");
    while let Some(act) = next {
        let act = act.as_object().ok_or(TokenError::Actors)?;
        let subject = act.get("sub").and_then(Value::as_str).filter(|subject| !subject.is_empty());
        let issuer = match act.get("iss") {
            None => None,
            Some(issuer) => Some(issuer.as_str().ok_or(TokenError::Actors)?.to_owned()),
        };
        if actors.len() == most {
            return Err(TokenError::Actors);
        }
        actors.push(Actor { issuer, subject: subject.ok_or(TokenError::Actors)?.to_owned() });
        next = act.get("act");
    }
    Ok(actors)
}
