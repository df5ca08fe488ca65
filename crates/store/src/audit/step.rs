//! The moments between which a process may be killed.

/// Where writing has come to. Tests end the process here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// The key of checkpoints has been written under another name.
    KeyWritten,
    /// The database file is there, and empty.
    FileMade,
    /// Its tables are there, and nothing is committed.
    TablesMade,
    /// A transaction has begun.
    Begun,
    /// Rows are in it.
    Inserted,
    /// It is committed.
    Committed,
    /// The head has been written.
    HeadWritten,
    /// A checkpoint is in the database.
    CheckpointInserted,
    /// It is in one of its files.
    CheckpointAppended,
    /// Half of a spilled batch is in its file.
    SpillHalf,
    /// All of it is.
    Spilled,
    /// Spilled rows are in the database, and still in their file.
    Replayed,
}

#[cfg(test)]
impl Step {
    pub(super) const ALL: [Self; 12] = [
        Self::KeyWritten,
        Self::FileMade,
        Self::TablesMade,
        Self::Begun,
        Self::Inserted,
        Self::Committed,
        Self::HeadWritten,
        Self::CheckpointInserted,
        Self::CheckpointAppended,
        Self::SpillHalf,
        Self::Spilled,
        Self::Replayed,
    ];
}

/// It has been reached.
#[cfg(not(test))]
pub(super) const fn reached(_step: Step) {}

#[cfg(test)]
pub(super) use super::tests::kill::reached;
