//! The test run: product binaries, their twins for the controls, all tests, and what was skipped.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::setup::{self, For};
use crate::workspace::{Workspace, has_program, must};

mod stage;

/// Which tests are run.
#[derive(Debug, Clone, Default)]
pub struct Which {
    all: bool,
    filters: Vec<String>,
}

impl Which {
    /// Everything when `all`, else all but the tests whose path holds `long_`; of those only the ones whose
    /// name, program or crate holds one of `filters`, if there are any.
    pub fn new(all: bool, filters: Vec<String>) -> Self {
        Self { all, filters }
    }
}

/// Builds and runs the tests; the exit code is theirs.
pub fn run(workspace: &Workspace, which: &Which) -> Result<ExitCode> {
    setup::prepare(workspace, For::Tests)?;
    build(workspace)?;
    let skips = workspace.target.join("skipped.txt");
    fs::write(&skips, "").with_context(|| format!("cannot write `{}`", skips.display()))?;
    let stage = stage::Stage::of(workspace)?;
    let environment: [(&str, OsString); 3] = [
        ("FUMEHOOD_BIN_DIR", stage.programs().into()),
        ("FUMEHOOD_CACHE", stage.cache().into()),
        ("FUMEHOOD_SKIPS", skips.clone().into()),
    ];
    let mut runs = vec![tests(workspace, which), controls(workspace, which)];
    if which.filters.is_empty() {
        runs.push(workspace.cargo(&["test", "-q", "--workspace", "--doc"]));
    }
    let mut failed = Vec::new();
    for command in &mut runs {
        if let Err(error) = must(command.envs(environment.iter().cloned())) {
            failed.push(error);
        }
    }
    let skipped = fs::read_to_string(&skips).unwrap_or_default();
    let mut lines: Vec<&str> = skipped.lines().collect();
    lines.sort_unstable();
    lines.dedup();
    for line in &lines {
        println!("skipped: {line}");
    }
    for error in &failed {
        println!("x: {error:#}");
    }
    let verdict = if failed.is_empty() { "all tests passed" } else { "tests FAILED" };
    println!("x: {verdict}, {} skipped by name", lines.len());
    Ok(if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs the tests that write generated files, in the mode in which they write instead of comparing.
pub fn bless(workspace: &Workspace) -> Result<ExitCode> {
    must(
        workspace
            .cargo(&["test", "-q", "--workspace", "--exclude", "testkit", "--exclude", "xtask"])
            .env("FUMEHOOD_BLESS", "1")
            .env("INSTA_UPDATE", "always"),
    )?;
    Ok(ExitCode::SUCCESS)
}

fn build(workspace: &Workspace) -> Result<()> {
    eprintln!("x: building");
    must(&mut workspace.cargo(&["build", "-q", "--workspace", "--bins"]))?;
    // A program that a test runs inside a cell; Cargo's own test run would leave it out.
    must(&mut workspace.cargo(&["build", "-q", "--workspace", "--examples"]))?;
    must(&mut workspace.cargo(&[
        "build",
        "-q",
        "-p",
        "fumehood",
        "--features",
        "guard-off",
        "--bin",
        "fumehood-guard-off",
        "--bin",
        "fumehood-guard-off-jail",
    ]))
}

fn tests(workspace: &Workspace, which: &Which) -> Command {
    if has_program("cargo-nextest") {
        let profile = if which.all { "all" } else { "default" };
        let mut command = workspace.cargo(&["nextest", "run", "--workspace", "--profile", profile]);
        if !which.filters.is_empty() {
            command.args(["-E", &expression(&workspace.root, &which.filters)]);
        }
        return command;
    }
    // Building nextest takes longer than the tests do.
    let mut command =
        workspace.cargo(&["test", "--workspace", "--lib", "--bins", "--tests", "--no-fail-fast", "--"]);
    if !which.all {
        command.args(["--skip", "long_"]);
    }
    command.args(&which.filters);
    command
}

/// Those tests of the edge, of the front and of judging that take guards away and show that the attacks work then. They need the
/// crates built with the test-only feature, which the other run must not have: it shows that the guards hold.
fn controls(workspace: &Workspace, which: &Which) -> Command {
    const GUARDED: [&str; 4] = ["access", "egress", "gateway", "store"];
    const FEATURE: [&str; 10] =
        ["-p", "access", "-p", "egress", "-p", "gateway", "-p", "store", "--features", "guard-off"];
    if has_program("cargo-nextest") {
        let profile = if which.all { "all" } else { "default" };
        let mut command = workspace.cargo(&["nextest", "run", "--profile", profile, "--no-tests", "pass"]);
        let mut controls =
            "(binary(~controls) | binary(=outside) | test(/(^|::)control_/) | test(/controls::/))".to_owned();
        if !which.filters.is_empty() {
            let crates = GUARDED.map(str::to_owned);
            let programs: Vec<String> = GUARDED
                .iter()
                .flat_map(|name| names_in(&workspace.root.join("crates").join(name).join("tests")))
                .collect();
            controls = format!("{controls} & ({})", named(&which.filters, &crates, &programs));
        }
        command.args(FEATURE).args(["-E", &controls]);
        return command;
    }
    let mut command = workspace.cargo(&["test", "--no-fail-fast"]);
    command
        .args(FEATURE)
        .args(["--test", "controls", "--test", "outside", "--test", "flows", "--test", "identity", "--"]);
    // A guard is taken from a whole process, so one test at a time.
    command.arg("--test-threads=1").args(&which.filters);
    command
}

/// Tests whose own name, program or crate holds one of the words.
///
/// The runner takes a word that no program or crate holds for a slip, so these are only named where there are some.
fn expression(root: &Path, words: &[String]) -> String {
    let crates = names_in(&root.join("crates"));
    let programs: Vec<String> =
        crates.iter().flat_map(|name| names_in(&root.join("crates").join(name).join("tests"))).collect();
    named(words, &crates, &programs)
}

/// The same, for these crates and programs.
fn named(words: &[String], crates: &[String], programs: &[String]) -> String {
    let mut parts = Vec::new();
    for word in words {
        parts.push(format!("test(~{word})"));
        for (kind, names) in [("package", crates), ("binary", programs)] {
            if names.iter().any(|name| name.contains(word)) {
                parts.push(format!("{kind}(~{word})"));
            }
        }
    }
    parts.join(" | ")
}

/// Names in a folder, without extensions.
fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some(entry.path().file_stem()?.to_str()?.to_owned())).collect()
}
