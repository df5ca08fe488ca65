//! Everything read anew, while it serves: all of it is taken over, or nothing is.

use std::{net::SocketAddr, path::PathBuf};

use cell::folders::Folders;

use super::{
    load::{self, Loaded},
    supervisor,
};

/// Reads the files anew. What is wrong is written to the log and told to systemd, and what is in force stays so.
pub(crate) async fn again(folders: &Folders, folder: PathBuf, listen: Option<SocketAddr>) -> Option<Loaded> {
    supervisor::reloading();
    let folders = folders.clone();
    // Locks and packages are read as well, which takes its time.
    let read = tokio::task::spawn_blocking(move || load::load_for(&folders, &folder, listen)).await;
    match read {
        Ok(Ok(loaded)) => {
            for warning in &loaded.warnings {
                tracing::warn!(warning, "a word of the configuration is most likely not meant so");
            }
            return Some(loaded);
        }
        Ok(Err(problems)) => {
            for problem in &problems.0 {
                tracing::error!(problem, "the configuration is wrong; what was in force stays so");
            }
            supervisor::ready(&format!(
                "serving; the last reload found {} problem(s) and changed nothing",
                problems.0.len()
            ));
        }
        Err(error) => {
            tracing::error!(%error, "the configuration could not be read; what was in force stays so");
            supervisor::ready("serving; the last reload failed and changed nothing");
        }
    }
    None
}
