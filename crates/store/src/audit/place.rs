//! Files with checkpoints, one after another: `audit.checkpoints` in the record's folder, and a second place that is not there.

use std::{
    fs::{File, OpenOptions},
    io::{Read, Seek, SeekFrom, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use super::{
    AuditError,
    checkpoint::{Checkpoint, SIGNED},
    own,
    step::{Step, reached},
};

/// Name of the file in the record's folder.
pub(super) const FILE: &str = "audit.checkpoints";
/// How long another process may write there: rows wait meanwhile.
const PATIENCE: Duration = Duration::from_secs(1);
/// The most bytes of a note with what may stand before it.
const TAIL: u64 = 4096;
/// The largest file that is read, in bytes: some ten million checkpoints.
const LARGEST: u64 = 4 << 30;

/// A file that checkpoints are appended to.
#[derive(Debug, Clone)]
pub(super) struct Place {
    path: PathBuf,
}

/// What a file holds.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub(super) checkpoints: Vec<Checkpoint>,
    /// Lines, counted from 1, where something stands that is no checkpoint.
    pub(super) damaged: Vec<usize>,
}

impl Place {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Appends what is missing; `after` yields the notes after a size, in order.
    pub(super) async fn bring_up_to_date<F>(&self, after: F) -> Result<(), AuditError>
    where
        F: AsyncFnOnce(u64) -> Result<Vec<String>, AuditError>,
    {
        let failed = |step| own::failed(step, &self.path);
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            .open(&self.path)
            .map_err(failed("opening"))?;
        own::lock_within(PATIENCE, &file, &self.path)?;
        let tail = tail(&mut file).map_err(failed("reading"))?;
        let last = held(&tail).checkpoints.last().map_or(0, |checkpoint| checkpoint.size);
        let notes = after(last).await?;
        if notes.is_empty() {
            return Ok(());
        }
        let mut text = String::new();
        if !tail.is_empty() && !tail.ends_with("\n\n") {
            text.push_str("\n\n");
        }
        for note in notes {
            text.push_str(&note);
            text.push('\n');
        }
        file.write_all(text.as_bytes()).map_err(failed("writing"))?;
        file.sync_data().map_err(failed("writing"))?;
        reached(Step::CheckpointAppended);
        Ok(())
    }
}

/// What a file holds; nothing where there is none.
pub(super) fn read(path: &Path) -> Result<Option<Held>, AuditError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(own::failed("opening", path)(error)),
    };
    let mut bytes = Vec::new();
    file.take(LARGEST).read_to_end(&mut bytes).map_err(own::failed("reading", path))?;
    Ok(Some(held(&String::from_utf8_lossy(&bytes))))
}

/// A checkpoint is five lines and ends with a signature. A process that was killed while it wrote leaves lines before the
/// next; they are no checkpoint, and nobody has relied on them.
fn held(text: &str) -> Held {
    let mut held = Held::default();
    let mut block: Vec<&str> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        block.push(line);
        if line.starts_with(SIGNED) {
            let note =
                block.len().checked_sub(5).and_then(|start| block.get(start..)).unwrap_or(&block).join("\n");
            match Checkpoint::parse(&note) {
                Some(checkpoint) => held.checkpoints.push(checkpoint),
                None => held.damaged.push(number + 1),
            }
            block.clear();
        }
    }
    held
}

fn tail(file: &mut File) -> std::io::Result<String> {
    let len = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(len.saturating_sub(TAIL)))?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
