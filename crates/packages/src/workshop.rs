//! Where a client is let run: a cell that somebody else builds.

use std::path::PathBuf;

use cell_api::spec::CellSpec;
use model::mount::Data;

/// Runs programs in cells.
pub trait Workshop {
    /// Runs the main process of this cell to its end, with nothing on its stdin. What it says is `heard` as it comes, in
    /// pieces. Dropping the future ends the cell.
    ///
    /// # Errors
    ///
    /// [`WorkshopError`] where there was no cell, or its end is not known. That the program failed is no error here.
    fn run(
        &self,
        spec: CellSpec,
        heard: &mut dyn FnMut(Heard<'_>),
    ) -> impl Future<Output = Result<Done, WorkshopError>>;

    /// The folder of the host that such a cell sees at [`Data::INSIDE`], whether it exists or not. Its files are ours, on
    /// both sides.
    fn data_folder(&self, data: &Data) -> PathBuf;
}

/// A piece of what the program says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard<'a> {
    /// On stdout.
    Stdout(&'a [u8]),
    /// On stderr.
    Stderr(&'a [u8]),
}

/// How it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// The exit code, where it ended by itself.
    pub code: Option<i32>,
    /// How it ended, in words: `exit code 1`, `the data quota of 2 GiB was reached`.
    pub end: String,
}

/// No cell.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct WorkshopError {
    /// What happened.
    pub message: String,
    /// What to do about it, where something is known.
    pub hint: Option<String>,
}
