//! `fumehood egress`: what happened at the edge of cells, and what would.

use std::{process::ExitCode, sync::Arc};

use anyhow::Context;
use cell::folders::Folders;
use cell_api::{
    client::Client,
    network::{CheckAnswer, CheckOrder},
};
use egress::{
    dial::{DialSettings, Dialer},
    own::OwnAddresses,
    policy::Policy,
    resolve::SystemResolver,
    verdict,
};
use model::name::ServerName;

use super::{ps, runtime};
use crate::{
    cli::{Egress, EgressCheck, EgressVerb, Given},
    configuration::Configuration,
    places,
    stop::{REFUSED, Stop, USAGE},
    terminal,
};

mod entry;
mod log;

/// Does what was asked.
pub(crate) fn perform(asked: &Egress) -> anyhow::Result<ExitCode> {
    match &asked.what {
        EgressVerb::Log(asked) => log::perform(asked),
        EgressVerb::Check(asked) => check(asked),
    }
}

fn check(asked: &EgressCheck) -> anyhow::Result<ExitCode> {
    let folders = places::folders()?;
    let answer = runtime()?.block_on(async {
        let running = ps::cells(&folders).await?;
        let cell = running.iter().find(|cell| cell.id == asked.server || cell.is_called(&asked.server));
        match cell {
            Some(cell) => {
                let mut client = Client::connect(&folders.cell(&cell.id)).await.map_err(Stop::from)?;
                let order = CheckOrder { url: asked.url.clone(), method: asked.method.clone() };
                Ok(client.check(&order).await.map_err(Stop::from)?)
            }
            None => by_configuration(&folders, asked).await,
        }
    })?;
    if asked.json {
        terminal::print(&format!("{}\n", serde_json::to_string_pretty(&answer)?))?;
    } else {
        terminal::print(&in_words(&answer))?;
    }
    Ok(if answer.refusal.is_none() { ExitCode::SUCCESS } else { REFUSED.into() })
}

/// What a cell would say that is started now.
async fn by_configuration(folders: &Folders, asked: &EgressCheck) -> anyhow::Result<CheckAnswer> {
    let server = ServerName::new(asked.server.clone())
        .map_err(|error| Stop::new(USAGE, error.to_string(), "`fumehood ps` lists the running cells"))?;
    let network = Configuration::read(folders, &Given::default())?.network(&server)?;
    let mut problems = Vec::new();
    let checked = cell::network::check(&network, &mut problems);
    if !problems.is_empty() {
        return Err(Stop::new(USAGE, problems.join("; "), "").into());
    }
    let policy = Policy::new(server, 0, checked.rules);
    let own = OwnAddresses::open().context("reading the addresses of this machine")?;
    let dialer =
        Dialer::new(Arc::new(SystemResolver::new()), own, checked.upstreams, DialSettings::default());
    let verdict = verdict::check(&policy, &dialer, &asked.url, asked.method.as_deref()).await;
    let verdict = verdict.map_err(|error| Stop::new(USAGE, error.to_string(), ""))?;
    Ok(serde_json::from_value(serde_json::to_value(verdict)?)?)
}

fn in_words(answer: &CheckAnswer) -> String {
    let CheckAnswer { host, port, rule, kind, inspect, request, way, refusal } = answer;
    let text = match refusal {
        Some(refusal) => {
            let rule = refusal.rule.as_ref().map(|rule| format!("rule: {rule}\n")).unwrap_or_default();
            format!("refused: {} [{}]\n{rule}help: {}\n", refusal.message, refusal.code, refusal.remedy)
        }
        None => format!(
            "allowed: {}`{host}:{port}` by the rule `{}` ({}{}), to {}\n",
            request.as_ref().map(|request| format!("`{request}` at ")).unwrap_or_default(),
            rule.as_deref().unwrap_or("-"),
            kind.as_deref().unwrap_or("-"),
            if *inspect { ", looked at" } else { "" },
            way.join(", ")
        ),
    };
    terminal::harmless(&text)
}
