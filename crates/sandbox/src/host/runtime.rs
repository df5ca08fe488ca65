//! The program of a command: found on `PATH` as `execvp` would, shims seen through, and with it the trees it needs.

use std::path::{Path, PathBuf};

use super::code;
use super::ground::Ground;
use super::layout::{self, Layout};
use super::package;
use super::plan_error::PlanError;
use super::shim::{self, Shim};
use super::sight::{Sight, Topic};
use super::view::{Trace, name_of};

/// Interpreters of interpreters followed (`BINPRM_MAX_RECURSION` of the kernel).
const MAX_DEPTH: usize = 5;
/// How much of a script's first line counts, in bytes (`BINPRM_BUF_SIZE` of the kernel).
const FIRST_LINE: u64 = 256;
/// Runtimes made visible whatever the command is: many servers start one of them.
const USUAL: &[&str] = &["node", "python3"];
/// Folders every cell's `PATH` ends with.
const SYSTEM_DIRS: &[&str] = &["/usr/local/bin", "/usr/bin", "/bin"];
/// Folders of a home in which installers put single, self-contained programs.
const SINGLE: &[&str] = &[
    ".local/bin",
    "bin",
    ".bin",
    ".cargo/bin",
    ".deno/bin",
    ".bun/bin",
    "go/bin",
    ".dotnet/tools",
    ".npm-global/bin",
    ".yarn/bin",
    ".mint/bin",
];
/// Variables that name such folders, and what to append.
const SINGLE_BY_VARIABLE: &[(&str, &str)] = &[
    ("CARGO_HOME", "bin"),
    ("CARGO_INSTALL_ROOT", "bin"),
    ("DENO_INSTALL", "bin"),
    ("DENO_INSTALL_ROOT", "bin"),
    ("BUN_INSTALL", "bin"),
    ("GOBIN", ""),
    ("GOPATH", "bin"),
    ("XDG_BIN_HOME", ""),
    ("UV_TOOL_BIN_DIR", ""),
    ("PIPX_BIN_DIR", ""),
];

/// Makes visible what `program` needs and gives the path at which it is executed.
pub(crate) fn find(ground: &Ground<'_>, sight: &mut Sight, program: &str) -> Result<PathBuf, PlanError> {
    Finder { ground, sight, beside: Vec::new() }.any(program, 0, None)
}

/// Adds the runtimes on `PATH` that a server may want to start; silently none where there are none.
pub(crate) fn add_usual(ground: &Ground<'_>, sight: &mut Sight) {
    for name in USUAL {
        let mut trial = sight.clone();
        if find(ground, &mut trial, name).is_ok() {
            *sight = trial;
        }
    }
}

/// Puts the system's own folders on the cell's `PATH` where the host has them.
pub(crate) fn add_system_dirs(ground: &Ground<'_>, sight: &mut Sight) {
    for (rank, dir) in ground.host.path.iter().enumerate() {
        if dir.is_absolute() && ground.view.trace(dir).is_ok_and(|trace| sight.is_system(&trace.real)) {
            sight.add_dir(rank, dir.clone());
        }
    }
    for dir in SYSTEM_DIRS {
        sight.add_dir(usize::MAX, PathBuf::from(dir));
    }
}

struct Finder<'a, 's> {
    ground: &'a Ground<'a>,
    sight: &'s mut Sight,
    /// Folders that come before `PATH` for what this program starts.
    beside: Vec<PathBuf>,
}

/// How a program was named.
#[derive(Clone, Copy)]
struct Asked<'p> {
    name: &'p str,
    /// Place in `PATH`; nothing where named by its path.
    rank: Option<usize>,
    depth: usize,
}

impl Finder<'_, '_> {
    /// `fallback` is a folder looked into after `PATH`.
    fn any(&mut self, program: &str, depth: usize, fallback: Option<&Path>) -> Result<PathBuf, PlanError> {
        if program.contains('/') {
            self.by_path(&self.ground.host.cwd.join(program), depth)
        } else {
            self.by_name(program, depth, fallback)
        }
    }

