//! Making of a declared server a pinned one: its package installed, its surface read, its table drawn up. Nothing of it is
//! accepted by that.

use std::{collections::BTreeMap, sync::Arc};

use cell::folders::Folders;
use cell_api::spec::CellSpec;
use model::digest::Digest;
use packages::{Order, Pin, Progress, order::Record};
use tools::lock::{Lists, Pinned};

use super::{
    introspecting,
    lock_file::{Entry, Tree},
    standing::{content, packages_of},
    target::{Source, Target},
    used,
    workshop::Cells,
};
use crate::stop::{FAILURE, REFUSED, Stop};

/// What came of it.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// Its table, and what belongs to it.
    pub(crate) entry: Entry,
}

/// A cell to be, and the package that it uses.
pub(crate) type Starting = (CellSpec, Option<Arc<packages::Package>>);

/// How far it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// The package is being installed.
    Package(Progress),
    /// The server is started and read.
    Reading {
        /// With its hosts and keys, rather than without any.
        with_keys: bool,
    },
}

/// Installs and reads. With `pinned`, the versions of that table are used and no others; where they are in the store,
/// nothing is fetched.
pub(crate) async fn prepare(
    target: &Target,
    folders: &Folders,
    pinned: Option<&Entry>,
    tell: &mut dyn FnMut(Step),
) -> anyhow::Result<Prepared> {
    let kept = pinned.and_then(|entry| content(folders, entry));
    let installed = match (&target.source, &kept) {
        (Source::Package(_), None) => Some(install(target, folders, pinned, tell).await?),
        _ => None,
    };
    let package = installed.as_ref().map(|installed| &installed.package).or(kept.as_ref());
    let spec = start(target, package)?;
    if let Some(package) = package {
        verify(package)?;
    }
    let with_keys = target.lists == Lists::Keys || matches!(target.source, Source::Remote { .. });
    tell(Step::Reading { with_keys });
    let poor = introspecting::poor(spec, with_keys)?;
    let surface = introspecting::read(folders, &poor, target.transport, &target.client).await?;
    let record = installed.map(|installed| installed.record);
    let mut table = Pinned {
        source: target.plain_source(),
        command: Vec::new(),
        integrity: None,
        tree: None,
        content: BTreeMap::new(),
        scripts: Vec::new(),
        client: target.client.clone(),
        lists: target.lists,
        fingerprint: *surface.fingerprint(),
        short: surface.short().to_owned(),
        hosts: Vec::new(),
        secrets: BTreeMap::new(),
        headers: Vec::new(),
        mounts: Vec::new(),
        tiers: BTreeMap::new(),
        bound: BTreeMap::new(),
    };
    let mut tree = None;
    if let (Some(before), true) = (pinned, matches!(target.source, Source::Package(_))) {
        let before_pinned = before.pinned.clone();
        table = Pinned { fingerprint: table.fingerprint, short: table.short, ..before_pinned };
        tree.clone_from(&before.tree);
    }
    if let Some(record) = &record {
        let digest = Digest::of(record.tree_file.as_bytes());
        // The same versions on another platform: what is known of the others stays.
        if table.tree != Some(digest) {
            table.content.clear();
        }
        table.content.insert(record.platform.clone(), record.content);
        table.source.clone_from(&record.source);
        table.integrity.clone_from(&record.integrity);
        table.tree = Some(digest);
        let bytes = record.tree_file.clone().into_bytes();
        tree = Some(Tree { name: record.tree_name.clone(), bytes });
    }
    target.declared_into(&mut table);
    Ok(Prepared { entry: Entry { pinned: table, surface, tree } })
}

/// Only the package of a pinned server: it was accepted, and is not here.
pub(crate) async fn fetch(
    target: &Target,
    folders: &Folders,
    pinned: &Entry,
    tell: &mut dyn FnMut(Step),
) -> anyhow::Result<Record> {
    Ok(install(target, folders, Some(pinned), tell).await?.record)
}

