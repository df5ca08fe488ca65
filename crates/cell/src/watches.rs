//! What looks after a running cell: its data folder, and what appears in its writable mounts.

use std::{collections::BTreeSet, io, path::PathBuf, rc::Rc, time::Duration};

use cell_api::{event::EventKind, order::LogMark, spec::CellSpec};
use model::exit::Cause;
use tokio::{sync::watch, time::Instant};

use crate::{
    cell::{Cell, Watches, Wish},
    data_quota,
    guarded_watch::{GuardedWatch, Sighting},
};

/// How long the last look may take, once nothing of the cell runs any more.
const LAST_LOOK: Duration = Duration::from_millis(200);

/// Begins to look. `guarded` are the names that existed before the start.
pub(crate) fn begin(cell: &Rc<Cell>, spec: &CellSpec, data: Option<PathBuf>, guarded: Vec<PathBuf>) {
    let (living, ended) = watch::channel(());
    let mut watches = Watches { living: Some(living), ..Watches::default() };
    if let (Some(folder), Some(data)) = (data, &spec.data) {
        let (cell, quota) = (Rc::clone(cell), data.size);
        watches.quota = Some(tokio::task::spawn_local(async move {
            data_quota::exceeded(folder, quota).await;
            cell.wish(Wish::AtOnce(Cause::DataQuota));
        }));
    }
    let known: BTreeSet<PathBuf> = guarded.into_iter().collect();
    for mount in spec.mounts.iter().filter(|mount| mount.write) {
        let (cell, known, root) = (Rc::clone(cell), known.clone(), mount.path.clone());
        let ended = ended.clone();
        watches.mounts.push(tokio::task::spawn_local(async move { look(&cell, root, known, ended).await }));
    }
    cell.state.borrow_mut().watches = watches;
}

/// Ends the watches, but lets those over mounts see what was done up to now: a tool may plant and end at once.
pub(crate) async fn end(cell: &Cell) {
    let Watches { quota, mounts, living } = std::mem::take(&mut cell.state.borrow_mut().watches);
    drop(living);
    if let Some(quota) = quota {
        quota.abort();
    }
    let deadline = Instant::now() + LAST_LOOK;
    for mut mount in mounts {
        if tokio::time::timeout_at(deadline, &mut mount).await.is_err() {
            mount.abort();
            note(cell, "the last changes in its writable mounts were too many to be looked at".into());
        }
    }
}

async fn look(cell: &Cell, root: PathBuf, known: BTreeSet<PathBuf>, mut ended: watch::Receiver<()>) {
    // A single file has no folder in which something could appear.
    if !root.is_dir() {
        return;
    }
    let begun = GuardedWatch::begin(root.clone(), known).await;
    let watched = match begun {
        Ok(mut watch) => until_end(cell, &mut watch, &mut ended).await,
        Err(error) => Err(error),
    };
    if let Err(error) = watched {
        note(cell, format!("new names in `{}` are not watched (any longer): {error}", root.display()));
    }
}

async fn until_end(cell: &Cell, watch: &mut GuardedWatch, ended: &mut watch::Receiver<()>) -> io::Result<()> {
    loop {
        tokio::select! {
            sighting = watch.next() => tell(cell, sighting?),
            _ = ended.changed() => break,
        }
    }
    for sighting in watch.rest()? {
        tell(cell, sighting);
    }
    Ok(())
}

fn tell(cell: &Cell, sighting: Sighting) {
    match sighting {
        Sighting::Guarded { path, what } => cell.events.push(EventKind::GuardedFile { path, what }),
        Sighting::Partial(text) => note(cell, text),
    }
}

fn note(cell: &Cell, text: String) {
    cell.log_line(LogMark::Fumehood, &text);
    cell.state.borrow_mut().notes.push(text);
}
