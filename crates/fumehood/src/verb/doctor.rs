//! `fumehood doctor`: builds a real cell, and says of each layer how it is held here.

use std::process::ExitCode;

use cell_api::{
    error::ErrorBody,
    info::CellInfo,
    network::NetworkSpec,
    spec::{CellSpec, Kind, Lease},
};
use model::{
    layer::{Layer, LayerState},
    limits::Limits,
    name::ServerName,
};
use serde::Serialize;

use super::runtime;
use crate::{
    cli::Doctor,
    places,
    session::Session,
    stop::{NO_WALL, Stop},
    terminal,
};

mod facts;

use facts::Fact;

/// What was found.
#[derive(Debug, Serialize)]
struct Report {
    /// Whether every wall is held.
    wall: bool,
    /// Each layer of a cell that was really built; empty where none could be.
    layers: Vec<Layer>,
    /// Why none could be built.
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<ErrorBody>,
    /// What of the host decides about layers.
    host: Vec<Fact>,
}

/// Tries and tells.
pub(crate) fn perform(asked: &Doctor) -> anyhow::Result<ExitCode> {
    let folders = places::folders()?;
    places::sweep(&folders, true);
    let built = runtime()?.block_on(async {
        let session = Session::begin(folders, &throw_away()?).await?;
        let info = session.info.clone();
        session.finish().await;
        anyhow::Ok(info)
    });
    let report = report(built)?;
    if asked.json {
        terminal::print(&format!("{}\n", serde_json::to_string_pretty(&report)?))?;
    } else {
        terminal::print(&in_words(&report, terminal::colour()))?;
    }
    Ok(if report.wall { ExitCode::SUCCESS } else { NO_WALL.into() })
}

fn throw_away() -> anyhow::Result<CellSpec> {
    Ok(CellSpec {
        name: ServerName::new("doctor")?,
        declared: None,
        kind: Kind::Code,
        // It waits for the end of its stdin, which comes with the cell's.
        command: vec!["cat".into()],
        env: std::collections::BTreeMap::new(),
        mounts: Vec::new(),
        data: None,
        package: None,
        limits: Some(Limits { require: std::collections::BTreeSet::new(), ..Limits::code() }),
        network: NetworkSpec::default(),
        secrets: Vec::new(),
        cwd: None,
        lease: Lease::Connection,
    })
}

fn report(built: anyhow::Result<CellInfo>) -> anyhow::Result<Report> {
    let host = facts::gather();
    match built {
        Ok(info) => {
            let held = |layer: &Layer| !layer.name.is_wall() || layer.state == LayerState::Enforced;
            Ok(Report { wall: info.layers.iter().all(held), layers: info.layers, refusal: None, host })
        }
        Err(error) => match error.downcast::<Stop>() {
            Ok(stop) => match stop.into_refusal() {
                Ok(refusal) => Ok(Report { wall: false, layers: Vec::new(), refusal: Some(refusal), host }),
                Err(stop) => Err(stop.into()),
            },
            Err(error) => Err(error),
        },
    }
}

fn in_words(report: &Report, colour: bool) -> String {
    let mut lines = Vec::new();
    if let Some(refusal) = &report.refusal {
        lines.push(format!("no cell can be built here: {}", refusal.message));
        lines.extend(refusal.layer.iter().map(|layer| format!("  layer: {layer}")));
        lines.extend(remedy(&refusal.hint));
        lines.push(String::new());
    }
    for Layer { name, state, detail, remedy: advice } in &report.layers {
        let kind = if name.is_wall() { "wall" } else { "depth" };
        lines.push(format!("{}{:<19}{kind:<7}{detail}", coloured(*state, colour), name.to_string()));
        if *state != LayerState::Enforced {
            lines.extend(remedy(advice));
        }
    }
    lines.extend([String::new(), "host".to_owned()]);
    for fact in &report.host {
        let mark = if fact.fine { ' ' } else { '!' };
        lines.push(format!("{mark} {:<27}{}", fact.name, fact.detail));
        if !fact.fine {
            lines.extend(remedy(&fact.remedy));
        }
    }
    let verdict = if report.wall {
        "every wall is held"
    } else {
        "a wall is not held: nothing is started on this host"
    };
    lines.extend([String::new(), verdict.to_owned()]);
    lines.iter().map(|line| line.trim_end().to_owned() + "\n").collect()
}

fn remedy(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| format!("          remedy: {text}"))
}

fn coloured(state: LayerState, colour: bool) -> String {
    let word = format!("{:<10}", state.to_string());
    let code = match state {
        LayerState::Enforced => 32,
        LayerState::Watched => 33,
        LayerState::Missing => 31,
    };
    if colour { format!("\u{1b}[{code}m{word}\u{1b}[0m") } else { word }
}
