//! The search of read-only mounts for sockets, while the cell is built: a tree of many thousand entries takes longer than
//! everything else.

use std::{
    io,
    thread::{Builder, JoinHandle},
};

use sandbox::host::{MountError, Unsearched};
use tokio::sync::oneshot;

/// A search that was begun.
#[derive(Debug)]
pub(crate) struct Search(Option<(JoinHandle<()>, oneshot::Receiver<Outcome>)>);

type Outcome = Result<(), MountError>;

impl Search {
    /// Begins it on a thread of its own; none where there is nothing to be searched.
    pub(crate) fn begin(mounts: Vec<Unsearched>) -> io::Result<Self> {
        if mounts.is_empty() {
            return Ok(Self(None));
        }
        let (tell, told) = oneshot::channel();
        let searching = Builder::new().name("mounts".to_owned()).stack_size(256 << 10).spawn(move || {
            // Nobody waits any more where the cell could not be built.
            tell.send(mounts.iter().try_for_each(Unsearched::search)).ok();
        })?;
        Ok(Self(Some((searching, told))))
    }

    /// Waits for its end, and for that of its thread: whoever confines this process afterwards must find no other.
    pub(crate) async fn done(self) -> io::Result<Outcome> {
        let Some((searching, told)) = self.0 else { return Ok(Ok(())) };
        let told = told.await;
        searching.join().ok();
        told.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}
