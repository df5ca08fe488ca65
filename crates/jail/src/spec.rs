//! What the supervisor asks of the jail: the file system, the identity, the ceilings. No policy: by the time a
//! `Spec` exists, everything has been decided.

use std::{
    net::IpAddr,
    path::{Component, Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    failure::refuse,
    message::{Failure, Stage},
};

/// Everything needed to build one cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Host name inside.
    pub hostname: String,
    /// Who the tool is on the host.
    pub identity: Identity,
    /// The new root's contents, in order: a later entry lies over an earlier one.
    /// `/proc`, `/dev` and `/sys` are the jail's own business and must not be named here (`/dev/shm` excepted).
    pub root: Vec<Entry>,
    /// Cgroup folders (absolute host paths) the jail enters before it makes its namespaces.
    pub cgroups: Cgroups,
    /// The ceilings every process gets.
    pub rlimits: Rlimits,
    /// Local routes of the cell's loopback device: sockets of the cell can be bound to any address in them.
    pub routes: Vec<Route>,
    /// A memory watch, where no cgroup holds the ceiling.
    pub watch: Option<MemoryWatch>,
    /// The bytes that [`Entry::Part`] names. They travel behind the spec and not in it: certificates are no text.
    #[serde(skip)]
    pub contents: Vec<u8>,
}

/// A range of addresses that are local inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// Its first address.
    pub address: IpAddr,
    /// Length of the prefix in bits.
    pub prefix: u8,
}

/// Host identity of the tool. Inside it is always 65534:65534 (`nobody`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
pub enum Identity {
    /// Started by root: this host uid and gid, never 0, no groups.
    Reserved {
        /// Host uid and gid.
        id: u32,
    },
    /// Started by a user: that user. `subgid` is a gid of the user's `/etc/subgid` range, to be mapped with
    /// `newgidmap` so that supplementary groups can be dropped; without it the kernel keeps them.
    Caller {
        /// First id of the caller's subordinate gid range, where `newgidmap` may map it.
        subgid: Option<u32>,
    },
}

/// One thing in the cell's root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
pub enum Entry {
    /// An empty folder (mode 0755), with its parents.
    Dir {
        /// Path inside.
        path: PathBuf,
    },
    /// A symbolic link, parents made.
    Symlink {
        /// Path inside.
        path: PathBuf,
        /// What it points to.
        target: PathBuf,
    },
    /// A small read-only file (mode 0644), parents made.
    File {
        /// Path inside.
        path: PathBuf,
        /// Its contents.
        contents: String,
    },
    /// A read-only file (mode 0644) that is a part of [`Spec::contents`], parents made.
    Part {
        /// Path inside.
        path: PathBuf,
        /// Where it begins, in bytes.
        begin: usize,
        /// How long it is, in bytes.
        size: usize,
        /// Host file whose bytes stand before it, at most 8 MiB. A symbolic link at its end is refused.
        after: Option<PathBuf>,
    },
    /// Symbolic links in one folder, which is made with its parents.
    Links {
        /// Path of the folder inside.
        path: PathBuf,
        /// Host file that lists them: name and target of each, with a byte 0 after either; at most 1 MiB. A symbolic link
        /// at its end is refused.
        list: PathBuf,
    },
    /// A host file or folder with everything mounted below it; nosuid and nodev always.
    Bind {
        /// Host path. Symbolic links in it are followed by the host's rules before anything is confined, but refused
        /// with `map_owner`.
        source: PathBuf,
        /// Path inside; parents and the mount point are made, never through a symbolic link.
        path: PathBuf,
        /// Whether it may be written.
        write: bool,
        /// Map the owner of `source` to the tool (an id-mapped mount), where started by root.
        map_owner: bool,
        /// Paths relative to `path` that are mounted over themselves read-only; each existed when looked at.
        guarded: Vec<PathBuf>,
        /// Paths relative to `path` that are covered by an empty read-only file or folder; each existed when looked at.
        masked: Vec<PathBuf>,
    },
    /// A writable tmpfs (nosuid, nodev), mode 0700 owned by the tool unless `sticky`.
    Tmpfs {
        /// Path inside.
        path: PathBuf,
        /// Ceiling in bytes.
        size: u64,
        /// Ceiling of files (`nr_inodes`).
        files: u64,
        /// Mode 1777 instead.
        sticky: bool,
    },
}

/// Where the cell is accounted. Empty where there is no cgroup of ours.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cgroups {
    /// The group in the unified hierarchy. PID 1 is born into it, which spares the wait that moving a process costs.
    pub unified: Option<PathBuf>,
    /// Groups in v1 hierarchies, to be entered one by one.
    pub legacy: Vec<PathBuf>,
    /// What `/sys/fs/cgroup` shows inside.
    pub view: CgroupView,
}

