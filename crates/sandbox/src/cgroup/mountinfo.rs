//! `/proc/self/mountinfo`, as far as control groups need it (proc_pid_mountinfo(5)).

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// A mounted part of a control-group hierarchy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mount {
    /// Device of the file system, to tell whether something was mounted over it.
    pub(super) device: (u32, u32),
    /// Which group of the hierarchy is seen at `point`; `/..` steps where it lies outside our cgroup namespace.
    pub(super) root: PathBuf,
    /// Where it is mounted.
    pub(super) point: PathBuf,
    /// Whether it may be written at all.
    pub(super) writable: bool,
    /// Options of the file system; the controllers of a v1 hierarchy are among them.
    pub(super) options: Vec<String>,
    /// Unified (`cgroup2`), or v1 (`cgroup`).
    pub(super) unified: bool,
}

/// The control-group mounts in a mountinfo file, in its order. Lines that are none, or cannot be understood, are
/// passed over.
pub(super) fn cgroup_mounts(mountinfo: &[u8]) -> Vec<Mount> {
    mountinfo.split(|&b| b == b'\n').filter_map(parse).collect()
}

fn parse(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|&b| b == b' ');
    let device = device(fields.nth(2)?)?;
    let root = path(fields.next()?);
    let point = path(fields.next()?);
    let mount_options = fields.next()?;
    // Any number of optional fields stands before the hyphen.
    fields.find(|field| *field == b"-")?;
    let unified = match fields.next()? {
        b"cgroup2" => true,
        b"cgroup" => false,
        _ => return None,
    };
    let options = String::from_utf8_lossy(fields.nth(1)?).split(',').map(str::to_owned).collect::<Vec<_>>();
    let writable =
        !mount_options.split(|&b| b == b',').any(|o| o == b"ro") && !options.iter().any(|o| o == "ro");
    Some(Mount { device, root, point, writable, options, unified })
}

fn device(field: &[u8]) -> Option<(u32, u32)> {
    let (major, minor) = std::str::from_utf8(field).ok()?.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Undoes the kernel's octal escapes (`\040` for a space).
fn path(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&byte, tail)) = rest.split_first() {
        let escaped = match (byte, tail) {
            (b'\\', [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', ..]) => {
                Some((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'))
            }
            _ => None,
        };
        bytes.push(escaped.unwrap_or(byte));
        rest = if escaped.is_some() { tail.get(3..).unwrap_or_default() } else { tail };
    }
    PathBuf::from(OsString::from_vec(bytes))
}
