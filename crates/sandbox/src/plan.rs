//! From a request to what the jail is told: the host's trees, the identity, the cgroups and the ceilings, together
//! with how well each layer that is decided before the start is held.

use std::{
    collections::BTreeMap,
    net::IpAddr,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use jail::spec::{Entry, MemoryWatch, Process, Rlimits, Route, Spec};
use model::{
    layer::{Layer, LayerName, LayerState},
    limits::{Limits, Requirement},
    mount::{Data, Mount},
};

use crate::{
    cgroup::{CellGroups, Hierarchies},
    host::{self, Host, Note, PlanError, Unsearched},
    identity::{self, Lease, LeaseError},
};

/// What a cell is to be built for.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The cell's id: names its cgroups and its host.
    pub id: &'a str,
    /// Program and arguments.
    pub command: &'a [String],
    /// Declared environment; over what every cell has.
    pub env: &'a BTreeMap<String, String>,
    /// Declared mounts.
    pub mounts: &'a [Mount],
    /// The host folder to mount at [`Data::INSIDE`]; it exists and is its owner's alone.
    pub data: Option<&'a Path>,
    /// The host folder to show read-only at [`host::Plan::PACKAGE`]; no link is in it, and it is the owner's alone.
    pub package: Option<&'a Path>,
    /// The ceilings.
    pub limits: &'a Limits,
    /// Ranges that are local inside, for the sockets of whoever answers the cell.
    pub routes: &'a [Route],
    /// Where names are asked for inside.
    pub name_servers: &'a [IpAddr],
    /// Files of the supervisor's making.
    pub files: &'a [MadeFile],
    /// Working folder inside; the host's where visible, else `/workspace`, where none is said.
    pub cwd: Option<&'a Path>,
}

/// Something below `/etc` that nobody finds on the host. It takes the place of whatever of the host's would lie there, or
/// above it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MadeFile {
    /// A read-only file (mode 0644) that anybody inside can read.
    Bytes {
        /// Path inside.
        path: PathBuf,
        /// A file of the host's whose bytes come first.
        after: Option<PathBuf>,
        /// What it holds, or holds besides.
        contents: Vec<u8>,
    },
    /// A symbolic link.
    Link {
        /// Path inside.
        path: PathBuf,
        /// What it points to.
        target: PathBuf,
    },
    /// Many links in one folder.
    Links {
        /// Path of the folder inside.
        path: PathBuf,
        /// The host's file that lists them, as [`Entry::Links`] has it. A bind of a folder would show inside where it lies.
        list: PathBuf,
    },
}

impl MadeFile {
    /// Path inside.
    pub fn path(&self) -> &Path {
        match self {
            Self::Bytes { path, .. } | Self::Link { path, .. } | Self::Links { path, .. } => path,
        }
    }
}

/// Everything decided; nothing runs yet.
#[derive(Debug)]
pub struct Prepared {
    /// For [`crate::process::Launcher::start`].
    pub spec: Spec,
    /// The main process, for [`crate::process::Control::start`].
    pub process: Process,
    /// The cell's cgroups; to be removed after its end.
    pub groups: CellGroups,
    /// The host id, where started by root; the cell's as long as this lives.
    pub lease: Option<Lease>,
    /// Layers decided so far: memory, CPU, processes, life-cycle, core dumps.
    pub layers: Vec<Layer>,
    /// What was made visible or hidden, and why.
    pub notes: Vec<Note>,
    /// What has to be searched before the main process is started.
    pub unsearched: Vec<Unsearched>,
}

/// Why a cell cannot be built as asked.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// The command or a mount.
    #[error(transparent)]
    Host(#[from] PlanError),
    /// No host id is free.
    #[error(transparent)]
    Lease(#[from] LeaseError),
    /// A ceiling that must be held by the kernel is not.
    #[error("`limits.require` names {layer}, which is {state} here: {detail}")]
    Required {
        /// Which layer.
        layer: LayerName,
        /// How it is held.
        state: LayerState,
        /// Why no better.
        detail: String,
        /// What would help.
        remedy: String,
    },
    /// The kernel is too old for the wall.
    #[error("Linux {found} cannot hold the wall")]
    Kernel {
        /// `uname -r`.
        found: String,
    },
}

impl PrepareError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Host(error) => error.hint(),
            Self::Lease(error) => error.hint(),
            Self::Required { layer, remedy, .. } => format!(
                "{remedy}; or leave it out of `limits.require` (`--limit require=`) and accept that {layer} is not \
                 held by the kernel"
            ),
            Self::Kernel { .. } => "boot Linux 5.14 or newer".into(),
        }
    }
}

