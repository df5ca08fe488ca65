//! The verbs.

use std::process::ExitCode;

use crate::cli::Verb;

mod allow;
mod attend;
mod completions;
mod doctor;
mod egress;
mod exec;
mod logs;
mod ps;
mod run;
mod secret;
mod supervise;
mod vault;

/// Does what was asked.
pub(crate) fn perform(verb: Verb) -> anyhow::Result<ExitCode> {
    match verb {
        Verb::Run(run) => run::perform(run),
        Verb::Exec(exec) => exec::perform(exec),
        Verb::Allow(change) => allow::perform(&change, allow::Direction::Allow),
        Verb::Deny(change) => allow::perform(&change, allow::Direction::Deny),
        Verb::Egress(asked) => egress::perform(&asked),
        Verb::Secret(secret) => secret::perform(secret),
        Verb::Ps(ps) => ps::perform(&ps),
        Verb::Logs(logs) => logs::perform(&logs),
        Verb::Doctor(doctor) => doctor::perform(&doctor),
        Verb::Completions(completions) => completions::perform(&completions),
        Verb::Cell(cell) => supervise::perform(cell),
        Verb::Vault(broker) => vault::perform(broker),
    }
}

/// A runtime for one thread.
fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}
