//! The least of a ZIP archive (APPNOTE.TXT 6.3): every file stored as it is.

use flate2::Crc;

/// 1980-01-01, the first day there is.
const DAY: u16 = 0x0021;
/// Made on Unix, for version 2.0.
const MADE_BY: u16 = 0x0314;
/// Needed to take it apart: 2.0; names are UTF-8 (bit 11).
const NEEDED: u16 = 20;
const UTF_8: u16 = 0x0800;
/// A plain file.
const PLAIN: u32 = 0o100_000;

/// A file to be packed.
#[derive(Debug, Clone)]
pub(super) struct File {
    /// Its path, exactly.
    pub(super) path: String,
    /// Its content.
    pub(super) content: Vec<u8>,
    /// Its permissions.
    pub(super) mode: u32,
}

/// The archive with these files.
pub(super) fn pack(files: &[File]) -> Vec<u8> {
    let mut archive = Vec::new();
    let mut directory = Vec::new();
    for File { path, content, mode } in files {
        let at = number(archive.len());
        let mut crc = Crc::new();
        crc.update(content);
        let mut facts = Vec::new();
        short(&mut facts, &[NEEDED, UTF_8, 0, 0, DAY]);
        long(&mut facts, &[crc.sum(), number(content.len()), number(content.len())]);
        short(&mut facts, &[u16::try_from(path.len()).unwrap_or(u16::MAX), 0]);
        archive.extend_from_slice(b"PK\x03\x04");
        archive.extend_from_slice(&facts);
        archive.extend_from_slice(path.as_bytes());
        archive.extend_from_slice(content);
        directory.extend_from_slice(b"PK\x01\x02");
        short(&mut directory, &[MADE_BY]);
        directory.extend_from_slice(&facts);
        short(&mut directory, &[0, 0, 0]);
        long(&mut directory, &[(PLAIN | mode) << 16, at]);
        directory.extend_from_slice(path.as_bytes());
    }
    let at = number(archive.len());
    let count = u16::try_from(files.len()).unwrap_or(u16::MAX);
    archive.extend_from_slice(&directory);
    archive.extend_from_slice(b"PK\x05\x06");
    short(&mut archive, &[0, 0, count, count]);
    long(&mut archive, &[number(directory.len()), at]);
    short(&mut archive, &[0]);
    archive
}

fn number(length: usize) -> u32 {
    // What a test packs is small.
    u32::try_from(length).unwrap_or(u32::MAX)
}

fn short(bytes: &mut Vec<u8>, numbers: &[u16]) {
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
}

fn long(bytes: &mut Vec<u8>, numbers: &[u32]) {
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
}
