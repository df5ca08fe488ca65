//! Whether a record is as it was written: from its files alone, without whoever writes it.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use model::digest::Digest;

use super::{
    AuditError, VerifierKey,
    checkpoint::Checkpoint,
    head, place,
    row::Head,
    spill,
    sqlite::{self, Reader},
    tree::Tree,
};

mod chain;

/// How many rows are read at once.
const PAGE: i64 = 1000;
/// The most rows that one transaction writes: so many there may be before the first head is written.
const FIRST: u64 = 513;

/// What is verified, and against what.
#[derive(Debug, Clone)]
pub struct Verification {
    /// The record's folder, or a copy of it.
    pub folder: PathBuf,
    /// Who has to have signed the checkpoints. The key that lies in the folder, where none is given: whoever could change the
    /// rows may have put another there.
    pub key: Option<VerifierKey>,
    /// More files with checkpoints: the second place, or older copies of it.
    pub checkpoints: Vec<PathBuf>,
}

/// What was found.
#[derive(Debug, Clone)]
pub struct Report {
    /// The record's name.
    pub id: String,
    /// The last row of the unbroken chain.
    pub last: Head,
    /// How many checkpoints fit.
    pub checkpoints: u64,
    /// How many rows the last of them covers.
    pub sealed: u64,
    /// Whose signatures they have; nothing where no key is known, and signatures were not looked at.
    pub key: Option<VerifierKey>,
    /// How many events wait in files beside the database.
    pub waiting: u64,
    /// What is wrong, the first bad row first.
    pub faults: Vec<Fault>,
}

/// Something that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The first bad row, from 1; nothing where it is no row.
    pub seq: Option<u64>,
    /// Which file.
    pub file: PathBuf,
    /// In which way.
    pub how: How,
}

/// In which way something is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum How {
    /// A row's text, hash or column was changed.
    Edited(&'static str),
    /// Rows are gone, up to this one.
    Dropped {
        /// The last row that is gone.
        to: u64,
    },
    /// A row was put in between.
    Inserted,
    /// A row stands in another's place.
    Reordered {
        /// The number it was written with.
        written: u64,
    },
    /// A row is whole, and not the one that the next one, the head or a checkpoint knows.
    Replaced {
        /// The last row of those of which one is not the one that was written.
        to: u64,
    },
    /// Rows at the end are gone.
    Truncated {
        /// The last row that is known to have been written.
        written: u64,
    },
    /// The file that says how far the record goes is gone, or was emptied.
    HeadMissing,
    /// It is not what is written.
    HeadDamaged,
    /// The file with checkpoints is gone.
    CheckpointsMissing,
    /// Something stands there that is no checkpoint.
    CheckpointDamaged {
        /// In which line, from 1.
        line: usize,
    },
    /// Another key signed it, or none.
    CheckpointSignature {
        /// How many rows it covers.
        size: u64,
    },
    /// It is of another record.
    CheckpointForeign {
        /// Of which.
        origin: String,
    },
}

impl Report {
    /// Whether everything is as it was written.
    pub fn is_whole(&self) -> bool {
        self.faults.is_empty()
    }
}

impl How {
    /// A word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Edited(_) => "edited",
            Self::Dropped { .. } => "dropped",
            Self::Inserted => "inserted",
            Self::Reordered { .. } => "reordered",
            Self::Replaced { .. } => "replaced",
            Self::Truncated { .. } => "truncated",
            Self::HeadMissing => "head_missing",
            Self::HeadDamaged => "head_damaged",
            Self::CheckpointsMissing => "checkpoints_missing",
            Self::CheckpointDamaged { .. } => "checkpoint_damaged",
            Self::CheckpointSignature { .. } => "checkpoint_signature",
            Self::CheckpointForeign { .. } => "checkpoint_foreign",
        }
    }
}