    fn by_name(&mut self, name: &str, depth: usize, fallback: Option<&Path>) -> Result<PathBuf, PlanError> {
        let host = self.ground.host;
        let beside = self.beside.clone().into_iter().map(|dir| (0, dir));
        let path = host.path.iter().map(|dir| host.cwd.join(dir)).enumerate();
        let last = fallback.map(|dir| (host.path.len(), dir.to_owned()));
        for (rank, dir) in beside.chain(path).chain(last) {
            let Some(trace) = self.program_at(&dir.join(name)) else { continue };
            let asked = Asked { name, rank: Some(rank), depth };
            match shim::behind(self.ground, trace.written(), name)? {
                Shim::Later => {}
                Shim::No => return self.accept(&trace, asked),
                Shim::Program { path, beside } => return self.through_shim(&path, beside, asked),
            }
        }
        Err(PlanError::NotOnPath { program: name.to_owned(), searched: host.path.clone() })
    }

    fn by_path(&mut self, path: &Path, depth: usize) -> Result<PathBuf, PlanError> {
        if package::holds(self.ground, path) {
            if depth > MAX_DEPTH {
                return Err(PlanError::Endless { script: path.to_owned() });
            }
            let real = package::program(self.ground, path)?;
            self.interpreter(&real, path, depth)?;
            return Ok(path.to_owned());
        }
        let trace = self
            .ground
            .view
            .trace(path)
            .map_err(|source| PlanError::Missing { path: path.to_owned(), source })?;
        if !self.ground.view.is_program(&trace.real) {
            return Err(PlanError::NotExecutable { path: path.to_owned() });
        }
        let name = name_of(path);
        let asked = Asked { name, rank: None, depth };
        match shim::behind(self.ground, trace.written(), name)? {
            Shim::No => self.accept(&trace, asked),
            Shim::Later => self.by_name(name, depth, None),
            Shim::Program { path, beside } => self.through_shim(&path, beside, asked),
        }
    }

    fn through_shim(
        &mut self,
        path: &Path,
        beside: Vec<PathBuf>,
        asked: Asked<'_>,
    ) -> Result<PathBuf, PlanError> {
        let trace =
            self.program_at(path).ok_or_else(|| PlanError::NotExecutable { path: path.to_owned() })?;
        self.beside.extend(beside);
        self.accept(&trace, asked)
    }

    fn program_at(&self, path: &Path) -> Option<Trace> {
        let trace = self.ground.view.trace(path).ok()?;
        self.ground.view.is_program(&trace.real).then_some(trace)
    }

    /// Makes visible what the program at `trace` needs.
    fn accept(&mut self, trace: &Trace, asked: Asked<'_>) -> Result<PathBuf, PlanError> {
        let real = &trace.real;
        if asked.depth > MAX_DEPTH {
            return Err(PlanError::Endless { script: real.clone() });
        }
        if self.ground.is_own(real) {
            return Err(PlanError::Own { path: real.clone() });
        }
        if trace.written().starts_with("/snap") || real.starts_with("/snap") {
            return Err(PlanError::Snap { program: asked.name.to_owned() });
        }
        self.sight.add_links(&trace.links);
        for (index, hop) in trace.hops.iter().enumerate() {
            if self.sight.is_system(hop) || (index > 0 && self.sight.shows(real)) {
                continue;
            }
            if let Some(layout) = layout::of(self.ground, hop) {
                self.apply(&layout, asked)?;
            }
        }
        let in_project = asked.rank.is_none() && self.needs_project(trace.written());
        if !self.sight.shows(real) {
            self.show_alone(trace, asked)?;
        } else if in_project {
            code::show_around_environment(self.ground, self.sight, trace.written())?;
        }
        self.sight.must_read(&self.ground.view, real);
        let exec = self.place(trace);
        if let (Some(rank), Some(dir)) = (asked.rank, exec.parent())
            && !self.sight.is_system(&exec)
        {
            self.sight.add_dir(rank, dir.to_owned());
        }
        self.interpreter(real, &exec, asked.depth)?;
        Ok(exec)
    }

    fn apply(&mut self, layout: &Layout, asked: Asked<'_>) -> Result<(), PlanError> {
        for (index, tree) in layout.trees.iter().enumerate() {
            if self.ground.is_personal(tree) || self.ground.is_own(tree) {
                return Err(PlanError::TooWide { program: asked.name.to_owned(), tree: tree.clone() });
            }
            let masked = if index == 0 { layout.masked.clone() } else { Vec::new() };
            let there = |inside: &PathBuf| self.ground.view.kind(&tree.join(inside)).is_some();
            let masked = masked.into_iter().filter(there).collect();
            if self.sight.add_code(&self.ground.view, tree, masked) {
                let words = format!("{} (read-only, {}, for {})", tree.display(), layout.name, asked.name);
                self.sight.note(Topic::Runtime, words);
            }
        }
        for base in &layout.bases {
            if asked.depth < MAX_DEPTH
                && let Some(trace) = self.program_at(base)
            {
                self.accept_base(&trace, Asked { depth: asked.depth + 1, rank: Some(0), ..asked })?;
            }
        }
        Ok(())
    }

