//! Files that the operator's file names, and that have to be there before somebody needs them.

use std::path::Path;

use access::token::KeySet;
use model::config::{IdentityProvider, KeySource, Operator};

use crate::reading;

/// What is wrong with them, each with what to do.
pub(super) fn problems(operator: &Operator) -> Vec<String> {
    let mut problems = Vec::new();
    for (name, provider) in operator.identities() {
        problems.extend(keys(name, provider));
        if let Some(path) = provider.extra_root() {
            problems.extend(root(name, path));
        }
    }
    if let Some(path) = operator.audit().checkpoints()
        && !path.parent().is_some_and(Path::is_dir)
    {
        let what = format!("`audit.checkpoints`: `{}` lies in no folder", path.display());
        problems.push(problem(&what, "make the folder, on another volume than the record's"));
    }
    problems
}

fn keys(name: &str, provider: &IdentityProvider) -> Option<String> {
    let KeySource::File(path) = provider.keys() else { return None };
    let what = |why: &str| format!("`identity.{name}.keys`: `{}` {why}", path.display());
    let bytes = match reading::file(path, reading::CONFIGURATION) {
        Ok(bytes) => bytes,
        Err(error) => {
            return Some(problem(&what(&format!("cannot be read: {error}")), "name a JWK set (RFC 7517)"));
        }
    };
    match KeySet::parse(&bytes) {
        Ok(set) if set.is_empty() => {
            Some(problem(&what("has no key that can be used"), "put the issuer's public keys into it"))
        }
        Ok(_) => None,
        Err(error) => Some(problem(&what(&format!("is no JWK set: {error}")), error.hint())),
    }
}

/// What to name as a root.
const HELP: &str = "name a file with the certificate of the authority in PEM";

fn root(name: &str, path: &Path) -> Option<String> {
    let what = |why: &str| format!("`identity.{name}.extra_root`: `{}` {why}", path.display());
    match reading::file(path, reading::CONFIGURATION) {
        Ok(bytes) if String::from_utf8_lossy(&bytes).contains("-----BEGIN CERTIFICATE-----") => None,
        Ok(_) => Some(problem(&what("holds no certificate"), HELP)),
        Err(error) => Some(problem(&what(&format!("cannot be read: {error}")), HELP)),
    }
}

fn problem(what: &str, help: &str) -> String {
    format!("fumehood: {what}\nfumehood: help: {help}")
}
