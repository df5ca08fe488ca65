//! The table of known layouts: which tree a program needs, read off where it lies.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::ground::Ground;
use super::view::name_of;

/// What a program needs to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Who laid it out, for the user.
    pub(crate) name: &'static str,
    /// Trees and files to be seen read-only.
    pub(crate) trees: Vec<PathBuf>,
    /// Paths in the first tree that stay hidden.
    pub(crate) masked: Vec<PathBuf>,
    /// Programs of other runtimes it is built on.
    pub(crate) bases: Vec<PathBuf>,
}

/// Trees known by the names in their path, `*` for one name of any kind. Each ends where the tree begins.
const NAMED: &[(&str, &[&str])] = &[
    ("nvm", &["versions", "node", "*"]),
    ("fnm", &["node-versions", "*", "installation"]),
    ("volta", &["tools", "image", "node", "*"]),
    ("volta", &["tools", "image", "npm", "*"]),
    ("volta", &["tools", "image", "pnpm", "*"]),
    ("volta", &["tools", "image", "yarn", "*"]),
    ("volta", &["tools", "image", "packages", "*"]),
    ("mise", &["mise", "installs", "*", "*"]),
    ("asdf", &["installs", "*", "*"]),
    ("pyenv", &[".pyenv", "versions", "*"]),
    ("nodenv", &[".nodenv", "versions", "*"]),
    ("rbenv", &[".rbenv", "versions", "*"]),
    ("goenv", &[".goenv", "versions", "*"]),
    ("uv", &["uv", "python", "*"]),
    ("uv", &["uv", "tools", "*"]),
    ("pipx", &["pipx", "venvs", "*"]),
    ("rustup", &[".rustup", "toolchains", "*"]),
    ("sdkman", &[".sdkman", "candidates", "*", "*"]),
    ("proto", &[".proto", "tools", "*", "*"]),
    ("Homebrew", &[".linuxbrew"]),
];

/// The layout a program belongs to, `at` holding no link but perhaps its last name; nothing where none is known.
pub(crate) fn of(ground: &Ground<'_>, at: &Path) -> Option<Layout> {
    virtual_env(ground, at)
        .or_else(|| conda(ground, at))
        .or_else(|| named(at))
        .or_else(|| nix(at))
        .or_else(|| node_modules(at).map(|tree| Layout::plain("node_modules", tree)))
        .or_else(|| opt(at))
        .or_else(|| prefix(ground, at))
        .or_else(|| pnpm(ground, at))
}

/// The top-most `node_modules` folder that holds `at`.
pub(crate) fn node_modules(at: &Path) -> Option<PathBuf> {
    at.ancestors()
        .skip(1)
        .filter(|above| above.file_name() == Some(OsStr::new("node_modules")))
        .last()
        .map(Path::to_owned)
}

impl Layout {
    fn plain(name: &'static str, tree: PathBuf) -> Self {
        Self { name, trees: vec![tree], masked: Vec::new(), bases: Vec::new() }
    }
}

/// `X` of `X/bin/program`.
fn above_bin(at: &Path) -> Option<&Path> {
    let folder = at.parent()?;
    (folder.file_name() == Some(OsStr::new("bin"))).then(|| folder.parent()).flatten()
}

/// PEP 405: `pyvenv.cfg` names the folder of the base interpreter in `home`.
fn virtual_env(ground: &Ground<'_>, at: &Path) -> Option<Layout> {
    let tree = above_bin(at)?;
    let settings = ground.view.text(&tree.join("pyvenv.cfg"))?;
    let value = |wanted: &str| {
        settings.lines().find_map(|line| {
            let (key, value) = line.split_once('=')?;
            (key.trim() == wanted).then(|| value.trim().to_owned())
        })
    };
    let mut names: Vec<String> = ["python3", "python"].map(str::to_owned).to_vec();
    if let Some(version) = value("version").or_else(|| value("version_info")) {
        let short: Vec<&str> = version.split('.').take(2).collect();
        names.insert(0, format!("python{}", short.join(".")));
    }
    let home = value("home").map(PathBuf::from).filter(|home| home.is_absolute());
    let base = home.and_then(|home| {
        names.iter().map(|name| home.join(name)).find(|program| ground.view.is_program(program))
    });
    // The interpreter in the environment as well: what `home` says and where its link leads may differ.
    let own = names.iter().map(|name| tree.join("bin").join(name)).find(|program| {
        program != at && ground.view.link(program).is_some() && ground.view.is_program(program)
    });
    Some(Layout {
        bases: base.into_iter().chain(own).collect(),
        ..Layout::plain("virtual environment", tree.to_owned())
    })
}