    /// A runtime below another: its trees and links, but no place on `PATH`.
    fn accept_base(&mut self, trace: &Trace, asked: Asked<'_>) -> Result<(), PlanError> {
        self.sight.add_links(&trace.links);
        for hop in &trace.hops {
            if !self.sight.is_system(hop)
                && !self.sight.shows(&trace.real)
                && let Some(layout) = layout::of(self.ground, hop)
            {
                self.apply(&layout, asked)?;
            }
        }
        if self.sight.shows(&trace.real) {
            return Ok(());
        }
        Err(PlanError::Unknown { program: asked.name.to_owned(), at: trace.real.clone() })
    }

    /// A program of no known layout.
    fn show_alone(&mut self, trace: &Trace, asked: Asked<'_>) -> Result<(), PlanError> {
        let (view, real) = (&self.ground.view, &trace.real);
        if asked.rank.is_none() || code::project_of(self.ground, real).is_some() {
            return code::show(self.ground, self.sight, real, asked.name);
        }
        let Some(folder) = trace.written().parent().filter(|folder| self.is_single(folder)) else {
            return Err(PlanError::Unknown { program: asked.name.to_owned(), at: real.clone() });
        };
        // `deno install` writes a script that runs the `deno` beside it.
        let deno = folder.join("deno");
        let deno = (folder.ends_with(".deno/bin") && view.is_program(&deno)).then_some(deno);
        for file in std::iter::once(real).chain(&deno) {
            if self.sight.add_code(view, file, Vec::new()) {
                let words = format!("{} (read-only, this file alone, for {})", file.display(), asked.name);
                self.sight.note(Topic::Runtime, words);
            }
        }
        Ok(())
    }

    /// Whether a folder is one in which installers put single programs.
    fn is_single(&self, folder: &Path) -> bool {
        let host = self.ground.host;
        let usual = host.home.iter().flat_map(|home| SINGLE.iter().map(|name| home.join(name)));
        let set = SINGLE_BY_VARIABLE.iter().filter_map(|(name, bin)| {
            let folder = host.folder(name)?;
            Some(if bin.is_empty() { folder } else { folder.join(bin) })
        });
        usual.chain(set).any(|single| self.ground.same(&single, folder))
    }

    /// Whether the program is one of a virtual environment that lies in its project.
    fn needs_project(&self, written: &Path) -> bool {
        let environment = written.parent().and_then(Path::parent);
        environment.is_some_and(|tree| self.ground.view.is_file(&tree.join("pyvenv.cfg")))
    }

    /// The path to execute: the written one where it leads there inside too.
    fn place(&self, trace: &Trace) -> PathBuf {
        let written = trace.written();
        let lost = |path: &Path| ["/run", "/proc", "/dev", "/sys"].iter().any(|gone| path.starts_with(gone));
        if lost(written) && !self.sight.shows(written) { trace.real.clone() } else { written.to_owned() }
    }

    /// The interpreter in a script's first line, `env` seen through.
    fn interpreter(&mut self, script: &Path, exec: &Path, depth: usize) -> Result<(), PlanError> {
        let Some(first) = self.ground.view.head(script, FIRST_LINE) else { return Ok(()) };
        let Some(wanted) = interpreter_of(&first) else { return Ok(()) };
        let found = self.any(&wanted, depth + 1, exec.parent());
        found.map(drop).map_err(|cause| PlanError::Interpreter {
            script: script.to_owned(),
            interpreter: wanted,
            cause: Box::new(cause),
        })
    }
}

/// What a first line `#!…` names: a path, or the name that `env` looks up.
fn interpreter_of(head: &[u8]) -> Option<String> {
    let line = head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line);
    let mut words = line.split_whitespace();
    let path = words.next()?;
    if name_of(Path::new(path)) != "env" {
        return Some(path.to_owned());
    }
    let named = words.find(|word| !word.starts_with('-') && !word.contains('='));
    Some(named.unwrap_or(path).to_owned())
}
