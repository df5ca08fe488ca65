//! The verbs.

use std::process::ExitCode;

use crate::cli::Verb;

mod add;
mod allow;
mod audit;
mod bridge;
mod completions;
mod doctor;
mod egress;
mod exec;
mod fingerprint;
mod list;
mod lock;
mod logs;
mod outdated;
mod policy;
mod ps;
mod remove;
mod review;
mod run;
mod secret;
mod serve;
mod store;
mod supervise;
mod swap;
mod trust;
mod update;
mod vault;

/// Does what was asked.
pub(crate) fn perform(verb: Verb) -> anyhow::Result<ExitCode> {
    match verb {
        Verb::Run(run) => run::perform(&run),
        Verb::Add(add) => add::perform(&add),
        Verb::Remove(remove) => remove::perform(&remove),
        Verb::List(list) => list::perform(&list),
        Verb::Review(review) => review::perform(&review),
        Verb::Trust(trust) => trust::perform(&trust),
        Verb::Lock(lock) => lock::perform(&lock),
        Verb::Outdated(outdated) => outdated::perform(&outdated),
        Verb::Update(update) => update::perform(&update),
        Verb::Store(store) => store::perform(&store),
        Verb::Fingerprint(fingerprint) => fingerprint::perform(&fingerprint),
        Verb::Exec(exec) => exec::perform(exec),
        Verb::Allow(change) => allow::perform(&change, allow::Direction::Allow),
        Verb::Deny(change) => allow::perform(&change, allow::Direction::Deny),
        Verb::Egress(asked) => egress::perform(&asked),
        Verb::Policy(policy) => policy::perform(&policy),
        Verb::Audit(asked) => audit::perform(&asked),
        Verb::Serve(serve) => serve::perform(&serve),
        Verb::Secret(secret) => secret::perform(secret),
        Verb::Ps(ps) => ps::perform(&ps),
        Verb::Logs(logs) => logs::perform(&logs),
        Verb::Doctor(doctor) => doctor::perform(&doctor),
        Verb::Completions(completions) => completions::perform(&completions),
        Verb::Bridge(bridge) => bridge::perform(&bridge),
        Verb::Cell(cell) => supervise::perform(cell),
        Verb::Vault(broker) => vault::perform(broker),
    }
}

/// A runtime for one thread.
fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}
