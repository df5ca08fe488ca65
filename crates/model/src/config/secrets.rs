//! Which secrets a server uses, and those whose value is not in the vault.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::complaint::Complaint;
use super::env;
use super::limits::kept;
use super::mounts::{self, Asker, Place};
use super::network::NetworkCheck;
use super::problem::Source;
use super::whose::Whose;
use super::written::{self, At};
use crate::request::{Method, PathPattern};
use crate::secret::{self, Binding, Foreign, Per, SecretName, SecretUse};

/// A secret of the operator's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredSecret {
    /// Where its value comes from.
    pub source: SecretSource,
    /// Where its value may be written. Without hosts it can only be exposed.
    pub binding: Binding,
}

/// Where a value comes from that is not in the vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretSource {
    /// From this variable of whoever starts Fumehood.
    Env(String),
    /// From this file.
    File(PathBuf),
    /// From the stdout of a program.
    Command(SecretCommand),
}

/// A program that knows a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretCommand {
    /// The program and its arguments. Never empty.
    pub command: Vec<String>,
    /// The variables it is given.
    pub pass_env: Vec<String>,
    /// How long it may take, in seconds: 1 to 120.
    pub timeout_s: u64,
}

/// How long a program may take where nothing is said, in seconds.
const TIMEOUT_S: u64 = 10;
/// The most secrets of one server.
pub(super) const MOST_SECRETS: usize = 32;
/// The most hosts, methods, paths or places of a binding.
const MOST_TERMS: usize = 64;

/// Variable, secret, and whose value of it.
type Written<'a> = (&'a At<String>, &'a At<String>, Option<&'a At<written::Per>>);

/// `secrets` of a server. `cell` is whose cell it runs in.
pub(super) fn used(written: &written::Secrets, cell: &Whose, source: &mut Source<'_>) -> Vec<SecretUse> {
    let triples: Vec<Written<'_>> = match written {
        written::Secrets::Names(names) => names.iter().map(|name| (name, name, None)).collect(),
        written::Secrets::Variables(variables) => {
            variables.iter().map(|(variable, secret)| (variable, secret.name(), secret.per())).collect()
        }
    };
    if let Some((one_too_many, _, _)) = triples.get(MOST_SECRETS) {
        source.add(one_too_many.span(), &Complaint::new(format!("more than {MOST_SECRETS} secrets")));
        return Vec::new();
    }
    let mut uses: Vec<SecretUse> = Vec::new();
    for (variable, name, per) in triples {
        if let Some(per) = per.filter(|_| *cell != Whose::User) {
            let complaint =
                Complaint::new(format!("`{}` would be in a cell that others use too", name.get()));
            source.add(per.span(), &complaint.help("a value of each caller's own needs `cell = \"user\"`"));
        }
        let whose = per.map_or(Per::Everyone, |_| Per::User);
        let Some(name) = kept(source, name, |text| secret_name(text)) else { continue };
        let checked = kept(source, variable, |text| env::check_name(text).map(|()| text.clone()));
        let Some(checked) = checked else { continue };
        if uses.iter().any(|other| other.variable == checked) {
            let complaint = Complaint::new(format!("`{checked}` is given twice"));
            source.add(variable.span(), &complaint.help("name each secret once"));
            continue;
        }
        uses.push(SecretUse { name, variable: checked, expose: false, per: whose });
    }
    uses
}

/// `NAME` or `NAME=VARIABLE` of a flag.
pub(super) fn flag(text: &str, expose: bool) -> Result<SecretUse, Complaint> {
    let (name, variable) = text.split_once('=').unwrap_or((text, text));
    let name = secret_name(name)?;
    env::check_name(variable)?;
    Ok(SecretUse { name, variable: variable.to_owned(), expose, per: Per::default() })
}

/// `[secrets]` of the operator's file.
pub(super) fn declared(
    written: &BTreeMap<At<String>, written::DeclaredSecret>,
    place: &Place<'_>,
    check: &dyn NetworkCheck,
    source: &mut Source<'_>,
) -> BTreeMap<SecretName, DeclaredSecret> {
    let mut declared = BTreeMap::new();
    for (at, secret) in written {
        let name = kept(source, at, |text| secret_name(text));
        let binding = binding(secret, check, source);
        if let (Some(origin), Some(name)) = (origin(at, secret, place, source), name) {
            declared.insert(name, DeclaredSecret { source: origin, binding });
        }
    }
    declared
}

fn secret_name(text: &str) -> Result<SecretName, Complaint> {
    SecretName::new(text).map_err(|_| {
        Complaint::new(format!("`{text}` is not a secret's name"))
            .help("use 1 to 64 letters, digits or `_`, not beginning with a digit, such as `GITHUB_TOKEN`")
    })
}

