//! Format, clippy with and without the test-only feature, tidiness, licences.

use std::process::{ExitCode, Stdio};

use anyhow::Result;

use crate::tidy;
use crate::workspace::{Workspace, has_program, must};

/// The crates that know the test-only feature, as clippy wants them named.
const GUARDED: &[&str] = &[
    "-p",
    "jail",
    "-p",
    "sandbox",
    "-p",
    "access",
    "-p",
    "egress",
    "-p",
    "gateway",
    "-p",
    "cell",
    "-p",
    "fumehood",
    "--features",
    "guard-off",
];

/// Runs every check, also after one has failed.
pub fn run(workspace: &Workspace) -> Result<ExitCode> {
    let mut failed = Vec::new();
    for (name, arguments) in [
        ("format", vec!["fmt", "--all", "--check"]),
        ("clippy", clippy(&["--workspace"])),
        ("clippy with guard-off", clippy(GUARDED)),
    ] {
        eprintln!("x: {name}");
        if let Err(error) = must(&mut workspace.cargo(&arguments)) {
            failed.push(format!("{name}: {error:#}"));
        }
    }
    let faults = tidy::faults(&workspace.tree()?);
    failed.extend(faults.iter().map(ToString::to_string));
    if has_program("cargo-deny") {
        eprintln!("x: cargo deny");
        if let Err(error) =
            must(workspace.cargo(&["deny", "check", "licenses", "bans", "sources"]).stdout(Stdio::inherit()))
        {
            failed.push(format!("{error:#}"));
        }
    } else {
        eprintln!("skipped: licences and bans: cargo-deny is not installed");
    }
    for line in &failed {
        eprintln!("x: {line}");
    }
    Ok(if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn clippy<'a>(which: &[&'a str]) -> Vec<&'a str> {
    [&["clippy", "-q", "--all-targets"], which, &["--", "-D", "warnings"]].concat()
}
