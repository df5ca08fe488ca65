//! The machine's initial file system: a cpio archive in memory.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Absent;

/// Why a program cannot be put into a machine.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// A file cannot be read.
    #[error("`{}` cannot be read", file.display())]
    Read {
        /// Which.
        file: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// `ldd` could not be asked, or knows no place of a library.
    #[error("the libraries of `{}` are not known: {reason}", program.display())]
    Libraries {
        /// The program.
        program: PathBuf,
        /// What `ldd` said.
        reason: String,
    },
}

/// Files by their path without a leading slash.
#[derive(Debug, Clone, Default)]
pub(super) struct Image {
    entries: BTreeMap<String, Entry>,
}

#[derive(Debug, Clone)]
struct Entry {
    mode: u32,
    /// Of a file what is in it, of a symbolic link where it leads.
    contents: Vec<u8>,
}

const FOLDER: u32 = 0o040_000;
const FILE: u32 = 0o100_000;
const LINK: u32 = 0o120_000;

impl Image {
    /// An image with busybox under all of its names.
    pub(super) fn with_busybox(busybox: &Path) -> Result<Self, Absent> {
        let unusable =
            |_| Absent { what: "a busybox that runs", remedy: "install the package busybox-static" };
        let contents = std::fs::read(busybox).map_err(unusable)?;
        let list = Command::new(busybox).arg("--list").output().map_err(unusable)?;
        let mut image = Self::default();
        image.file("bin/busybox", contents, 0o755);
        for name in String::from_utf8_lossy(&list.stdout).lines().filter(|name| *name != "busybox") {
            image.put(&format!("bin/{name}"), LINK | 0o777, b"busybox".to_vec());
        }
        // What a script's first line and the kernel look for.
        image.put("sbin", LINK | 0o777, b"bin".to_vec());
        image.put("usr/sbin", LINK | 0o777, b"bin".to_vec());
        Ok(image)
    }

    pub(super) fn folder(&mut self, path: &str) {
        self.put(path, FOLDER | 0o755, Vec::new());
    }

    pub(super) fn file(&mut self, path: &str, contents: impl Into<Vec<u8>>, mode: u32) {
        self.put(path, FILE | mode, contents.into());
    }

    /// A program, and each library it needs at the path it has on this host.
    pub(super) fn program(&mut self, host: &Path, guest: &str) -> Result<(), ImageError> {
        self.copy(host, guest)?;
        let failed = |reason: String| ImageError::Libraries { program: host.to_path_buf(), reason };
        let output = Command::new("ldd").arg(host).output().map_err(|e| failed(e.to_string()))?;
        let text = String::from_utf8_lossy(&output.stdout);
        for line in text.lines() {
            if line.contains("not found") {
                return Err(failed(line.trim().to_owned()));
            }
            // `name => /path (address)`, or `/path (address)` for the loader; what has no path is in no file.
            if let Some(path) = line.split_whitespace().find(|word| word.starts_with('/')) {
                self.copy(Path::new(path), path)?;
            }
        }
        Ok(())
    }

    /// The archive as the kernel unpacks it: the `newc` format of cpio(5), with every folder before what is in it.
    pub(super) fn archive(&self) -> Vec<u8> {
        let mut archive = Vec::new();
        for (number, (path, entry)) in self.entries.iter().enumerate() {
            append(&mut archive, number + 1, path, entry.mode, &entry.contents);
        }
        append(&mut archive, 0, "TRAILER!!!", 0, &[]);
        archive
    }

    fn copy(&mut self, host: &Path, guest: &str) -> Result<(), ImageError> {
        let contents =
            std::fs::read(host).map_err(|source| ImageError::Read { file: host.to_path_buf(), source })?;
        self.file(guest, contents, 0o755);
        Ok(())
    }

    fn put(&mut self, path: &str, mode: u32, contents: Vec<u8>) {
        let path = path.trim_start_matches('/');
        for (at, _) in path.match_indices('/') {
            let above = path.get(..at).unwrap_or_default();
            let folder = || Entry { mode: FOLDER | 0o755, contents: Vec::new() };
            self.entries.entry(above.to_owned()).or_insert_with(folder);
        }
        self.entries.insert(path.to_owned(), Entry { mode, contents });
    }
}

fn append(archive: &mut Vec<u8>, inode: usize, path: &str, mode: u32, contents: &[u8]) {
    let name_size = path.len() + 1;
    // Magic; inode, mode, uid, gid, links, time, size, four device numbers, size of the name, checksum.
    let header = format!(
        "070701{inode:08x}{mode:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{name_size:08x}{:08x}",
        0,
        0,
        1,
        0,
        contents.len(),
        0,
        0,
        0,
        0,
        0
    );
    archive.extend_from_slice(header.as_bytes());
    archive.extend_from_slice(path.as_bytes());
    archive.push(0);
    pad(archive);
    archive.extend_from_slice(contents);
    pad(archive);
}

fn pad(archive: &mut Vec<u8>) {
    archive.resize(archive.len().next_multiple_of(4), 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_folder_comes_before_what_is_in_it_and_all_is_aligned() {
        let mut image = Image::default();
        image.file("a/b/c", "12345", 0o600);
        image.file("/a.txt", "x", 0o644);
        image.folder("a/b");
        let archive = image.archive();
        let at = |name: &[u8]| archive.windows(name.len()).position(|part| part == name).unwrap();
        assert!(at(b"a\0") < at(b"a/b\0") && at(b"a/b\0") < at(b"a/b/c\0"));
        assert_eq!(archive.len() % 4, 0);
        for at in archive.windows(6).enumerate().filter(|(_, part)| *part == b"070701").map(|(at, _)| at) {
            assert_eq!(at % 4, 0);
        }
    }
}
