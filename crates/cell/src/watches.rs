//! What looks after a running cell: its data folder, and what appears in its writable mounts.

use std::{collections::BTreeSet, path::PathBuf, rc::Rc};

use cell_api::{event::EventKind, order::LogMark, spec::CellSpec};
use model::exit::Cause;

use crate::{
    cell::{Cell, Wish},
    data_quota,
    guarded_watch::{GuardedWatch, Sighting},
};

/// Begins to look. `guarded` are the names that existed before the start.
pub(crate) fn begin(cell: &Rc<Cell>, spec: &CellSpec, data: Option<PathBuf>, guarded: Vec<PathBuf>) {
    let mut watches = Vec::new();
    if let (Some(folder), Some(data)) = (data, &spec.data) {
        let (cell, quota) = (Rc::clone(cell), data.size);
        watches.push(tokio::task::spawn_local(async move {
            data_quota::exceeded(folder, quota).await;
            cell.wish(Wish::AtOnce(Cause::DataQuota));
        }));
    }
    let known: BTreeSet<PathBuf> = guarded.into_iter().collect();
    for mount in spec.mounts.iter().filter(|mount| mount.write) {
        let (cell, known, root) = (Rc::clone(cell), known.clone(), mount.path.clone());
        watches.push(tokio::task::spawn_local(async move { look(&cell, root, known).await }));
    }
    cell.state.borrow_mut().watches = watches;
}

async fn look(cell: &Cell, root: PathBuf, known: BTreeSet<PathBuf>) {
    // A single file has no folder in which something could appear.
    if !root.is_dir() {
        return;
    }
    let mut watch = match GuardedWatch::begin(root.clone(), known).await {
        Ok(watch) => watch,
        Err(error) => {
            return note(cell, format!("new names in `{}` are not watched: {error}", root.display()));
        }
    };
    loop {
        match watch.next().await {
            Ok(Sighting::Guarded { path, what }) => {
                cell.events.push(EventKind::GuardedFile { path, what });
            }
            Ok(Sighting::Partial(text)) => note(cell, text),
            Err(error) => {
                return note(
                    cell,
                    format!("new names in `{}` are no longer watched: {error}", root.display()),
                );
            }
        }
    }
}

fn note(cell: &Cell, text: String) {
    cell.log_line(LogMark::Fumehood, &text);
    cell.state.borrow_mut().notes.push(text);
}