fn conda(ground: &Ground<'_>, at: &Path) -> Option<Layout> {
    let tree = above_bin(at)?;
    ground.view.is_dir(&tree.join("conda-meta")).then(|| Layout::plain("conda", tree.to_owned()))
}

fn named(at: &Path) -> Option<Layout> {
    let names: Vec<&OsStr> = at.iter().collect();
    NAMED.iter().find_map(|(name, pattern)| {
        let fits = |window: &[&OsStr]| {
            window.iter().zip(*pattern).all(|(have, want)| *want == "*" || *have == *want)
        };
        let start = names.windows(pattern.len()).position(fits)?;
        let mut end = start + pattern.len();
        let scoped = names.get(end - 1).is_some_and(|last| last.as_encoded_bytes().starts_with(b"@"));
        if *name == "volta" && scoped {
            end += 1;
        }
        // The program lies in the tree; a program that is itself where the tree would be is none of it.
        let tree: PathBuf = (end < names.len()).then(|| names.iter().take(end).collect())?;
        // Services keep their data in Homebrew's `var`.
        let masked = if *name == "Homebrew" { vec![PathBuf::from("var")] } else { Vec::new() };
        Some(Layout { masked, ..Layout::plain(name, tree) })
    })
}

fn nix(at: &Path) -> Option<Layout> {
    let store = Path::new("/nix/store");
    at.starts_with(store).then(|| Layout::plain("Nix", store.to_owned()))
}

/// FHS 3.0 §3.13: an add-on package has a folder of its own below `/opt`.
fn opt(at: &Path) -> Option<Layout> {
    let package = at.strip_prefix("/opt").ok()?;
    let mut names = package.iter();
    let name = names.next()?;
    names.next()?;
    Some(Layout::plain("/opt package", Path::new("/opt").join(name)))
}

/// A runtime unpacked anywhere: known by its own libraries beside `bin`.
fn prefix(ground: &Ground<'_>, at: &Path) -> Option<Layout> {
    let tree = above_bin(at)?;
    let modules = tree.join("lib/node_modules");
    let node = ground.view.is_dir(&modules.join("npm")) || ground.view.is_dir(&tree.join("include/node"));
    if ground.is_personal(tree) {
        // `make install` into `~/.local`: the rest of that folder is the user's.
        let named_node = matches!(name_of(at), "node" | "nodejs");
        return (node && named_node).then(|| {
            let trees = [at.to_owned(), modules].into_iter().filter(|path| ground.view.kind(path).is_some());
            Layout { name: "Node", trees: trees.collect(), masked: Vec::new(), bases: Vec::new() }
        });
    }
    if node {
        return Some(Layout::plain("Node", tree.to_owned()));
    }
    let library = tree.join("lib");
    let python = |name: &str| ground.view.is_file(&library.join(name).join("os.py"));
    let own = name_of(at);
    let found = if own.starts_with("python3.") {
        python(own)
    } else {
        let names = ground.view.names(&library);
        names.iter().filter_map(|name| name.to_str()).any(|name| name.starts_with("python") && python(name))
    };
    found.then(|| Layout::plain("Python", tree.to_owned()))
}

/// pnpm's own folder: shell scripts that run what lies in `global`, and the Nodes of `pnpm env`.
fn pnpm(ground: &Ground<'_>, at: &Path) -> Option<Layout> {
    let folder = at.parent().filter(|folder| folder.file_name() == Some(OsStr::new("pnpm")))?;
    let global = folder.join("global");
    ground.view.is_dir(&global).then(|| {
        let others = [global, folder.join("nodejs")].into_iter().filter(|path| ground.view.is_dir(path));
        let trees = std::iter::once(at.to_owned()).chain(others).collect();
        Layout { name: "pnpm", trees, masked: Vec::new(), bases: Vec::new() }
    })
}
