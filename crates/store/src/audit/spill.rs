//! Where notes go while the database takes none: a file of lines beside it, one for each process.
//!
//! Room for it is taken when it is made, so that there is some when the disk is full. Lines are written in order and synced
//! before a note counts as recorded; they are brought into the database in order. The lock on it says
//! that its process lives: what a dead one left is taken over by the next that opens the record.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader, Seek, SeekFrom},
    os::unix::fs::{FileExt, MetadataExt},
    path::{Path, PathBuf},
};

use rustix::fs::{FallocateFlags, fallocate};
use uuid::Uuid;

use super::{
    AuditError, Event, own,
    step::{Step, reached},
};

/// How the names of the files begin.
const BEGINNING: &str = "spill-";
/// How they end.
const ENDING: &str = ".jsonl";
/// Room that is taken beforehand, in bytes: some two thousand refusals.
const RESERVE: u64 = 1 << 20;

/// A spill file that this process holds.
#[derive(Debug)]
pub(super) struct Spill {
    file: File,
    path: PathBuf,
    id: String,
    /// Bytes of whole lines.
    len: u64,
    /// How many lines.
    lines: u64,
}

/// The lines of a file, one after another.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    reader: BufReader<&'a File>,
    path: &'a Path,
    bytes: u64,
}

impl Spill {
    /// Makes this process's own, and takes room for it.
    pub(super) fn make(folder: &Path) -> Result<Self, AuditError> {
        loop {
            let id = Uuid::now_v7().to_string();
            let path = folder.join(format!("{BEGINNING}{id}{ENDING}"));
            let file = own::open_or_make(&path)?;
            own::lock(&file, &path)?;
            // Before it had its lock it looked like a dead process's, and may have been removed as such.
            if file.metadata().map_err(own::failed("looking at", &path))?.nlink() > 0 {
                let spill = Self { file, path, id, len: 0, lines: 0 };
                return spill.reserve().map(|()| spill);
            }
        }
    }

    /// What dead processes left, oldest first.
    pub(super) fn left_behind(folder: &Path) -> Result<Vec<Self>, AuditError> {
        let mut found = Vec::new();
        for path in files(folder)? {
            let Some(file) = own::open_to_read(&path)? else { continue };
            if !own::try_lock(&file) {
                continue;
            }
            let id = id(&path).unwrap_or_default().to_owned();
            let mut spill = Self { file, path, id, len: 0, lines: 0 };
            let mut lines = spill.lines()?;
            let mut count = 0;
            while lines.next()?.is_some() {
                count += 1;
            }
            spill.len = lines.bytes;
            spill.lines = count;
            found.push(spill);
        }
        Ok(found)
    }

    /// Whether nothing waits in it.
    pub(super) fn is_empty(&self) -> bool {
        self.lines == 0
    }

    /// Its name, under which the database knows how much of it has come in.
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// Adds lines, and returns once they are on the disk.
    pub(super) fn append(&mut self, events: &[Event]) -> Result<(), AuditError> {
        let mut bytes = Vec::new();
        for event in events {
            let line = serde_json::to_vec(event);
            let line = line.map_err(|error| AuditError::Form { seq: 0, reason: error.to_string() })?;
            bytes.extend(line);
            bytes.push(b'\n');
        }
        let (first, second) = bytes.split_at_checked(bytes.len() / 2).unwrap_or((&bytes, &[]));
        let written = self.file.write_all_at(first, self.len).and_then(|()| {
            reached(Step::SpillHalf);
            self.file.write_all_at(second, self.len + first.len() as u64)?;
            self.file.sync_data()
        });
        if let Err(error) = written {
            // Lines of which only some are there are written again as a whole.
            self.file.set_len(self.len).ok();
            return Err(own::failed("writing", &self.path)(error));
        }
        self.len += bytes.len() as u64;
        self.lines += events.len() as u64;
        reached(Step::Spilled);
        Ok(())
    }

    /// Its lines from the first one on.
    pub(super) fn lines(&self) -> Result<Lines<'_>, AuditError> {
        let mut reader = BufReader::new(&self.file);
        reader.seek(SeekFrom::Start(0)).map_err(own::failed("reading", &self.path))?;
        Ok(Lines { reader, path: &self.path, bytes: 0 })
    }

    /// Empties it, when all of it is in the database. It gets another name, as the database counts by names.
    pub(super) fn renew(&mut self, folder: &Path) -> Result<(), AuditError> {
        self.file.set_len(0).map_err(own::failed("emptying", &self.path))?;
        (self.len, self.lines) = (0, 0);
        let id = Uuid::now_v7().to_string();
        let path = folder.join(format!("{BEGINNING}{id}{ENDING}"));
        fs::rename(&self.path, &path).map_err(own::failed("renaming", &self.path))?;
        (self.id, self.path) = (id, path);
        // On a disk that is nearly full again there is none.
        self.reserve().ok();
        Ok(())
    }

    /// Removes it.
    pub(super) fn remove(self) -> Result<(), AuditError> {
        fs::remove_file(&self.path).map_err(own::failed("removing", &self.path))
    }

    fn reserve(&self) -> Result<(), AuditError> {
        use rustix::io::Errno;
        match fallocate(&self.file, FallocateFlags::KEEP_SIZE, 0, RESERVE) {
            // Some file systems take no room beforehand.
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
            Err(error) => Err(own::failed("taking room for", &self.path)(error.into())),
        }
    }
}

impl Lines<'_> {
    /// The next event. A line that has no end belongs to nobody: whoever was killed while writing it has told nobody that it
    /// is recorded.
    pub(super) fn next(&mut self) -> Result<Option<Event>, AuditError> {
        let mut line = Vec::new();
        let read = self.reader.read_until(b'\n', &mut line).map_err(own::failed("reading", self.path))?;
        if line.last() != Some(&b'\n') {
            return Ok(None);
        }
        self.bytes += read as u64;
        let event = serde_json::from_slice(&line).map(Some);
        event.map_err(|_| AuditError::Kind { path: self.path.to_owned(), wanted: "a file of events" })
    }
}

/// How many events wait in files of this folder.
pub(super) fn waiting(folder: &Path) -> Result<u64, AuditError> {
    let mut count = 0;
    for path in files(folder)? {
        if let Some(file) = own::open_to_read(&path)? {
            count += BufReader::new(file)
                .split(b'\n')
                .map_while(Result::ok)
                .filter(|line| !line.is_empty())
                .count() as u64;
        }
    }
    Ok(count)
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, AuditError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(own::failed("reading", folder))? {
        let path = entry.map_err(own::failed("reading", folder))?.path();
        if id(&path).is_some() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn id(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()?.strip_prefix(BEGINNING)?.strip_suffix(ENDING)
}