/// What of the cgroup file system a runtime inside can read, to size its heap by.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
pub enum CgroupView {
    /// Files stating the limits, written by us: no cgroup of ours exists.
    #[default]
    Stated,
    /// The cell's own unified hierarchy, read-only.
    Unified,
    /// The cell's own v1 hierarchies, read-only, by controller list (`memory`, `cpu,cpuacct`, `pids`).
    Legacy {
        /// The mount option of each hierarchy.
        controllers: Vec<String>,
    },
}

/// Ceilings of every process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rlimits {
    /// `RLIMIT_NOFILE`.
    pub open_files: u64,
    /// `RLIMIT_FSIZE`, bytes.
    pub file_size: u64,
    /// `RLIMIT_NPROC`, counted per user namespace on kernels ≥ 5.14. Set in every case, as a belt.
    pub processes: u64,
    /// The memory ceiling in bytes, for the stated cgroup files.
    pub memory: u64,
    /// The CPU ceiling in thousandths of a core, for the stated cgroup files.
    pub cpu_milli: u32,
}

/// PID 1 adds up anonymous memory, shared mappings, memfds and tmpfs, and ends the cell above `bytes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryWatch {
    /// Ceiling in bytes.
    pub bytes: u64,
    /// How often to look, in milliseconds.
    pub interval_ms: u32,
}

/// A process to start inside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Process {
    /// Program and arguments; the program is looked up on the `PATH` of `env` inside the cell.
    pub argv: Vec<String>,
    /// The whole environment, `NAME=value`.
    pub env: Vec<String>,
    /// Working folder inside.
    pub cwd: PathBuf,
}

impl Spec {
    /// Reads a spec and checks what the jail relies on: absolute paths without `.` and `..`, a host id that is not 0,
    /// parts that lie within the contents.
    pub fn parse(told: &[u8]) -> Result<Self, Failure> {
        // No byte of JSON is 0.
        let mut parts = told.splitn(2, |byte| *byte == 0);
        let text = parts.next().unwrap_or_default();
        let mut spec: Self = serde_json::from_slice(text)
            .map_err(|error| refuse(Stage::Spec, "reading the spec", error.to_string()))?;
        spec.contents = parts.next().unwrap_or_default().to_vec();
        spec.check()?;
        Ok(spec)
    }

    /// What [`Spec::parse`] reads.
    ///
    /// # Errors
    /// If a path is no UTF-8.
    pub fn tell(&self) -> serde_json::Result<Vec<u8>> {
        let mut told = serde_json::to_vec(self)?;
        if !self.contents.is_empty() {
            told.push(0);
            told.extend_from_slice(&self.contents);
        }
        Ok(told)
    }

    /// The bytes of a part.
    pub(crate) fn part(&self, begin: usize, size: usize) -> Option<&[u8]> {
        self.contents.get(begin..begin.checked_add(size)?)
    }

    fn check(&self) -> Result<(), Failure> {
        let bad = |cause: String| Err(refuse(Stage::Spec, "checking the spec", cause));
        if let Identity::Reserved { id: 0 } | Identity::Caller { subgid: Some(0) } = self.identity {
            return bad("host id 0 is never a tool's".into());
        }
        for entry in &self.root {
            let path = entry.path();
            if !is_plain_absolute(path) {
                return bad(format!("`{}` is not a plain absolute path", path.display()));
            }
            if RESERVED.iter().any(|own| path.starts_with(own)) && path != Path::new("/dev/shm") {
                return bad(format!("`{}` is the jail's own business", path.display()));
            }
            if let Entry::Part { begin, size, .. } = entry
                && self.part(*begin, *size).is_none()
            {
                return bad(format!("the contents of `{}` are not there", path.display()));
            }
            if let Entry::Part { after: Some(file), .. } | Entry::Links { list: file, .. } = entry
                && !is_plain_absolute(file)
            {
                return bad(format!("`{}` is not a plain absolute path", file.display()));
            }
            if let Entry::Bind { source, guarded, masked, .. } = entry {
                if !is_plain_absolute(source) {
                    return bad(format!("`{}` is not a plain absolute path", source.display()));
                }
                if let Some(inner) = guarded.iter().chain(masked).find(|inner| !is_plain_relative(inner)) {
                    return bad(format!("`{}` is not a plain relative path", inner.display()));
                }
            }
        }
        Ok(())
    }
}

impl Entry {
    /// Where it lies inside.
    pub fn path(&self) -> &Path {
        match self {
            Self::Dir { path }
            | Self::Symlink { path, .. }
            | Self::File { path, .. }
            | Self::Part { path, .. }
            | Self::Links { path, .. }
            | Self::Bind { path, .. }
            | Self::Tmpfs { path, .. } => path,
        }
    }
}

const RESERVED: [&str; 3] = ["/proc", "/dev", "/sys"];

fn is_plain_absolute(path: &Path) -> bool {
    let mut parts = path.components();
    parts.next() == Some(Component::RootDir)
        && parts.all(|part| matches!(part, Component::Normal(_)))
        && path != Path::new("/")
}

fn is_plain_relative(path: &Path) -> bool {
    path.components().next().is_some() && path.components().all(|part| matches!(part, Component::Normal(_)))
}
