//! `fumehood audit`: what was recorded of calls, and whether it is as it was written.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, SystemTime},
};

use store::audit::{AuditError, Filter, Log, Row, Settings};

use crate::{
    cli::audit::{Audit, AuditVerb, Erase, Fits, Form, Search, Show, Tail},
    places,
    stop::{FAILURE, Stop, USAGE},
    terminal,
    verb::runtime,
};

mod line;
mod ocsf;
mod verify;

/// How often a followed record is looked at.
const LOOK: Duration = Duration::from_millis(200);

/// Does what was asked.
pub(crate) fn perform(asked: &Audit) -> anyhow::Result<ExitCode> {
    let folder = match &asked.folder {
        Some(folder) => folder.clone(),
        None => places::audit(&places::folders()?),
    };
    runtime()?.block_on(async {
        match &asked.what {
            AuditVerb::Tail(tail) => follow(&folder, tail).await,
            AuditVerb::Search(search) => find(&folder, search).await,
            AuditVerb::Show(show) => call(&folder, show).await,
            AuditVerb::Verify(asked) => verify::perform(&folder, asked).await,
            AuditVerb::Erase(asked) => erase(folder, asked).await,
            AuditVerb::Export(export) => {
                each(&folder, &filter(&export.fits)?, &mut |log, row| match export.format {
                    Form::Jsonl => terminal::print(&line::json(row)),
                    Form::Ocsf => terminal::print(&format!("{}\n", ocsf::event(log, row))),
                })
                .await
            }
        }
    })
}

async fn follow(folder: &Path, asked: &Tail) -> anyhow::Result<ExitCode> {
    let mut log = Log::open(folder).await.map_err(stop)?;
    let rows = log.last(asked.lines, &Filter::default()).await.map_err(stop)?;
    let mut seen = rows.last().map_or(0, |row| row.seq);
    if rows.is_empty() && asked.follow {
        seen = log.last(1, &Filter::default()).await.map_err(stop)?.last().map_or(0, |row| row.seq);
    }
    for row in rows {
        print(&row, asked.json)?;
    }
    if !asked.follow {
        return Ok(ExitCode::SUCCESS);
    }
    loop {
        let rows = log.after(seen, &Filter::default()).await.map_err(stop)?;
        if rows.is_empty() {
            tokio::time::sleep(LOOK).await;
        }
        for row in rows {
            seen = row.seq;
            print(&row, asked.json)?;
        }
    }
}

async fn find(folder: &Path, asked: &Search) -> anyhow::Result<ExitCode> {
    each(folder, &filter(&asked.fits)?, &mut |_, row| print(row, asked.json)).await
}

async fn call(folder: &Path, asked: &Show) -> anyhow::Result<ExitCode> {
    let mut log = Log::open(folder).await.map_err(stop)?;
    let rows = log.call(&asked.call).await.map_err(stop)?;
    if rows.is_empty() {
        let message = format!("nothing is recorded of the call `{}`", asked.call);
        return Err(Stop::new(FAILURE, message, "").into());
    }
    if asked.json {
        for row in &rows {
            print(row, true)?;
        }
    } else {
        terminal::print(&line::whole_call(&rows))?;
    }
    if asked.bodies {
        for row in &rows {
            if let Some(body) = log.body(row.seq).await.map_err(stop)? {
                terminal::print(&line::body(row, &body, asked.json))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn erase(folder: PathBuf, asked: &Erase) -> anyhow::Result<ExitCode> {
    if says_nothing(&asked.fits) && !asked.all {
        return Err(Stop::new(
            USAGE,
            "nothing says whose bodies are to be erased",
            "`--all` erases those of every row",
        )
        .into());
    }
    // A record is made by whoever has something to record.
    Log::open(&folder).await.map_err(stop)?.close().await.map_err(stop)?;
    let erased = store::audit::erase(Settings::new(folder), &filter(&asked.fits)?).await.map_err(stop)?;
    terminal::print(&format!("erased the bodies of {erased} rows; the rows are as they were\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// Reads the record in pages, so that a long one takes no memory.
async fn each(
    folder: &Path,
    filter: &Filter,
    take: &mut dyn FnMut(&str, &Row) -> anyhow::Result<()>,
) -> anyhow::Result<ExitCode> {
    let mut log = Log::open(folder).await.map_err(stop)?;
    let id = log.id().to_owned();
    let mut seen = 0;
    loop {
        let rows = log.after(seen, filter).await.map_err(stop)?;
        for row in &rows {
            seen = row.seq;
            take(&id, row)?;
        }
        if rows.len() < Log::PAGE {
            return Ok(ExitCode::SUCCESS);
        }
    }
}

fn print(row: &Row, json: bool) -> anyhow::Result<()> {
    terminal::print(&if json { line::json(row) } else { line::text(row) })
}

fn says_nothing(fits: &Fits) -> bool {
    let Fits { tool, server, principal, tenant, code, kind, call, since, until } = fits;
    kind.is_none()
        && call.is_none()
        && [tool, server, principal, tenant, code, since, until].into_iter().all(Option::is_none)
}

fn filter(fits: &Fits) -> anyhow::Result<Filter> {
    let now = SystemTime::now();
    let moment = |text: &Option<String>| text.as_deref().map(|text| moment(text, now)).transpose();
    Ok(Filter {
        kind: fits.kind,
        call: fits.call.clone(),
        server: fits.server.clone(),
        name: fits.tool.clone(),
        subject: fits.principal.clone(),
        tenant: fits.tenant.clone(),
        code: fits.code.clone(),
        since: moment(&fits.since)?,
        until: moment(&fits.until)?,
    })
}

/// A time, or how long ago.
fn moment(text: &str, now: SystemTime) -> anyhow::Result<SystemTime> {
    if let Ok(at) = humantime::parse_rfc3339_weak(text) {
        return Ok(at);
    }
    let ago = humantime::parse_duration(text).ok().and_then(|ago| now.checked_sub(ago));
    // Before 1970 nothing was recorded.
    let ago = ago.filter(|moment| *moment >= SystemTime::UNIX_EPOCH);
    ago.ok_or_else(|| {
        let message = format!("`{text}` is no time");
        Stop::new(USAGE, message, "write `2026-11-30T13:00:00Z`, or how long ago: `2h`, `7days`").into()
    })
}

/// With the advice.
#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` hands over")]
fn stop(error: AuditError) -> Stop {
    let hint = error.hint();
    Stop::new(FAILURE, error.to_string(), hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_written_or_told_from_now() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_hours(500_000);
        assert_eq!(moment("2h", now).unwrap(), now - Duration::from_hours(2));
        assert_eq!(moment("2027-01-15T08:00:00Z", now).unwrap(), now);
        for wrong in ["", "yesterday", "-2h", "99999999years"] {
            assert!(moment(wrong, now).is_err(), "{wrong}");
        }
    }
}