/// The oldest kernel with everything the jail uses: id-mapped and recursive mount attributes (5.12), and
/// `RLIMIT_NPROC` counted per user namespace (5.14).
const OLDEST_KERNEL: (u32, u32) = (5, 14);

/// How often the memory watch looks, in milliseconds.
const WATCH_INTERVAL_MS: u32 = 100;

/// Decides everything about a cell. What it made on the host is in the result: the groups and the lease.
pub fn prepare(request: &Request<'_>, host: &Host) -> Result<Prepared, PrepareError> {
    check_kernel()?;
    let plan = host::plan(host, request.command, request.mounts, request.package)?;
    let lease = identity::lease()?;
    let created = Hierarchies::detect().create(request.id, request.limits);
    let mut layers: Vec<Layer> = created.layers.into_iter().map(fall_back).collect();
    layers.push(core_dumps());
    if let Err(error) = check_required(&request.limits.require, &layers) {
        created.groups.remove(std::time::Duration::from_millis(200));
        return Err(error);
    }
    let watched =
        layers.iter().any(|layer| layer.name == LayerName::Memory && layer.state == LayerState::Watched);
    let mut contents = Vec::new();
    let spec = Spec {
        hostname: host.hostname.clone(),
        identity: identity::of(lease.as_ref()),
        root: root(with_made(plan.base, request.files, &mut contents), plan.entries, request),
        cgroups: created.groups.spec(),
        rlimits: Rlimits {
            open_files: request.limits.open_files,
            file_size: request.limits.file_size,
            processes: u64::from(request.limits.processes),
            memory: request.limits.memory,
            cpu_milli: request.limits.cpu_milli,
        },
        routes: request.routes.to_vec(),
        watch: watched
            .then_some(MemoryWatch { bytes: request.limits.memory, interval_ms: WATCH_INTERVAL_MS }),
        contents,
    };
    let process = Process {
        argv: plan.argv,
        env: environment(&plan.path_env, request.env),
        cwd: request.cwd.map_or(plan.cwd, Path::to_owned),
    };
    let (notes, unsearched) = (plan.notes, plan.unsearched);
    Ok(Prepared { spec, process, groups: created.groups, lease, layers, notes, unsearched })
}

