//! What npm's registry has by now.

use serde_json::{Value, json};

use super::spec;
use crate::{
    ask::{AskError, ask},
    newest::{Newest, NewestError, moment},
    words::Asked,
};

/// Without a version in the order it is what its author gives out: the tag `latest`.
pub(crate) fn newest(asked: &Asked, current: &str) -> Result<Newest, NewestError> {
    let unnamed = || NewestError::Unnamed { runner: asked.client.runner() };
    let package = asked.main.as_deref().filter(|main| spec::is_of_a_registry(main)).ok_or_else(unnamed)?;
    let name = spec::name(package);
    let found = view(asked, package, &["version", "deprecated", "time"])?;
    let version = found.get("version").and_then(Value::as_str).ok_or_else(|| NewestError::Strange {
        program: asked.program.clone(),
        package: package.to_owned(),
        why: "it has no version".to_owned(),
    })?;
    let deprecated = |of: &Value| of.get("deprecated").and_then(Value::as_str).map(str::to_owned);
    let current_withdrawn = if current == version {
        deprecated(&found)
    } else {
        match view(asked, &format!("{name}@{current}"), &["version", "deprecated"]) {
            Ok(found) => deprecated(&found),
            Err(NewestError::Unanswered(AskError::Failed { told, .. })) if told.contains("E404") => {
                Some(format!("`{name}@{current}` is not there any more"))
            }
            Err(error) => return Err(error),
        }
    };
    Ok(Newest {
        version: version.to_owned(),
        released: found.get("time").and_then(|times| moment(times.get(version)?.as_str()?)),
        withdrawn: deprecated(&found),
        current_withdrawn,
    })
}

/// Fields of one version.
fn view(asked: &Asked, package: &str, fields: &[&str]) -> Result<Value, NewestError> {
    let told = ask(&asked.program, &[&["view", "--json", "--", package], fields].concat(), "")?;
    let strange = |why: serde_json::Error| NewestError::Strange {
        program: asked.program.clone(),
        package: package.to_owned(),
        why: why.to_string(),
    };
    only(&told).map_err(strange)
}

/// The answer, or the last one of several. Of fields only one of which is there, npm says that one alone.
fn only(told: &str) -> Result<Value, serde_json::Error> {
    Ok(match serde_json::from_str(told)? {
        Value::String(version) => json!({ "version": version }),
        Value::Array(mut all) => match all.pop().unwrap_or_default() {
            Value::String(version) => json!({ "version": version }),
            other => other,
        },
        other => other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_every_shape_are_read() {
        for told in [
            r#""1.0.0""#,
            r#"["0.9.0", "1.0.0"]"#,
            r#"{"version": "1.0.0", "time": {}}"#,
            r#"[{"version": "0.9.0"}, {"version": "1.0.0"}]"#,
        ] {
            assert_eq!(only(told).unwrap()["version"], "1.0.0", "{told}");
        }
        assert!(only("").is_err());
    }
}
