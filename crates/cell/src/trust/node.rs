//! How Node is told of the cell's authority.
//!
//! `NODE_EXTRA_CA_CERTS` makes versions up to 22 read all roots they bring before the program begins, 20 ms of every
//! start. Told to take OpenSSL's roots instead, which are the file of `SSL_CERT_FILE`, it reads them at the first
//! connection that needs one.

use std::{collections::BTreeMap, path::Path};

/// Programs that are Node, or scripts of it.
const PROGRAMS: [&str; 4] = ["node", "nodejs", "npm", "npx"];

/// Variables by which somebody decided on Node's roots or options already.
const DECIDED: [&str; 4] = ["NODE_OPTIONS", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"];

/// The variable and its value. `own` is the file of the authority alone; `all` says whether the other file holds more.
pub(super) fn variable(
    command: &[String],
    declared: &BTreeMap<String, String>,
    own: &str,
    all: bool,
) -> (&'static str, String) {
    let program = command.first().and_then(|program| Path::new(program).file_name()?.to_str());
    let is_node = program.is_some_and(|program| PROGRAMS.contains(&program));
    // What is no Node may know the one variable and not the other.
    if is_node && all && !DECIDED.iter().any(|name| declared.contains_key(*name)) {
        ("NODE_OPTIONS", "--use-openssl-ca".to_owned())
    } else {
        ("NODE_EXTRA_CA_CERTS", own.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(command: &str, declared: &[&str], all: bool) -> &'static str {
        let command: Vec<String> = command.split(' ').map(str::to_owned).collect();
        let declared = declared.iter().map(|name| ((*name).to_owned(), "x".to_owned())).collect();
        variable(&command, &declared, "/own.pem", all).0
    }

    #[test]
    fn only_a_node_that_nobody_told_anything_takes_all_roots_from_one_file() {
        assert_eq!(told("node /package/x.js", &["TZ"], true), "NODE_OPTIONS");
        assert_eq!(told("/usr/local/bin/node x.js", &[], true), "NODE_OPTIONS");
        assert_eq!(told("node x.js", &[], false), "NODE_EXTRA_CA_CERTS");
        assert_eq!(told("bun x.js", &[], true), "NODE_EXTRA_CA_CERTS");
        assert_eq!(told("sh -c node", &[], true), "NODE_EXTRA_CA_CERTS");
        for name in DECIDED {
            assert_eq!(told("node x.js", &[name], true), "NODE_EXTRA_CA_CERTS");
        }
    }
}
