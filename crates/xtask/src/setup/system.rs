//! Debian packages the tests and measurements need.

use std::process::Command;

use anyhow::{Result, bail};

use super::For;
use crate::workspace::{answer, has_program, is_root, must};

/// What is looked for, and the package that brings it.
const PROGRAMS: &[(&str, &str)] = &[
    ("git", "git"),
    ("newgidmap", "uidmap"),
    ("node", "nodejs"),
    ("npm", "npm"),
    ("openssl", "openssl"),
    ("python3", "python3"),
    ("setpriv", "util-linux"),
    ("unshare", "util-linux"),
];

/// Only for the tests: what reaches hosts with a key from inside cells.
const RUNTIMES: &[(&str, &str)] =
    &[("chromium", "chromium"), ("curl", "curl"), ("javac", "openjdk-17-jdk-headless"), ("wget", "wget")];

/// Only for measurements.
const PEERS: &[(&str, &str)] = &[("bwrap", "bubblewrap")];

/// Installs what is missing as root; else says which line would.
pub fn prepare(purpose: For) -> Result<()> {
    let mut packages = missing(purpose);
    packages.sort_unstable();
    packages.dedup();
    if packages.is_empty() {
        return Ok(());
    }
    let line = format!("apt-get install -y --no-install-recommends {}", packages.join(" "));
    if !has_program("apt-get") {
        bail!("these Debian packages, or what they bring, are missing: {}", packages.join(" "));
    }
    if !is_root() {
        bail!("packages are missing; run: sudo {line}");
    }
    eprintln!("x: installing {}", packages.join(" "));
    must(Command::new("apt-get").args(["update", "-qq"]))?;
    must(
        Command::new("apt-get")
            .args(["install", "-y", "-qq", "--no-install-recommends"])
            .args(&packages)
            .env("DEBIAN_FRONTEND", "noninteractive"),
    )
}

fn missing(purpose: For) -> Vec<&'static str> {
    let more = match purpose {
        For::Tests => RUNTIMES,
        For::Demo => &[],
        For::Bench => PEERS,
    };
    let mut packages: Vec<&str> = PROGRAMS
        .iter()
        .chain(more)
        .filter(|(program, _)| !has_program(program))
        .map(|(_, package)| *package)
        .collect();
    // Debian ships Python without the part that fills a new environment.
    let has_venv = answer(Command::new("python3").args(["-c", "import ensurepip, venv"])).is_some();
    if !has_venv {
        packages.push("python3-venv");
    }
    // Perl is everywhere, its client with TLS is not.
    let has_lwp = answer(Command::new("perl").args(["-MLWP::Protocol::https", "-e", "1"])).is_some();
    if purpose == For::Tests && !has_lwp {
        packages.push("liblwp-protocol-https-perl");
    }
    packages
}
