//! `serve --new-key NAME`: a key for a caller that has no token.

use std::process::ExitCode;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use model::{digest::Digest, name::ServerName};
use serde::Serialize;

use crate::{
    stop::{Stop, USAGE},
    terminal,
};

/// What a key begins with, so that whoever finds one knows what it opens.
const PREFIX: &str = "fh_";
/// How many random bytes it has.
const BYTES: usize = 32;

/// What `--json` prints.
#[derive(Serialize)]
struct Printed<'a> {
    name: &'a str,
    key: &'a str,
    sha256: String,
    toml: String,
}

/// The key goes to stdout alone, so that it can be led straight to where it belongs; it is kept nowhere.
pub(super) fn perform(name: &str, json: bool) -> anyhow::Result<ExitCode> {
    let name = ServerName::new(name).map_err(|_| {
        let hint = "use 1 to 64 letters, digits, `.`, `_` or `-`, beginning with a letter or digit";
        Stop::new(USAGE, format!("`{name}` is not a name of a key"), hint)
    })?;
    let mut random = [0; BYTES];
    getrandom::fill(&mut random)
        .map_err(|error| anyhow::anyhow!("the kernel gave no random bytes: {error}"))?;
    let key = format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(random));
    let sha256 = Digest::of(key.as_bytes()).hex();
    let toml = lines(name.as_str(), &sha256);
    if json {
        let printed = Printed { name: name.as_str(), key: &key, sha256, toml };
        terminal::print(&format!("{}\n", serde_json::to_string_pretty(&printed)?))?;
        return Ok(ExitCode::SUCCESS);
    }
    terminal::print(&format!("{key}\n"))?;
    terminal::say("this key is shown once; add to the operator's file, with the roles its caller has:");
    terminal::say_whole(&format!("\n{toml}"));
    Ok(ExitCode::SUCCESS)
}

fn lines(name: &str, sha256: &str) -> String {
    // A dot in a bare key would part it in two.
    let name = if name.contains('.') { format!("\"{name}\"") } else { name.to_owned() };
    format!("[keys.{name}]\nsha256 = \"{sha256}\"\nroles = []\n")
}
