//! A tree of files as a list that has a digest.

use std::{
    ffi::{OsStr, OsString},
    fs::{self, Metadata},
    io,
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::{Path, PathBuf},
};

use model::digest::Digest;

/// The most entries of one tree: some ten times of what the largest servers have.
pub(super) const MOST: usize = 200_000;

/// A folder at the root of a tree with what was written here for starting it: it names places of this machine.
pub(crate) const OWN: &str = ".fumehood";

/// Every entry of a tree, parents before what is in them, else by name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Listing(pub(super) Vec<Entry>);

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// From the root of the tree on.
    pub(super) path: PathBuf,
    /// What it is.
    pub(super) what: What,
}

/// What an entry is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What {
    Folder,
    File { executable: bool, hash: Digest },
    Link { target: PathBuf },
}

impl Listing {
    /// SHA-256 over kind, hash or target, and path of every entry that is not [`is_made_here`].
    pub(super) fn content(&self) -> Digest {
        let mut bytes = b"fumehood-tree/1\0".to_vec();
        for entry in self.0.iter().filter(|entry| !is_made_here(&entry.path)) {
            entry.write(&mut bytes);
        }
        Digest::of(&bytes)
    }

    /// For a file: three fields an entry, each ended by NUL, which neither a path nor a target has.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for entry in &self.0 {
            entry.write(&mut bytes);
        }
        bytes
    }

    /// From that file; nothing where it is none.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let fields: Vec<&[u8]> = bytes.strip_suffix(b"\0")?.split(|byte| *byte == 0).collect();
        let path = |bytes: &[u8]| PathBuf::from(OsString::from_vec(bytes.to_vec()));
        let hash = |digits: &[u8]| Digest::from_hex(std::str::from_utf8(digits).ok()?).ok();
        let entries = fields.chunks(3).map(|fields| {
            let [kind, detail, place] = fields else { return None };
            let what = match *kind {
                b"d" => What::Folder,
                b"f" => What::File { executable: false, hash: hash(detail)? },
                b"x" => What::File { executable: true, hash: hash(detail)? },
                b"l" => What::Link { target: path(detail) },
                _ => return None,
            };
            Some(Entry { path: path(place), what })
        });
        entries.collect::<Option<_>>().map(Self)
    }

    /// The first entry that is not the same in both, and what about it.
    pub(super) fn difference(&self, now: &Self) -> Option<(PathBuf, &'static str)> {
        let mut before = self.0.iter().peekable();
        let mut after = now.0.iter().peekable();
        loop {
            match (before.peek(), after.peek()) {
                (None, None) => return None,
                (Some(gone), None) => return Some((gone.path.clone(), "is missing")),
                (None, Some(new)) => return Some((new.path.clone(), "was added")),
                (Some(was), Some(is)) if was == is => {
                    before.next();
                    after.next();
                }
                (Some(was), Some(is)) if was.path == is.path => {
                    return Some((was.path.clone(), "was changed"));
                }
                (Some(was), Some(is)) => {
                    let is_gone = !now.0.iter().any(|entry| entry.path == was.path);
                    return Some(if is_gone {
                        (was.path.clone(), "is missing")
                    } else {
                        (is.path.clone(), "was added")
                    });
                }
            }
        }
    }
}

impl Entry {
    fn write(&self, bytes: &mut Vec<u8>) {
        let hex;
        let (kind, detail): (&[u8], &[u8]) = match &self.what {
            What::Folder => (b"d", b""),
            What::File { executable, hash } => {
                hex = hash.hex();
                (if *executable { b"x" } else { b"f" }, hex.as_bytes())
            }
            What::Link { target } => (b"l", target.as_os_str().as_bytes()),
        };
        for field in [kind, detail, self.path.as_os_str().as_bytes()] {
            bytes.extend_from_slice(field);
            bytes.push(0);
        }
    }
}

