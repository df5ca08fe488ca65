//! The code of the entry script: visible without being asked for, and nothing else of the user with it.

use std::path::{Component, Path, PathBuf};

use super::ground::{Ground, base_name};
use super::interpreter::{Named, code_of, python_module};
use super::layout::node_modules;
use super::mask;
use super::package;
use super::plan_error::{PlanError, text};
use super::sight::{Sight, Topic};
use super::view::Kind;
use super::walk::WalkError;

/// Files that stand at the top of a project of interpreted code.
const PROJECT: &[&str] = &[
    "package.json",
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "requirements.txt",
    "Pipfile",
    "deno.json",
    "deno.jsonc",
    "bunfig.toml",
    "Gemfile",
    "composer.json",
    "cpanfile",
];
/// Files at the top of a project whose programs, once compiled, need nothing of it.
const COMPILED: &[&str] =
    &["Cargo.toml", "go.mod", "pom.xml", "build.gradle", "build.gradle.kts", "CMakeLists.txt"];
/// What a module may lack in a command line.
const ENDINGS: &[&str] = &["", ".js", ".mjs", ".cjs"];
/// First bytes of a compiled program (`elf(5)`).
const ELF: &[u8] = b"\x7fELF";

/// Makes the code visible that a command line names, and its relative paths absolute.
pub(crate) fn show_named(
    ground: &Ground<'_>,
    sight: &mut Sight,
    program: &str,
    argv: &mut [String],
) -> Result<(), PlanError> {
    let program = base_name(program);
    for named in code_of(program, argv) {
        let Some(argument) = argv.get_mut(named.index) else { continue };
        show_argument(ground, sight, named, argument)?;
    }
    if let Some(module) = python_module(program, argv) {
        let first = module.split('.').next().unwrap_or(module);
        let cwd = &ground.host.cwd;
        let here =
            ground.view.is_dir(&cwd.join(first)) || ground.view.is_file(&cwd.join(format!("{first}.py")));
        if here && !sight.shows(cwd) {
            let words = format!(
                "the module `{module}` of {0}, which is not visible; `--mount {0}` shows it",
                cwd.display()
            );
            sight.note(Topic::Missing, words);
        }
    }
    Ok(())
}

fn show_argument(
    ground: &Ground<'_>,
    sight: &mut Sight,
    named: Named,
    argument: &mut String,
) -> Result<(), PlanError> {
    let Some(value) = argument.get(named.start..).filter(|value| !value.is_empty()) else { return Ok(()) };
    if package::holds(ground, Path::new(value)) {
        return Ok(());
    }
    let relative = Path::new(value).is_relative();
    if !named.entry && relative && !value.starts_with('.') {
        return Ok(());
    }
    let written = ground.host.cwd.join(value);
    let mut candidates = ENDINGS.iter().map(|ending| {
        let mut path = written.clone().into_os_string();
        path.push(ending);
        PathBuf::from(path)
    });
    let Some(trace) = candidates.find_map(|path| ground.view.trace(&path).ok()) else {
        if !value.contains(':') && (value.contains('/') || value.contains('.')) {
            sight.note(Topic::Missing, format!("{} does not exist", written.display()));
        }
        return Ok(());
    };
    if !matches!(ground.view.kind(&trace.real), Some(Kind::Dir | Kind::File)) {
        return Ok(());
    }
    sight.add_links(&trace.links);
    show(ground, sight, &trace.real, value)?;
    if relative || has_parent(Path::new(value)) {
        let absolute = if has_parent(Path::new(value)) {
            text(trace.written())?
        } else {
            text(&written.components().collect::<PathBuf>())?
        };
        argument.truncate(named.start);
        argument.push_str(&absolute);
    }
    Ok(())
}

/// Makes the code at `real` (a file or folder, no link in it) visible with what it belongs to.
pub(crate) fn show(ground: &Ground<'_>, sight: &mut Sight, real: &Path, name: &str) -> Result<(), PlanError> {
    if ground.is_own(real) {
        return Err(PlanError::Own { path: real.to_owned() });
    }
    if sight.shows(real) {
        sight.must_read(&ground.view, real);
        return Ok(());
    }
    if let Some(tree) = node_modules(real) {
        add(ground, sight, &tree, Vec::new(), real);
    } else if let Some(project) = project_of(ground, real) {
        show_project(ground, sight, &project, real)?;
    } else if ground.view.is_dir(real) {
        if ground.is_personal(real) {
            return Err(PlanError::TooWide { program: name.to_owned(), tree: real.to_owned() });
        }
        show_project(ground, sight, real, real)?;
    } else {
        show_file(ground, sight, real)?;
    }
    sight.must_read(&ground.view, real);
    Ok(())
}

/// Makes the project around a virtual environment visible: its own package may be installed there as a link.
pub(crate) fn show_around_environment(
    ground: &Ground<'_>,
    sight: &mut Sight,
    program: &Path,
) -> Result<(), PlanError> {
    let folder = program.ancestors().nth(3);
    match folder.filter(|folder| is_project(ground, folder, PROJECT) && !is_wide(ground, folder)) {
        Some(folder) if !sight.shows(folder) => show_project(ground, sight, folder, program),
        _ => Ok(()),
    }
}