impl Fault {
    /// Whether it says, with less certainty, that the row is bad that the other one names.
    fn covers(&self, other: &Self) -> bool {
        let last = match self.how {
            How::Replaced { to } => Some(to),
            _ => None,
        };
        self.seq <= other.seq && other.seq <= last
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.display();
        let row = self.seq.unwrap_or_default();
        match &self.how {
            How::Edited(what) => write!(f, "row {row} was edited: {what}"),
            How::Dropped { to } if *to == row => write!(f, "row {row} is gone"),
            How::Dropped { to } => write!(f, "rows {row} to {to} are gone"),
            How::Inserted => write!(f, "row {row} was put in afterwards"),
            How::Reordered { written } => write!(f, "row {written} stands in the place of row {row}"),
            How::Replaced { to } if *to == row => write!(f, "row {row} is not the one that was written"),
            How::Replaced { to } => {
                write!(
                    f,
                    "of rows {row} to {to} at least one is not the one that was written: `{file}` says so"
                )
            }
            How::Truncated { written } => {
                write!(f, "the record ends before row {row}: `{file}` says that there were {written} rows")
            }
            How::HeadMissing => {
                write!(f, "`{file}`, which says how far the record goes, is gone or was emptied")
            }
            How::HeadDamaged => write!(f, "`{file}`, which says how far the record goes, is damaged"),
            How::CheckpointsMissing => write!(f, "the checkpoints in `{file}` are gone"),
            How::CheckpointDamaged { line } => {
                write!(f, "line {line} of `{file}` is no signature of a checkpoint")
            }
            How::CheckpointSignature { size } => {
                write!(f, "the checkpoint over {size} rows in `{file}` is not signed with the record's key")
            }
            How::CheckpointForeign { origin } => {
                write!(
                    f,
                    "`{file}` has a checkpoint of another record, `{}`",
                    model::visible::excerpt(origin, 80)
                )
            }
        }
    }
}

/// Looks at every row, the head, and all checkpoints.
///
/// # Errors
///
/// [`AuditError`] where the files cannot be read at all. What is wrong with what they hold is in the report.
pub async fn verify(asked: &Verification) -> Result<Report, AuditError> {
    let folder = &asked.folder;
    let database = folder.join(sqlite::FILE);
    let mut faults = Vec::new();
    // In this order, as whoever writes meanwhile writes rows first.
    let head = head::read(folder);
    let files = files(asked)?;
    let mut reader = match Reader::open(folder).await {
        Err(AuditError::Missing(_)) if matches!(head, Ok(Some(_))) => {
            let written = head.ok().flatten().map_or(0, |head| head.seq);
            return Err(AuditError::Truncated { path: database, found: 0, written });
        }
        opened => opened?,
    };
    reader.freeze().await?;
    let id = reader.id().to_owned();
    let key = match &asked.key {
        Some(key) => Some(key.clone()),
        None => VerifierKey::of_folder(folder, &id)?,
    };
    let mut checkpoints = Vec::new();
    collect(&mut reader, files, &database, &mut checkpoints, &mut faults).await?;
    checkpoints.retain(|(checkpoint, file)| {
        let how = if checkpoint.origin != id {
            How::CheckpointForeign { origin: checkpoint.origin.clone() }
        } else if key.as_ref().is_some_and(|key| !checkpoint.is_signed_by(key)) {
            How::CheckpointSignature { size: checkpoint.size }
        } else {
            return true;
        };
        faults.push(Fault { seq: None, file: file.clone(), how });
        false
    });
    checkpoints.sort_by_key(|(checkpoint, _)| checkpoint.size);
    let head_path = folder.join(head::FILE);
    let head = match head {
        Ok(head) => head,
        Err(AuditError::Kind { .. }) => {
            faults.push(Fault { seq: None, file: head_path.clone(), how: How::HeadDamaged });
            None
        }
        Err(error) => return Err(error),
    };

    let mut against = Against { checkpoints: &checkpoints, next: 0, head, sealed: 0, head_path: &head_path };
    let walked = chain::walk(&mut reader, &database, &id, &mut against).await?;
    let sealed = against.sealed;
    let fitting = checkpoints.iter().filter(|(checkpoint, _)| checkpoint.size <= sealed).count() as u64;
    let seq = walked.last.seq;
    faults.extend(walked.faults);
    if walked.is_at_end {
        let ahead = checkpoints.iter().map(|(checkpoint, file)| (checkpoint.size, file));
        let written =
            ahead.chain(head.iter().map(|head| (head.seq, &head_path))).max_by_key(|(size, _)| *size);
        if let Some((written, file)) = written.filter(|(written, _)| *written > seq) {
            let how = How::Truncated { written };
            faults.push(Fault { seq: Some(seq + 1), file: file.clone(), how });
        }
    }
    let is_new = checkpoints.is_empty() && seq < FIRST && head_path.exists();
    if head.is_none() && seq > 0 && !is_new && !faults.iter().any(|fault| fault.how == How::HeadDamaged) {
        faults.push(Fault { seq: None, file: head_path.clone(), how: How::HeadMissing });
    }
    faults.sort_by_key(|fault| fault.seq.unwrap_or(u64::MAX));
    reader.close().await?;
    let waiting = spill::waiting(folder)?;
    Ok(Report { id, last: walked.last, checkpoints: fitting, sealed, key, waiting, faults })
}