/// Where the value comes from: exactly one of the three.
fn origin(
    name: &At<String>,
    secret: &written::DeclaredSecret,
    place: &Place<'_>,
    source: &mut Source<'_>,
) -> Option<SecretSource> {
    const HELP: &str =
        "write one of `env = \"VARIABLE\"`, `file = \"/path\"` and `command = [\"program\", \"argument\"]`";
    let written::DeclaredSecret { env: variable, file, command, pass_env, timeout, .. } = secret;
    let only_for_command = pass_env.iter().map(At::span).chain(timeout.iter().map(At::span)).next();
    if let (Some(span), None) = (only_for_command, command) {
        source.add(span, &Complaint::new("`pass_env` and `timeout` are for a `command`").help("remove it"));
    }
    match (variable, file, command) {
        (Some(variable), None, None) => {
            kept(source, variable, |text| env::check_variable(text).map(|()| SecretSource::Env(text.clone())))
        }
        (None, Some(file), None) => {
            kept(source, file, |text| mounts::absolute(text, Asker::Operator, place).map(SecretSource::File))
        }
        (None, None, Some(command)) => program(command, pass_env, timeout.as_ref(), source),
        (None, None, None) => {
            let keys = ["env", "file", "command"];
            if !keys.iter().any(|key| source.is_left_out(&["secrets", name.get(), key])) {
                let complaint = Complaint::new(format!("the secret `{}` comes from nowhere", name.get()));
                source.add(name.span(), &complaint.help(HELP));
            }
            None
        }
        _ => {
            let complaint =
                Complaint::new(format!("the secret `{}` comes from more than one place", name.get()));
            source.add(name.span(), &complaint.help(HELP));
            None
        }
    }
}

fn program(
    command: &At<Vec<At<String>>>,
    pass_env: &[At<String>],
    timeout: Option<&At<i64>>,
    source: &mut Source<'_>,
) -> Option<SecretSource> {
    let words: Vec<String> = command.get().iter().map(|word| word.get().clone()).collect();
    let words = kept(source, command, |_| env::check_command(&words).map(|()| words.clone()));
    let pass_env = pass_env
        .iter()
        .filter_map(|at| kept(source, at, |text| env::check_variable(text).map(|()| text.clone())));
    let pass_env: Vec<String> = pass_env.collect();
    let timeout_s = timeout.and_then(|at| {
        kept(source, at, |seconds| {
            u64::try_from(*seconds).ok().filter(|seconds| (1..=120).contains(seconds)).ok_or_else(|| {
                Complaint::new("this is not a time that a program may take")
                    .help("write seconds from 1 to 120")
            })
        })
    });
    let timeout_s = timeout_s.unwrap_or(TIMEOUT_S);
    Some(SecretSource::Command(SecretCommand { command: words?, pass_env, timeout_s }))
}

fn binding(secret: &written::DeclaredSecret, check: &dyn NetworkCheck, source: &mut Source<'_>) -> Binding {
    let hosts = terms(&secret.hosts, "hosts", source, |text| host(text, check).map(|()| text.to_owned()));
    let methods = terms(&secret.methods, "methods", source, |text| {
        Method::new(text).map_err(|error| Complaint::new(error.to_string()))
    });
    let paths = terms(&secret.paths, "paths", source, |text| {
        PathPattern::new(text).map_err(|error| Complaint::new(error.to_string()))
    });
    let places = terms(&secret.places, "places", source, |text| {
        secret::Place::parse(text).map_err(|error| Complaint::new(error.to_string()))
    });
    let foreign = match secret.foreign.as_ref().map(At::get) {
        Some(written::Foreign::Allow) => Foreign::Allow,
        Some(written::Foreign::Refuse) | None => Foreign::Refuse,
    };
    Binding { hosts, methods, paths, places, foreign }
}

/// A host of a binding: a name or a wildcard, with a port or without; never another scheme than HTTPS.
fn host(text: &str, check: &dyn NetworkCheck) -> Result<(), Complaint> {
    if text.contains(['/', ' ']) {
        return Err(Complaint::new(format!("`{text}` is not a host of a secret"))
            .help("write `api.example.com`, `api.example.com:8443` or `*.example.com`; it is always HTTPS"));
    }
    super::network::host(text, check)
}

fn terms<T>(
    written: &[At<String>],
    what: &str,
    source: &mut Source<'_>,
    read: impl Fn(&str) -> Result<T, Complaint>,
) -> Vec<T> {
    if let Some(one_too_many) = written.get(MOST_TERMS) {
        source.add(one_too_many.span(), &Complaint::new(format!("more than {MOST_TERMS} {what}")));
        return Vec::new();
    }
    written.iter().filter_map(|at| kept(source, at, |text| read(text))).collect()
}
