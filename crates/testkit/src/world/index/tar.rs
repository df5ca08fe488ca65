//! Source distributions: a gzipped tar archive (POSIX.1-1988) with a build backend of its own, which building runs.

use std::io::{self, Write as _};

use flate2::{Compression, write::GzEncoder};

use super::Release;

/// A block of a tar archive.
const BLOCK: usize = 512;

/// Names the backend in the archive itself (PEP 517), so that nothing else is needed to build it.
const PROJECT: &str = "[build-system]\nrequires = []\nbuild-backend = \"backend\"\nbackend-path = [\".\"]\n";

/// A source distribution whose building begins by running this.
pub fn source(name: &str, version: &str, backend: &str) -> io::Result<Release> {
    let stem = format!("{}-{version}", name.replace('-', "_"));
    let about = format!("Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n");
    let files = [("pyproject.toml", PROJECT), ("PKG-INFO", about.as_str()), ("backend.py", backend)];
    let packed = pack(&stem, &files)?;
    Ok(Release::new(&name.to_ascii_lowercase(), version, format!("{stem}.tar.gz"), packed))
}

/// A gzipped archive of these files in one folder.
pub(in crate::world) fn pack(folder: &str, files: &[(&str, &str)]) -> io::Result<Vec<u8>> {
    let mut archive = Vec::new();
    for (file, content) in files {
        archive.extend_from_slice(&header(&format!("{folder}/{file}"), content.len()));
        archive.extend_from_slice(content.as_bytes());
        archive.resize(archive.len().next_multiple_of(BLOCK), 0);
    }
    archive.resize(archive.len() + 2 * BLOCK, 0);
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&archive)?;
    packed.finish()
}

fn header(path: &str, size: usize) -> Vec<u8> {
    let mut header = vec![0; BLOCK];
    let mut put = |at: usize, text: &[u8]| {
        for (place, byte) in header.iter_mut().skip(at).zip(text) {
            *place = *byte;
        }
    };
    put(0, path.as_bytes());
    put(100, b"0000644\0");
    put(108, b"0000000\0");
    put(116, b"0000000\0");
    put(124, format!("{size:011o}\0").as_bytes());
    put(136, b"00000000000\0");
    // The sum is taken with spaces in its own place.
    put(148, b"        ");
    put(156, b"0");
    put(257, b"ustar\x0000");
    let sum: u32 = header.iter().copied().map(u32::from).sum();
    let sum = format!("{sum:06o}\0 ");
    for (place, byte) in header.iter_mut().skip(148).zip(sum.bytes()) {
        *place = byte;
    }
    header
}
