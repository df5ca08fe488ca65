//! The log of one cell: what its processes say on stderr, and remarks of ours. Bounded, and never in the tool's way.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

/// Size at which a file is put aside, in bytes.
pub(crate) const CAP: u64 = 8 << 20;
/// How many logs of one name are kept.
pub(crate) const KEPT: usize = 20;

/// The writer. Whatever the disk says, writing never fails: what could not be kept is counted.
#[derive(Debug)]
pub(crate) struct LogFile {
    path: PathBuf,
    file: Option<File>,
    cap: u64,
    written: u64,
    aside: u64,
    dropped: u64,
    at_line_start: bool,
}

impl LogFile {
    /// Begins `<stamp>-<id>.log` in `folder`, and removes the oldest logs there.
    pub(crate) fn begin(folder: &Path, stamp: &str, id: &str) -> io::Result<Self> {
        Self::with_cap(folder, stamp, id, CAP)
    }

    fn with_cap(folder: &Path, stamp: &str, id: &str, cap: u64) -> io::Result<Self> {
        prune(folder, KEPT - 1)?;
        let path = folder.join(format!("{stamp}-{id}.log"));
        let file = Some(open(&path)?);
        Ok(Self { path, file, cap, written: 0, aside: 0, dropped: 0, at_line_start: true })
    }

    /// The current file; the one put aside has `.1` after its name.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes that were thrown away since the beginning.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Writes bytes as they came.
    pub(crate) fn raw(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.written >= self.cap {
                self.rotate();
            }
            let room = usize::try_from(self.cap - self.written).unwrap_or(usize::MAX).min(bytes.len());
            let (now, later) = bytes.split_at(room);
            match self.file.as_mut().map(|file| file.write_all(now)) {
                Some(Ok(())) => {}
                Some(Err(_)) | None => self.dropped += now.len() as u64,
            }
            self.written += now.len() as u64;
            self.at_line_start = now.last() == Some(&b'\n');
            bytes = later;
        }
    }

    /// Writes one line with a mark before it, on a line of its own.
    pub(crate) fn line(&mut self, mark: &str, text: &str) {
        let begin = if self.at_line_start { "" } else { "\n" };
        let line = format!("{begin}{mark}| {}\n", text.replace(['\n', '\r'], " "));
        self.raw(line.as_bytes());
    }

    /// Puts the current file aside over the one before it, and says in the new one how much is gone.
    fn rotate(&mut self) {
        self.dropped += self.aside;
        self.aside = self.written;
        let mut aside = self.path.clone().into_os_string();
        aside.push(".1");
        self.file = fs::rename(&self.path, aside).and_then(|()| open(&self.path)).ok();
        self.written = 0;
        if self.dropped > 0 {
            let line = format!("fumehood| {} bytes before this part of the log were dropped\n", self.dropped);
            if self.file.as_mut().is_some_and(|file| file.write_all(line.as_bytes()).is_ok()) {
                self.written = line.len() as u64;
            }
        }
        self.at_line_start = true;
    }
}

/// The logs of one name, oldest first: the current files, not those put aside.
pub fn logs_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "log") {
            found.push(path);
        }
    }
    // A name has the second of its beginning and the cell's id, which says nothing about order.
    found.sort_by_cached_key(|path| {
        let second = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.split('-').next());
        let made = fs::metadata(path).and_then(|found| found.created().or_else(|_| found.modified())).ok();
        (second.map(str::to_owned), made, path.clone())
    });
    Ok(found)
}

fn prune(folder: &Path, keep: usize) -> io::Result<()> {
    let logs = logs_in(folder)?;
    let surplus = logs.len().saturating_sub(keep);
    for path in logs.into_iter().take(surplus) {
        let mut aside = path.clone().into_os_string();
        aside.push(".1");
        for old in [path, aside.into()] {
            match fs::remove_file(old) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
    Ok(())
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create_new(true).mode(0o600).open(path)
}

#[cfg(test)]
mod tests;
