//! `fumehood update`: a newer version, installed beside the one in use, compared, and swapped on a person's yes.

use std::{process::ExitCode, time::SystemTime};

use cell::folders::Folders;
use tokio::task::LocalSet;

use super::{review, runtime};
use crate::{
    cli::{Given, lock::Update},
    configuration::Configuration,
    finding, places,
    server::{
        preparing,
        progress::Shown,
        staged,
        standing::Standing,
        target::{Home, Source, Target},
    },
    stop::{Stop, USAGE},
    terminal,
};

/// Each in its turn. What fails keeps no other from being updated.
pub(crate) fn perform(asked: &Update) -> anyhow::Result<ExitCode> {
    let folders = places::folders()?;
    let targets: Vec<Target> = if asked.names.is_empty() {
        finding::all(&folders)?.into_iter().filter_map(|(_, target)| target.ok()).collect()
    } else {
        asked.names.iter().map(|name| finding::find(&folders, name)).collect::<anyhow::Result<_>>()?
    };
    if asked.accept.is_some() && targets.len() != 1 {
        return Err(Stop::new(USAGE, "`--accept` is for one server", "name it").into());
    }
    let runtime = runtime()?;
    let local = LocalSet::new();
    let mut code = ExitCode::SUCCESS;
    for target in targets {
        let Source::Package(_) = &target.source else {
            if !asked.names.is_empty() {
                terminal::say(&format!("{}: it is no package, so it has no versions", target.name));
            }
            continue;
        };
        let outcome = runtime.block_on(local.run_until(one(&target, &folders, asked.accept.as_deref())));
        match outcome {
            Ok(outcome) if outcome == ExitCode::SUCCESS => {}
            Ok(other) => code = other,
            Err(error) => {
                terminal::say(&format!("{}:", target.name));
                code = crate::stop::tell(&error);
            }
        }
    }
    drop(local);
    runtime.shutdown_background();
    Ok(code)
}

async fn one(target: &Target, folders: &Folders, accept: Option<&str>) -> anyhow::Result<ExitCode> {
    let standing = Standing::of(target, folders)?;
    let (Standing::Ready(before) | Standing::Absent(before)) = standing else {
        let reason = standing.reason().unwrap_or_default();
        let hint = format!("`{}` comes first", standing.remedy(target));
        return Err(Stop::new(USAGE, format!("{}: {reason}", target.name), hint).into());
    };
    let Source::Package(asked) = &target.source else { return Ok(ExitCode::SUCCESS) };
    let newest = packages::newest(asked, &version(&before.pinned.source)).await.map_err(|error| {
        let hint = error.hint();
        Stop::new(crate::stop::FAILURE, error.to_string(), hint)
    })?;
    let mut wanted = target.clone();
    // A version that the declaration names is replaced; one that it leaves open is chosen anew.
    let names_version = asked.at(None) != *asked;
    if names_version && target.home == Home::CommandLine {
        terminal::say(&format!(
            "{}: its command names the version; {} is the newest",
            target.name, newest.version
        ));
        return Ok(ExitCode::SUCCESS);
    }
    if names_version {
        let next = asked.at(Some(&newest.version));
        if let (Some(old), Some(new)) = (&asked.main, &next.main) {
            for word in &mut wanted.spec.command {
                if word == old {
                    word.clone_from(new);
                }
            }
        }
        wanted.source = Source::Package(next);
    }
    let mut shown = Shown::new(target.spec.name.as_str());
    let prepared = preparing::prepare(&wanted, folders, None, &mut |step| shown.step(&step)).await;
    drop(shown);
    let prepared = prepared?;
    if prepared.entry.tree == before.tree && prepared.entry.pinned.fingerprint == before.pinned.fingerprint {
        terminal::say(&format!("{}: {} is the newest there is", target.name, before.pinned.source));
        staged::clear(target, folders)?;
        return Ok(ExitCode::SUCCESS);
    }
    staged::write(target, folders, &prepared.entry)?;
    let min_age = Configuration::read(folders, &Given::default())?.min_age();
    if let Some(age) = newest.released.and_then(|released| SystemTime::now().duration_since(released).ok())
        && age < min_age
    {
        terminal::say(&format!(
            "{}: {} was released {} ago, which is younger than {} days: a theft of an author's account is often \
             noticed within days",
            target.name,
            newest.version,
            days(age.as_secs()),
            min_age.as_secs() / 86_400
        ));
    }
    if let Some(why) = &newest.withdrawn {
        terminal::say(&format!("{}: its author has withdrawn {}: {why}", target.name, newest.version));
    }
    review::one(target, folders, &review::Wish::from_accept(accept)).await
}

/// The version in a source such as `npx:x@1.2` or `uvx:x==1.2`.
pub(super) fn version(source: &str) -> String {
    source.rsplit_once(['@', '=']).map(|(_, version)| version.to_owned()).unwrap_or_default()
}

/// As a person says it.
pub(super) fn days(seconds: u64) -> String {
    match seconds / 3_600 {
        0 => "less than an hour".to_owned(),
        hours @ 1..=47 => format!("{hours} hours"),
        hours => format!("{} days", hours / 24),
    }
}
