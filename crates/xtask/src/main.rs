//! `./x` in Rust: one subcommand a habit.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use xtask::{bench, demo, lint, setup, suite, tidy, workspace::Workspace};

#[derive(Debug, Parser)]
#[command(name = "x", about = "The one entry to everything done in this repository.")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Build, confine a real server, call it, attack from inside, and say what was proved.
    Demo,
    /// All tests but the long ones.
    Test {
        /// The long ones too.
        #[arg(long)]
        all: bool,
        /// Only tests whose name, program or crate holds one of these.
        filters: Vec<String>,
    },
    /// Measure against bare and against other sandboxes; results go to a JSON file.
    Bench {
        /// Few and short rounds of `egress`, to see that it works.
        #[arg(long)]
        quick: bool,
        /// Which measurements; all when none is named.
        names: Vec<String>,
    },
    /// Format, clippy, tidiness, licences.
    Lint,
    /// Install what the tests need and stop.
    Setup,
    /// Only the tidiness rules.
    Tidy,
    /// Write generated files anew (snapshots, JSON Schema, completions).
    Bless,
}

fn main() -> ExitCode {
    match run(Cli::parse().task) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("x: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> anyhow::Result<ExitCode> {
    let workspace = Workspace::here()?;
    match task {
        Task::Setup => setup::prepare(&workspace, setup::For::Tests).map(|()| ExitCode::SUCCESS),
        Task::Test { all, filters } => suite::run(&workspace, &suite::Which::new(all, filters)),
        Task::Bless => suite::bless(&workspace),
        Task::Lint => lint::run(&workspace),
        Task::Tidy => tidy::print(&workspace.tree()?),
        Task::Bench { names, quick } => {
            bench::run(&workspace, &names, if quick { bench::Pace::Quick } else { bench::Pace::Whole })
        }
        Task::Demo => demo::run(&workspace),
    }
}