/// What rows are compared with on the way.
struct Against<'a> {
    /// By size.
    checkpoints: &'a [(Checkpoint, PathBuf)],
    next: usize,
    head: Option<Head>,
    head_path: &'a Path,
    /// Rows that the last checkpoint covers that fits.
    sealed: u64,
}

impl Against<'_> {
    /// Looks whether what is known of the first rows fits the tree over them.
    fn compare(&mut self, tree: &Tree, hash: &Digest, faults: &mut Vec<Fault>) {
        while let Some((checkpoint, file)) = self.checkpoints.get(self.next)
            && checkpoint.size <= tree.size()
        {
            self.next += 1;
            if checkpoint.size < tree.size() {
                continue;
            }
            if checkpoint.root == tree.root() {
                self.sealed = checkpoint.size;
            } else {
                let how = How::Replaced { to: checkpoint.size };
                faults.push(Fault { seq: Some(self.sealed + 1), file: file.clone(), how });
            }
        }
        if let Some(head) = self.head
            && head.seq == tree.size()
            && head.hash != *hash
        {
            let how = How::Replaced { to: head.seq };
            faults.push(Fault { seq: Some(head.seq), file: self.head_path.to_owned(), how });
        }
    }
}

/// The files with checkpoints: path, what they hold.
fn files(asked: &Verification) -> Result<Vec<(PathBuf, Option<place::Held>)>, AuditError> {
    let mut all = Vec::new();
    for path in std::iter::once(&asked.folder.join(place::FILE)).chain(&asked.checkpoints) {
        all.push((path.clone(), place::read(path)?));
    }
    Ok(all)
}

/// All checkpoints, of the files and of the database.
async fn collect(
    reader: &mut Reader,
    files: Vec<(PathBuf, Option<place::Held>)>,
    database: &Path,
    all: &mut Vec<(Checkpoint, PathBuf)>,
    faults: &mut Vec<Fault>,
) -> Result<(), AuditError> {
    let (mut size, mut number) = (0, 0_u64);
    loop {
        let notes = reader.checkpoints_after(size, PAGE).await?;
        let before = size;
        for note in notes {
            number += 1;
            if let Some(checkpoint) = Checkpoint::parse(&note) {
                size = size.max(checkpoint.size);
                all.push((checkpoint, database.to_owned()));
            } else {
                let how = How::CheckpointDamaged { line: usize::try_from(number).unwrap_or_default() };
                faults.push(Fault { seq: None, file: database.to_owned(), how });
            }
        }
        if size == before {
            break;
        }
    }
    for (place, (path, held)) in files.into_iter().enumerate() {
        match held {
            Some(held) => {
                for line in held.damaged {
                    let how = How::CheckpointDamaged { line };
                    faults.push(Fault { seq: None, file: path.clone(), how });
                }
                all.extend(held.checkpoints.into_iter().map(|checkpoint| (checkpoint, path.clone())));
            }
            // A process that was killed after its first one has not written the file.
            None if place > 0 || number > 1 => {
                faults.push(Fault { seq: None, file: path, how: How::CheckpointsMissing });
            }
            None => {}
        }
    }
    Ok(())
}
