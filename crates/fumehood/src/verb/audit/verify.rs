//! `fumehood audit verify`.

use std::{fmt::Write, path::Path, process::ExitCode};

use serde_json::json;
use store::audit::{AuditError, Report, Verification, verify};

use super::stop;
use crate::{cli::audit::Verify, terminal};

/// Says what is wrong, the first bad row first; the exit code is 1 where anything is.
pub(super) async fn perform(folder: &Path, asked: &Verify) -> anyhow::Result<ExitCode> {
    let verification = Verification {
        folder: folder.to_owned(),
        key: asked.key.clone(),
        checkpoints: asked.checkpoints.clone(),
    };
    let report = match verify(&verification).await {
        Ok(report) => report,
        Err(error @ AuditError::Truncated { .. }) if asked.json => {
            let fault = json!({ "row": 1, "how": "truncated", "text": error.to_string() });
            terminal::print(&format!("{}\n", json!({ "whole": false, "faults": [fault] })))?;
            return Ok(ExitCode::FAILURE);
        }
        Err(error) => return Err(stop(error).into()),
    };
    terminal::print(&if asked.json { as_json(&report) } else { as_text(&report, asked.key.is_some()) })?;
    Ok(if report.is_whole() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn as_text(report: &Report, is_key_given: bool) -> String {
    let mut text = String::new();
    // Writing to a text does not fail.
    writeln!(text, "record       {}", report.id).ok();
    writeln!(text, "rows         {} in an unbroken chain, the last {}", report.last.seq, report.last.hash)
        .ok();
    let after = report.last.seq.saturating_sub(report.sealed);
    writeln!(
        text,
        "checkpoints  {} fit, over {} rows; {after} rows came after",
        report.checkpoints, report.sealed
    )
    .ok();
    match &report.key {
        Some(key) if is_key_given => writeln!(text, "signed by    {key}").ok(),
        Some(key) => {
            writeln!(text, "signed by    {key} (the key in the folder; `--key` names one that you know)").ok()
        }
        None => writeln!(text, "signed by    nobody knows: `--key` names the public key").ok(),
    };
    if report.waiting > 0 {
        writeln!(text, "waiting      {} events lie beside it, as the database took none", report.waiting)
            .ok();
    }
    for fault in &report.faults {
        writeln!(text, "wrong        {}", terminal::harmless(&fault.to_string())).ok();
    }
    if report.is_whole() {
        text += "whole        nothing was changed, dropped, moved or cut off\n";
    }
    text
}

fn as_json(report: &Report) -> String {
    let faults: Vec<_> = report
        .faults
        .iter()
        .map(|fault| json!({ "row": fault.seq, "how": fault.how.code(), "file": fault.file, "text": fault.to_string() }))
        .collect();
    let value = json!({
        "record": report.id,
        "whole": report.is_whole(),
        "rows": report.last.seq,
        "last": report.last.hash,
        "checkpoints": report.checkpoints,
        "sealed": report.sealed,
        "key": report.key.as_ref().map(ToString::to_string),
        "waiting": report.waiting,
        "faults": faults,
    });
    format!("{value}\n")
}