async fn install(
    target: &Target,
    folders: &Folders,
    pinned: Option<&Entry>,
    tell: &mut dyn FnMut(Step),
) -> anyhow::Result<packages::Installed> {
    let Source::Package(asked) = &target.source else {
        return Err(Stop::new(FAILURE, "this server is no package", "").into());
    };
    let pin = pinned.and_then(|entry| {
        let tree = entry.tree.as_ref()?;
        let digest = entry.pinned.tree?;
        Some(Pin { tree_file: &tree.bytes, tree: digest, content: None })
    });
    let order = Order {
        asked,
        name: &target.spec.name,
        pinned: pin,
        scripts: &target.scripts,
        operator: &target.spec.network.operator,
        most_data: target.most_data,
    };
    let workshop = Cells { folders: folders.clone() };
    let store = packages_of(folders);
    let mut progress = |progress| tell(Step::Package(progress));
    let installed = packages::install(order, &store, &workshop, &mut progress).await.map_err(|error| {
        let hint = error.hint();
        Stop::new(FAILURE, error.to_string(), hint)
    })?;
    // What a person is told of a table is what its tree file pins.
    if let Some(entry) = pinned
        && entry.pinned.source != installed.record.source
        && entry.tree.as_ref().is_some_and(|tree| tree.bytes == installed.record.tree_file.as_bytes())
    {
        let message = format!(
            "the lock says `{}`, but what it pins is `{}`",
            entry.pinned.source, installed.record.source
        );
        return Err(
            Stop::new(REFUSED, message, format!("pin it anew: `fumehood lock {}`", target.name)).into()
        );
    }
    let expected = pinned.and_then(|entry| entry.pinned.content.get(&installed.record.platform));
    if let Some(pinned) = expected.filter(|pinned| **pinned != installed.record.content) {
        let error = packages::InstallError::Content { pinned: *pinned, found: installed.record.content };
        let hint = error.hint();
        return Err(Stop::new(REFUSED, error.to_string(), hint).into());
    }
    Ok(installed)
}

/// The cell of a server as it will run: with its package in it, where it is one. Whether that is still what was installed
/// is looked at apart, by [`verify`].
pub(crate) fn start(target: &Target, package: Option<&packages::Package>) -> anyhow::Result<CellSpec> {
    let mut spec = target.spec.clone();
    match &target.source {
        Source::Local => {}
        Source::Package(asked) => {
            let Some(package) = package else {
                return Err(Stop::new(FAILURE, "its package is not in the store", "").into());
            };
            let start = package.start(asked).map_err(|error| {
                let hint = error.hint();
                Stop::new(FAILURE, error.to_string(), hint)
            })?;
            spec.command = start.command;
            for (name, value) in start.env {
                spec.env.entry(name).or_insert(value);
            }
            spec.package = Some(start.folder);
        }
        Source::Remote { url, headers } => {
            // Our own program speaks to it, in a cell like any other: its key stays outside.
            let program = crate::places::program()?;
            spec.command = vec![program.display().to_string(), "bridge".to_owned(), url.clone()];
            for header in headers {
                spec.command.extend(["--header".to_owned(), header.clone()]);
            }
        }
    }
    Ok(spec)
}

/// Whether a package is what was installed; nothing of it is started where it is not.
pub(crate) fn verify(package: &packages::Package) -> anyhow::Result<()> {
    package.verify().map_err(|error| {
        let hint = error.hint();
        Stop::new(REFUSED, error.to_string(), hint).into()
    })
}

/// The cell of an accepted server, and its package, which no collection takes away while that is held.
pub(crate) fn start_accepted(target: &Target, folders: &Folders, entry: &Entry) -> anyhow::Result<Starting> {
    // One that a reviewer has signed was never accepted here. What is not remembered is only installed again some day.
    used::remember(folders, &target.lock).ok();
    let package = content(folders, entry);
    let spec = start(target, package.as_ref())?;
    Ok((spec, package.map(Arc::new)))
}
