//! `fumehood secret set`.

use std::process::ExitCode;

use cell::folders::Folders;
use egress::rule::{HostRule, Kind};
use model::{
    request::{Method, PathPattern},
    secret::{Binding, Foreign, Place},
};
use secrets::vault::{Store, VaultError};

use crate::{
    cli::{Given, secret},
    configuration::Configuration,
    passphrase::AtTerminal,
    stop::{Stop, USAGE},
    terminal,
};

/// Keeps one, in place of one of that name.
pub(super) fn perform(
    asked: &secret::SecretSet,
    folders: &Folders,
    store: &Store,
) -> anyhow::Result<ExitCode> {
    let name = super::named(&asked.name)?;
    if asked.hosts.is_empty() && !asked.only_expose {
        let message = format!("{name} is bound to no host");
        let hint =
            "`--host api.example.com` says whose key it is; `--only-expose` keeps it for `--expose` alone";
        return Err(Stop::new(USAGE, message, hint).into());
    }
    let binding = binding(asked)?;
    let user = super::user::of(&asked.whose)?;
    // Who reads a user's own value never looks into the file.
    if user.is_none() && Configuration::read(folders, &Given::default())?.secrets().contains_key(&name) {
        let message = format!("`[secrets.{name}]` of the operator's file says where {name} comes from");
        return Err(Stop::new(USAGE, message, "take it out there first, or choose another name").into());
    }
    let is_first = store.protection().map_err(Stop::from)?.is_none();
    let value = super::value(&name)?;
    let kept = |vault: &mut secrets::vault::Vault| {
        let (name, binding, now) = (name.clone(), binding.clone(), super::now());
        if let Some(user) = user.clone() {
            let was_there = vault.has_for(&name, &user.key);
            vault.set_for(name, user, binding, value, now)?;
            return Ok::<bool, VaultError>(was_there);
        }
        let was_there = vault.entries().contains_key(&name);
        vault.set(name, binding, value, now)?;
        Ok(was_there)
    };
    let was_there = store.change(&mut AtTerminal::default(), kept).map_err(Stop::from)?;
    let how = if was_there { "has another value and binding" } else { "is in the vault" };
    let whose = super::user::whose(user.as_ref());
    terminal::say(&format!("{name}{whose} {how}: {}", reach(&binding)));
    if is_first {
        terminal::say(&format!("made the vault `{}`, whose key lies beside it", store.folder().display()));
        terminal::say(
            "help: `fumehood secret seal --passphrase` locks the key, `--recipient age1…` lets another open the vault",
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// Where a value goes, in words.
pub(super) fn reach(binding: &Binding) -> String {
    if binding.hosts.is_empty() {
        return "written nowhere, only handed over by `--expose`".to_owned();
    }
    let texts = |list: Vec<String>| list.join(", ");
    let methods = match binding.methods.as_slice() {
        [] => "requests".to_owned(),
        methods => format!("{} requests", texts(methods.iter().map(|m| m.as_str().to_owned()).collect())),
    };
    let paths = match binding.paths.as_slice() {
        [] => String::new(),
        paths => format!(" for {}", texts(paths.iter().map(|path| path.as_str().to_owned()).collect())),
    };
    let foreign = if binding.foreign == Foreign::Allow { "; other credentials pass" } else { "" };
    format!(
        "written into {methods} to {}{paths}, as {}{foreign}",
        texts(binding.hosts.clone()),
        places(binding)
    )
}

/// Its places; the default where none is named.
pub(super) fn places(binding: &Binding) -> String {
    match binding.places.as_slice() {
        [] => Place::Header("authorization".to_owned()).to_string(),
        places => places.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    }
}

fn binding(asked: &secret::SecretSet) -> anyhow::Result<Binding> {
    let usage = |error: &dyn std::error::Error| Stop::new(USAGE, error.to_string(), "");
    for host in &asked.hosts {
        check_host(host)?;
    }
    let methods = asked.methods.iter().map(|text| Method::new(text).map_err(|error| usage(&error)));
    let paths = asked.paths.iter().map(|text| PathPattern::new(text.clone()).map_err(|error| usage(&error)));
    let named = [("header", &asked.headers), ("query", &asked.queries)];
    let mut texts: Vec<String> = named
        .iter()
        .flat_map(|(place, names)| names.iter().map(move |name| format!("{place}:{name}")))
        .collect();
    let flags = [
        (asked.basic, "basic"),
        (asked.path_segment, "path"),
        (asked.json_body, "json"),
        (asked.form, "form"),
        (asked.websocket, "websocket"),
    ];
    texts.extend(flags.iter().filter(|(is_set, _)| *is_set).map(|(_, place)| (*place).to_owned()));
    let places = texts.iter().map(|text| Place::parse(text).map_err(|error| usage(&error)));
    Ok(Binding {
        hosts: asked.hosts.clone(),
        methods: methods.collect::<Result<_, _>>()?,
        paths: paths.collect::<Result<_, _>>()?,
        places: places.collect::<Result<_, _>>()?,
        foreign: match asked.foreign {
            secret::Foreign::Refuse => Foreign::Refuse,
            secret::Foreign::Allow => Foreign::Allow,
        },
    })
}

/// A name with a port or without, which is spoken to by TLS.
fn check_host(text: &str) -> Result<(), Stop> {
    let hint = "write `api.github.com`, `api.github.com:8443` or `*.example.com`; it is always HTTPS";
    let wrong = |message: String| Stop::new(USAGE, message, hint);
    if text.contains(['/', ' ']) {
        return Err(wrong(format!("`{text}` is not a host of a secret")));
    }
    let rule = HostRule::parse(text).map_err(|error| wrong(error.to_string()))?;
    if rule.ports().any(|(_, kind)| kind == Kind::Tls) {
        return Ok(());
    }
    Err(wrong(format!("`{text}` is not spoken to by TLS")))
}