/// Whether it was made here, from what is beside it: not the same everywhere, so no part of the content digest.
pub(super) fn is_made_here(path: &Path) -> bool {
    let is_cache = |name: Option<&OsStr>| name == Some(OsStr::new("__pycache__"));
    let compiled =
        path.extension() == Some(OsStr::new("pyc")) && is_cache(path.parent().and_then(Path::file_name));
    compiled || is_cache(path.file_name()) || path.starts_with(OWN)
}

/// Visits every entry below `root`, in the order of a [`Listing`], without following a link. The path it is told is that
/// below `root`.
pub(super) fn walk<E: From<io::Error>>(
    root: &Path,
    visit: &mut dyn FnMut(&Path, &Path, &Metadata) -> Result<(), E>,
) -> Result<(), E> {
    // Not by recursion: a tree can be deeper than a stack.
    let mut open = vec![PathBuf::new()];
    while let Some(below) = open.pop() {
        let here = root.join(&below);
        if !below.as_os_str().is_empty() {
            let facts = fs::symlink_metadata(&here)?;
            visit(&below, &here, &facts)?;
            if !facts.is_dir() {
                continue;
            }
        }
        let mut names =
            fs::read_dir(&here)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>()?;
        names.sort_unstable();
        open.extend(names.into_iter().rev().map(|name| below.join(name)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, content: &str) -> Entry {
        Entry {
            path: path.into(),
            what: What::File { executable: false, hash: Digest::of(content.as_bytes()) },
        }
    }

    fn listing(entries: &[Entry]) -> Listing {
        Listing(entries.to_vec())
    }

    #[test]
    fn every_fact_of_a_tree_changes_its_digest_and_what_is_compiled_here_does_not() {
        let folder = |path: &str| Entry { path: path.into(), what: What::Folder };
        let link = |path: &str, target: &str| Entry {
            path: path.into(),
            what: What::Link { target: target.into() },
        };
        let executable =
            Entry { path: "a".into(), what: What::File { executable: true, hash: Digest::of(b"1") } };
        let trees = [
            listing(&[]),
            listing(&[file("a", "1")]),
            listing(&[file("a", "2")]),
            listing(&[file("b", "1")]),
            listing(&[executable]),
            listing(&[folder("a")]),
            listing(&[link("a", "b")]),
            listing(&[link("a", "c")]),
            listing(&[file("a", "1"), file("b", "1")]),
        ];
        for (at, one) in trees.iter().enumerate() {
            for other in trees.iter().skip(at + 1) {
                assert_ne!(one.content(), other.content(), "{one:?} {other:?}");
            }
            assert_eq!(Listing::from_bytes(&one.to_bytes()), (!one.0.is_empty()).then(|| one.clone()));
        }
        let compiled =
            listing(&[file("a", "1"), folder("__pycache__"), file("__pycache__/a.cpython-311.pyc", "x")]);
        assert_eq!(compiled.content(), listing(&[file("a", "1")]).content());
        assert!(is_made_here(Path::new(".fumehood/a")) && !is_made_here(Path::new("a/.fumehood")));
        assert!(!is_made_here(Path::new("__pycache__/a.js")) && !is_made_here(Path::new("a.pyc")));
    }

    #[test]
    fn the_first_difference_is_named() {
        let was = listing(&[file("a", "1"), file("b", "1"), file("d", "1")]);
        for (now, expected) in [
            (listing(&[file("a", "1"), file("b", "2"), file("d", "1")]), Some(("b", "was changed"))),
            (listing(&[file("a", "1"), file("d", "1")]), Some(("b", "is missing"))),
            (listing(&[file("a", "1"), file("b", "1")]), Some(("d", "is missing"))),
            (
                listing(&[file("a", "1"), file("b", "1"), file("c", "1"), file("d", "1")]),
                Some(("c", "was added")),
            ),
            (was.clone(), None),
        ] {
            assert_eq!(was.difference(&now), expected.map(|(path, what)| (path.into(), what)));
        }
    }

    #[test]
    fn a_broken_list_is_none() {
        for bytes in [&b"f\0zz\0a\0"[..], b"f\0", b"q\0\0a\0", b"d\0\0a"] {
            assert_eq!(Listing::from_bytes(bytes), None);
        }
    }
}
