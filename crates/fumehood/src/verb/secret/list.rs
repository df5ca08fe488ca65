//! `fumehood secret list` and `show-binding`.

use std::{collections::BTreeMap, process::ExitCode};

use cell::folders::Folders;
use model::{
    config::{DeclaredSecret, SecretSource},
    secret::{Binding, SecretName},
};
use secrets::vault::{Entry, Store, User, VaultError};
use serde::Serialize;

use super::set;
use crate::{
    cli::{
        Given,
        secret::{SecretList, SecretShow},
    },
    configuration::Configuration,
    passphrase::AtTerminal,
    stop::Stop,
    terminal,
};

/// One secret; what `--json` prints of it.
#[derive(Debug, Serialize)]
struct Listed {
    name: SecretName,
    /// Whose value it is; absent where it is everybody's.
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<User>,
    #[serde(flatten)]
    binding: Binding,
    /// `vault`, or where the operator's file says that it comes from.
    source: &'static str,
    /// Seconds since 1970; absent where it is not in the vault.
    #[serde(skip_serializing_if = "Option::is_none")]
    created: Option<u64>,
    /// Seconds since 1970; absent where it is not in the vault.
    #[serde(skip_serializing_if = "Option::is_none")]
    rotated: Option<u64>,
}

/// Lists all of them.
pub(super) fn perform(asked: &SecretList, folders: &Folders, store: &Store) -> anyhow::Result<ExitCode> {
    let all = all(folders, store)?;
    if asked.json {
        terminal::print(&format!("{}\n", serde_json::to_string_pretty(&all)?))?;
        return Ok(ExitCode::SUCCESS);
    }
    if all.is_empty() {
        terminal::say("there are no secrets");
        terminal::say("help: `fumehood secret set NAME --host HOST` keeps one");
        return Ok(ExitCode::SUCCESS);
    }
    let mut rows =
        vec![["NAME", "HOSTS", "REQUESTS", "PLACES", "SOURCE", "CHANGED"].map(str::to_owned).to_vec()];
    rows.extend(all.iter().map(row));
    if all.iter().any(|listed| listed.user.is_some()) {
        let users = all.iter().map(|listed| listed.user.as_ref().map_or("-".to_owned(), ToString::to_string));
        let column = std::iter::once("USER".to_owned()).chain(users);
        rows.iter_mut().zip(column).for_each(|(row, user)| row.insert(1, user));
    }
    terminal::print(&terminal::table(&rows))?;
    Ok(ExitCode::SUCCESS)
}

/// Shows one of them.
pub(super) fn show(asked: &SecretShow, folders: &Folders, store: &Store) -> anyhow::Result<ExitCode> {
    let name = super::named(&asked.name)?;
    let user = super::user::of(&asked.whose)?;
    let mut all = all(folders, store)?.into_iter();
    let key = user.as_ref().map(|user| &user.key);
    let is_it = |listed: &Listed| listed.name == name && listed.user.as_ref().map(|user| &user.key) == key;
    let listed = all.find(is_it).ok_or_else(|| {
        Stop::from(match &user {
            Some(user) => VaultError::UnknownFor { name: name.clone(), user: user.to_string() },
            None => VaultError::Unknown(name.clone()),
        })
    })?;
    let text = if asked.json {
        serde_json::to_string_pretty(&listed.binding)?
    } else {
        let whose = super::user::whose(listed.user.as_ref());
        format!("{}{whose}: {}", listed.name, set::reach(&listed.binding))
    };
    terminal::print(&format!("{text}\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// By name, everybody's before those of users.
fn all(folders: &Folders, store: &Store) -> anyhow::Result<Vec<Listed>> {
    let vault = store.read(&mut AtTerminal::default()).map_err(Stop::from)?;
    let configuration = Configuration::read(folders, &Given::default())?;
    let declared = configuration.secrets().iter().map(|(name, secret)| (name.clone(), of_file(name, secret)));
    let sealed = vault.entries().iter().map(|(name, entry)| (name.clone(), of_vault(name, None, entry)));
    // One that is in both is refused wherever it is used.
    let shared: BTreeMap<SecretName, Listed> = declared.chain(sealed).collect();
    let of_users = vault.users().map(|(name, kept)| of_vault(name, Some(&kept.user), &kept.entry));
    let mut all: Vec<Listed> = shared.into_values().chain(of_users).collect();
    // Stable: everybody's came first.
    all.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(all)
}

fn of_vault(name: &SecretName, user: Option<&User>, entry: &Entry) -> Listed {
    Listed {
        name: name.clone(),
        user: user.cloned(),
        binding: entry.binding.clone(),
        source: "vault",
        created: Some(entry.created),
        rotated: Some(entry.rotated),
    }
}

fn of_file(name: &SecretName, secret: &DeclaredSecret) -> Listed {
    let source = match &secret.source {
        SecretSource::Env(_) => "env",
        SecretSource::File(_) => "file",
        SecretSource::Command(_) => "command",
    };
    let binding = secret.binding.clone();
    Listed { name: name.clone(), user: None, binding, source, created: None, rotated: None }
}

fn row(listed: &Listed) -> Vec<String> {
    let Listed { name, binding, source, rotated, .. } = listed;
    let dash = |text: String| if text.is_empty() { "-".to_owned() } else { text };
    let is_bound = !binding.hosts.is_empty();
    let methods: Vec<&str> = binding.methods.iter().map(model::request::Method::as_str).collect();
    let paths: Vec<&str> = binding.paths.iter().map(model::request::PathPattern::as_str).collect();
    let requests = match (methods.is_empty(), paths.is_empty()) {
        (true, true) if is_bound => "any".to_owned(),
        (true, true) => String::new(),
        (false, true) => methods.join(","),
        (true, false) => paths.join(","),
        (false, false) => format!("{} {}", methods.join(","), paths.join(",")),
    };
    vec![
        name.to_string(),
        if is_bound { binding.hosts.join(",") } else { "(only --expose)".to_owned() },
        dash(requests),
        if is_bound { set::places(binding) } else { "-".to_owned() },
        (*source).to_owned(),
        rotated.map_or_else(|| "-".to_owned(), |then| ago(super::now().saturating_sub(then))),
    ]
}

/// How long ago, in the largest unit.
fn ago(seconds: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(86_400, "day"), (3_600, "hour"), (60, "minute")];
    for (length, unit) in UNITS {
        let count = seconds / length;
        if count > 0 {
            let s = if count == 1 { "" } else { "s" };
            return format!("{count} {unit}{s} ago");
        }
    }
    "just now".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_told_in_its_largest_unit() {
        for (seconds, text) in [
            (0, "just now"),
            (59, "just now"),
            (60, "1 minute ago"),
            (7_300, "2 hours ago"),
            (172_800, "2 days ago"),
        ] {
            assert_eq!(ago(seconds), text);
        }
    }
}