/// The project that `real` belongs to: the nearest folder with one of the known files, none that would show more of
/// the user than the project.
pub(crate) fn project_of(ground: &Ground<'_>, real: &Path) -> Option<PathBuf> {
    let compiled = ground.view.is_file(real) && ground.view.head(real, 4).is_some_and(|head| head == ELF);
    let start = if ground.view.is_dir(real) { Some(real) } else { real.parent() };
    for folder in start?.ancestors() {
        if is_wide(ground, folder) {
            return None;
        }
        if is_project(ground, folder, PROJECT) {
            return Some(workspace_of(ground, folder).unwrap_or_else(|| folder.to_owned()));
        }
        if is_project(ground, folder, COMPILED) {
            return (!compiled).then(|| folder.to_owned());
        }
    }
    None
}

/// A workspace's own folder: its packages are linked to each other below `node_modules`.
fn workspace_of(ground: &Ground<'_>, project: &Path) -> Option<PathBuf> {
    let above = project.ancestors().take_while(|folder| !is_wide(ground, folder));
    let roots = above.filter(|folder| {
        ground.view.is_file(&folder.join("pnpm-workspace.yaml"))
            || ground
                .view
                .text(&folder.join("package.json"))
                .is_some_and(|text| text.contains("\"workspaces\""))
    });
    roots.last().map(Path::to_owned)
}

fn is_project(ground: &Ground<'_>, folder: &Path, files: &[&str]) -> bool {
    files.iter().any(|name| ground.view.is_file(&folder.join(name)))
}

/// Whether a folder is none to be shown for one script: shared by much else, or hidden at the top of a home.
fn is_wide(ground: &Ground<'_>, folder: &Path) -> bool {
    let hidden = |folder: &Path| {
        let home = ground.homes.people.iter().find(|home| folder.parent() == Some(home));
        home.is_some() && folder.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
    };
    ground.is_personal(folder) || hidden(folder)
}

fn show_project(ground: &Ground<'_>, sight: &mut Sight, tree: &Path, script: &Path) -> Result<(), PlanError> {
    let masked = masked_in(ground, tree, script)?;
    let inside = script.strip_prefix(tree).unwrap_or(script);
    if masked.iter().any(|hidden| inside.starts_with(hidden)) {
        return show_file(ground, sight, script);
    }
    add(ground, sight, tree, masked, script);
    // Node looks for packages in every folder above.
    let above = tree.ancestors().skip(1).take_while(|folder| !is_wide(ground, folder));
    for modules in above.map(|folder| folder.join("node_modules")) {
        show_modules(ground, sight, &modules, script);
    }
    Ok(())
}

/// A script that belongs to nothing: itself, its Python package, or the packages beside it.
fn show_file(ground: &Ground<'_>, sight: &mut Sight, script: &Path) -> Result<(), PlanError> {
    let Some(folder) = script.parent() else { return Ok(()) };
    let package = script.extension().is_some_and(|ending| ending == "py")
        && ground.view.is_file(&folder.join("__init__.py"))
        && !is_wide(ground, folder);
    if package {
        let masked = masked_in(ground, folder, script)?;
        add(ground, sight, folder, masked, script);
        return Ok(());
    }
    add(ground, sight, script, Vec::new(), script);
    show_modules(ground, sight, &folder.join("node_modules"), script);
    Ok(())
}

fn masked_in(ground: &Ground<'_>, tree: &Path, script: &Path) -> Result<Vec<PathBuf>, PlanError> {
    mask::masked(&ground.view, tree).map_err(|error| PlanError::Project {
        tree: tree.to_owned(),
        script: script.to_owned(),
        cause: match error {
            WalkError::TooMany => format!("it holds more than {} entries", mask::MAX_PROJECT),
            WalkError::Unreadable { folder, source } => format!("{}: {source}", folder.display()),
        },
    })
}

fn show_modules(ground: &Ground<'_>, sight: &mut Sight, modules: &Path, script: &Path) {
    let Ok(trace) = ground.view.trace(modules) else { return };
    if ground.view.is_dir(&trace.real) && !is_wide(ground, &trace.real) {
        sight.add_links(&trace.links);
        add(ground, sight, &trace.real, Vec::new(), script);
    }
}

fn add(ground: &Ground<'_>, sight: &mut Sight, tree: &Path, masked: Vec<PathBuf>, script: &Path) {
    let hidden: Vec<String> = masked.iter().map(|path| path.display().to_string()).collect();
    if !sight.add_code(&ground.view, tree, masked) {
        return;
    }
    let words = if tree == script {
        format!("{} (read-only, this file alone)", tree.display())
    } else {
        format!("{} (read-only, for {})", tree.display(), script.display())
    };
    sight.note(Topic::Code, words);
    if !hidden.is_empty() {
        sight.note(Topic::Hidden, format!("{} in {}", hidden.join(", "), tree.display()));
    }
}

fn has_parent(path: &Path) -> bool {
    path.components().any(|component| component == Component::ParentDir)
}
