//! The file `audit.head`: the last row that was committed, beside the database, so that a record that lost its end is noticed.
//!
//! It has two places, for even and odd rows, each written at once into bytes that are there already: whoever is killed, and
//! whatever is lost with the power, leaves an older head, and never none. So it may be behind the database, and never before it.

use std::{
    fs::File,
    io::Read,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

use model::digest::Digest;

use super::{AuditError, own, row::Head};

/// Name of the file in the record's folder.
pub(super) const FILE: &str = "audit.head";
/// Size of each place, in bytes, with the line end.
const PLACE: usize = 128;

/// The file, open.
#[derive(Debug)]
pub(super) struct HeadFile {
    file: File,
    path: PathBuf,
}

impl HeadFile {
    /// Opens it, and makes it where it is missing; what it says.
    pub(super) fn open(folder: &Path) -> Result<(Self, Option<Head>), AuditError> {
        let path = folder.join(FILE);
        let mut file = own::open_or_make(&path)?;
        let head = parse(&mut file, &path)?;
        Ok((Self { file, path }, head))
    }

    /// Puts a head in the place of the one before the last.
    pub(super) fn write(&self, head: Head) -> Result<(), AuditError> {
        let text = format!("{:020} {}", head.seq, head.hash.hex());
        let line = format!("{:<1$}\n", format!("{text} {}", check(&text)), PLACE - 1);
        let offset = if head.seq.is_multiple_of(2) { 0 } else { PLACE as u64 };
        self.file.write_all_at(line.as_bytes(), offset).map_err(own::failed("writing", &self.path))
    }

    /// Makes it last.
    pub(super) fn sync(&self) -> Result<(), AuditError> {
        self.file.sync_data().map_err(own::failed("writing", &self.path))
    }
}

/// What the file in this folder says; nothing where there is none, or nothing has been written.
pub(super) fn read(folder: &Path) -> Result<Option<Head>, AuditError> {
    let path = folder.join(FILE);
    match own::open_to_read(&path)? {
        Some(mut file) => parse(&mut file, &path),
        None => Ok(None),
    }
}

fn parse(file: &mut File, path: &Path) -> Result<Option<Head>, AuditError> {
    let mut bytes = Vec::new();
    file.take(2 * PLACE as u64).read_to_end(&mut bytes).map_err(own::failed("reading", path))?;
    let newest = bytes.chunks(PLACE).filter_map(one).max_by_key(|head| head.seq);
    match newest {
        // Row 1 is written to the second place; the kernel fills the first with zeros.
        None if bytes.iter().any(|byte| *byte != 0) => {
            Err(AuditError::Kind { path: path.to_owned(), wanted: "the head of a record" })
        }
        newest => Ok(newest),
    }
}

fn one(place: &[u8]) -> Option<Head> {
    let line = str::from_utf8(place).ok()?.trim_end();
    let (text, sum) = line.rsplit_once(' ')?;
    if sum != check(text) {
        return None;
    }
    let (seq, hash) = text.split_once(' ')?;
    Some(Head { seq: seq.parse().ok()?, hash: Digest::from_hex(hash).ok()? })
}

/// Against a place that was written in part, and nothing else.
fn check(text: &str) -> String {
    Digest::of(text.as_bytes()).hex().chars().take(16).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_newer_whole_place_counts() {
        let folder = tempfile::tempdir().unwrap();
        let (file, none) = HeadFile::open(folder.path()).unwrap();
        assert_eq!((none, read(folder.path()).unwrap()), (None, None));
        for seq in 1..=6 {
            let head = Head { seq, hash: Digest::of(&[u8::try_from(seq).unwrap()]) };
            file.write(head).unwrap();
            assert_eq!(read(folder.path()).unwrap(), Some(head));
        }
        file.sync().unwrap();
        let path = folder.path().join(FILE);
        let whole = fs::read(&path).unwrap();
        for at in 0..PLACE - 30 {
            let mut torn = whole.clone();
            torn[at] ^= 1;
            fs::write(&path, &torn).unwrap();
            assert_eq!(read(folder.path()).unwrap().unwrap().seq, 5, "{at}");
        }
        fs::write(&path, vec![b'x'; 256]).unwrap();
        assert!(matches!(read(folder.path()), Err(AuditError::Kind { .. })));
    }
}