/// The whole environment of a process: what every cell has, and over it what is declared. `NAME=value` each.
pub fn environment(path: &str, declared: &BTreeMap<String, String>) -> Vec<String> {
    let mut all = BTreeMap::from([("PATH", path), ("HOME", HOME), ("LANG", "C.UTF-8"), ("TMPDIR", "/tmp")]);
    all.extend(declared.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    all.into_iter().map(|(name, value)| format!("{name}={value}")).collect()
}

const HOME: &str = "/home/tool";
const VAR_TMP: &str = "/var/tmp";

/// The order matters: mounts may lie below `/tmp` and the like, and so come after them.
fn root(base: Vec<Entry>, shown: Vec<Entry>, request: &Request<'_>) -> Vec<Entry> {
    let scratch = |path: &str, sticky| Entry::Tmpfs {
        path: PathBuf::from(path),
        size: request.limits.scratch,
        files: request.limits.scratch_files,
        sticky,
    };
    let mut root = base;
    name_servers(&mut root, request.name_servers);
    root.extend([
        scratch("/tmp", true),
        scratch(host::Plan::WORKSPACE, false),
        scratch(HOME, false),
        scratch("/dev/shm", true),
    ]);
    // Old programs look for it; it leads to the one /tmp, unless something declared lies there.
    if !shown
        .iter()
        .any(|entry| entry.path().starts_with(VAR_TMP) || Path::new(VAR_TMP).starts_with(entry.path()))
    {
        root.push(Entry::Symlink { path: VAR_TMP.into(), target: "/tmp".into() });
    }
    root.extend(shown);
    root.extend(request.package.map(|package| Entry::Bind {
        source: package.to_owned(),
        path: host::Plan::PACKAGE.into(),
        write: false,
        // All of it has the modes of its top: the store takes them from nobody. An id-mapped mount costs a user namespace.
        map_owner: !is_public(package),
        guarded: Vec::new(),
        masked: Vec::new(),
    }));
    if let Some(data) = request.data {
        root.push(Entry::Bind {
            // The jail follows no link to it; where it cannot be looked at, the jail says so.
            source: data.canonicalize().unwrap_or_else(|_| data.to_owned()),
            path: Data::INSIDE.into(),
            write: true,
            map_owner: true,
            guarded: Vec::new(),
            masked: Vec::new(),
        });
    }
    root
}

/// Whether every uid may list a folder and enter it.
fn is_public(folder: &Path) -> bool {
    std::fs::metadata(folder).is_ok_and(|facts| facts.permissions().mode() & 0o005 == 0o005)
}

/// Puts files of the supervisor's making in place of what the host has there.
fn with_made(mut base: Vec<Entry>, made: &[MadeFile], contents: &mut Vec<u8>) -> Vec<Entry> {
    base.retain(|entry| !made.iter().any(|made| made.path().starts_with(entry.path())));
    base.extend(made.iter().map(|made| match made {
        MadeFile::Bytes { path, after, contents: bytes } => {
            let begin = contents.len();
            contents.extend_from_slice(bytes);
            Entry::Part { path: path.clone(), begin, size: bytes.len(), after: after.clone() }
        }
        MadeFile::Link { path, target } => Entry::Symlink { path: path.clone(), target: target.clone() },
        MadeFile::Links { path, list } => Entry::Links { path: path.clone(), list: list.clone() },
    }));
    base
}

/// The resolver's file (resolv.conf(5)). A name is answered at once or not at all, so nothing is gained by waiting.
fn name_servers(root: &mut [Entry], servers: &[IpAddr]) {
    for entry in root {
        if let Entry::File { path, contents } = entry
            && path == Path::new("/etc/resolv.conf")
            && !servers.is_empty()
        {
            let mut lines: Vec<String> =
                servers.iter().map(|server| format!("nameserver {server}")).collect();
            lines.push("options timeout:2 attempts:2\n".to_owned());
            *contents = lines.join("\n");
        }
    }
}

fn check_kernel() -> Result<(), PrepareError> {
    let found = rustix::system::uname().release().to_string_lossy().into_owned();
    let mut numbers =
        found.split(|c: char| !c.is_ascii_digit()).map(|number| number.parse::<u32>().unwrap_or(0));
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if version < OLDEST_KERNEL { Err(PrepareError::Kernel { found }) } else { Ok(()) }
}

/// What holds a ceiling where no cgroup of ours does, said as what it is.
fn fall_back(layer: Layer) -> Layer {
    if layer.state != LayerState::Missing {
        return layer;
    }
    let (state, how) = match layer.name {
        LayerName::Memory => (
            LayerState::Watched,
            format!("PID 1 of the cell adds up memory, memfd and tmpfs every {WATCH_INTERVAL_MS} ms"),
        ),
        LayerName::Processes => {
            (LayerState::Enforced, "RLIMIT_NPROC within the cell's own user namespace".to_owned())
        }
        LayerName::Lifecycle => {
            (LayerState::Watched, "SIGSTOP and SIGKILL through PID 1 of the cell".to_owned())
        }
        _ => return layer,
    };
    let detail = if layer.detail.is_empty() { how } else { format!("{how}; no cgroup: {}", layer.detail) };
    Layer { state, detail, ..layer }
}

fn check_required(
    require: &std::collections::BTreeSet<Requirement>,
    layers: &[Layer],
) -> Result<(), PrepareError> {
    for requirement in require {
        let name = match requirement {
            Requirement::Memory => LayerName::Memory,
            Requirement::Cpu => LayerName::Cpu,
            Requirement::Pids => LayerName::Processes,
            Requirement::Landlock => LayerName::Landlock,
        };
        let landlock = landlock_layer();
        let layer = if name == LayerName::Landlock {
            Some(&landlock)
        } else {
            layers.iter().find(|layer| layer.name == name)
        };
        if let Some(layer) = layer.filter(|layer| layer.state != LayerState::Enforced) {
            return Err(PrepareError::Required {
                layer: name,
                state: layer.state,
                detail: layer.detail.clone(),
                remedy: layer.remedy.clone(),
            });
        }
    }
    Ok(())
}

/// Landlock as this kernel has it.
fn landlock_layer() -> Layer {
    crate::process::landlock_layer(jail::landlock_abi())
}

/// A ceiling of 0 on core files does not stop a handler behind a pipe (core(5)): it sees the memory of a crash.
fn core_dumps() -> Layer {
    let pattern = std::fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap_or_default();
    let pattern = pattern.trim();
    match pattern.strip_prefix('|') {
        None => Layer {
            name: LayerName::CoreDumps,
            state: LayerState::Enforced,
            detail: "RLIMIT_CORE is 0".into(),
            remedy: String::new(),
        },
        Some(handler) => Layer {
            name: LayerName::CoreDumps,
            state: LayerState::Missing,
            detail: format!(
                "the host hands crashes to `{}`, which sees the memory of a crashed tool",
                handler.split_whitespace().next().unwrap_or(handler)
            ),
            remedy: "as root, `sysctl kernel.core_pattern=core`, where no crash reports are wanted".into(),
        },
    }
}
