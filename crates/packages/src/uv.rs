//! Packages of Python: resolved and installed by uv, wheels only, each by its hash.
//!
//! The tree is what `uv pip install --target` makes. It stands on no path that Python takes `.pth` files from, so none of
//! them is run; bytecode comes from nobody but the compiler here.

use std::{
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use self::{
    flags::Flags,
    report::{Distribution, FINISH, Report},
    requirement::Requirement,
    tree_file::{Resolution, TreeFile},
};
use crate::{
    ask::{AskError, ask},
    fault::InstallError,
    order::Dependency,
    place::{self, Place},
    progress::Progress,
    shop::{Built, Shop},
    sources::{Registry, Sources, SourcesError},
    start::Start,
    words::{Asked, Client},
    workshop::Workshop,
};

mod fault;
mod flags;
mod newest;
mod report;
mod requirement;
mod start;
mod tree_file;

pub(crate) use newest::newest;
pub(crate) use start::start;

/// How the tree file is called.
const TREE_FILE: &str = "requirements.txt";
/// The most that is read of a resolution, in bytes: a large tree with a wheel for each Python and system has two millions.
const MOST: u64 = 32 << 20;
/// Chooses versions of wheels alone.
const RESOLVE: [&str; 7] =
    ["pip", "compile", "--no-build", "--no-header", "--no-python-downloads", "--format", "pylock.toml"];
/// For every machine, so that a lock is of use to others; without it for this one.
const UNIVERSAL: &str = "--universal";
/// What is told where it was only for this one.
const NOT_FOR_ALL: &str =
    "the versions were chosen for machines like this one alone: there are none that fit every machine";
/// Settings of the user that are no files, and no places.
const SETTINGS: [&str; 4] = ["UV_PRERELEASE", "UV_RESOLUTION", "UV_EXCLUDE_NEWER", "UV_INDEX_STRATEGY"];

/// Asks uv for its indexes, and has it resolve the packages to see where their files lie. What is `pinned` may have no
/// solution any more.
pub(crate) fn sources(asked: &Asked, pinned: bool) -> Result<Sources, InstallError> {
    let mut sources = Sources::default();
    let flags = Flags::of(asked).unwrap_or_default();
    let indexes: Vec<&str> = flags.indexes.iter().map(String::as_str).collect();
    let plain =
        [&["pip", "compile", "--no-build", "--quiet", "--no-header", "--emit-index-url", "-"], &indexes[..]];
    let listed = ask(&asked.program, &plain.concat(), "").map_err(SourcesError::Unanswered)?;
    for (variable, url) in listed_indexes(&listed) {
        let place = Place::parse(url).map_err(SourcesError::Place)?;
        if place.had_credentials {
            sources.notes.push(format!(
                "uv has a key for {}; it stays outside, so packages that need it are not found inside",
                place.host
            ));
        }
        sources.registries.push(Registry { variable: variable.to_owned(), url: url.to_owned() });
    }
    let input: String =
        asked.packages.iter().filter_map(|package| Some(Requirement::read(package)?.text + "\n")).collect();
    let mut resolve = [&RESOLVE[..], &["--quiet"]].concat();
    resolve.extend(flags.python.iter().flat_map(|python| ["--python", python]));
    resolve.extend(flags.choosing.iter().map(String::as_str));
    resolve.extend(&indexes);
    resolve.push("-");
    let try_with = |more: &[&str]| ask(&asked.program, &[&resolve[..], more].concat(), &input);
    // What has no solution for all machines may have one for this one; the packages alone lead to their files as well.
    let locked = match try_with(&[UNIVERSAL]).or_else(|_| try_with(&[])) {
        Ok(locked) => locked,
        Err(error) => match try_with(&["--no-deps"]) {
            Ok(locked) => locked,
            Err(_) if pinned => String::new(),
            Err(_) => return Err(fault::of_answer(error)),
        },
    };
    sources.files = place::origins(&addresses(&locked));
    sources.chosen = Some(locked);
    Ok(sources)
}

/// Whether this can be installed at all. Nobody has been asked about it yet.
pub(crate) fn check(asked: &Asked) -> Result<(), InstallError> {
    Flags::of(asked)?;
    if asked.main.is_none() {
        return Err(InstallError::Unnamed { runner: Client::Uv.runner() });
    }
    asked.packages.iter().try_for_each(|package| read(package).map(drop))
}

/// Makes the tree.
pub(crate) async fn build<W: Workshop>(shop: &mut Shop<'_, W>) -> Result<Built, InstallError> {
    let asked = shop.order.asked;
    let flags = Flags::of(asked)?;
    let main = asked.main.as_deref().ok_or(InstallError::Unnamed { runner: Client::Uv.runner() })?;
    let main = read(main)?;
    let mut input = String::new();
    for package in &asked.packages {
        input.extend([read(package)?.text.as_str(), "\n"]);
    }
    settle(shop);
    let python = python(shop, &flags).await?;
    let (tree, resolution) = if let Some(pin) = shop.order.pinned {
        let tree = TreeFile::parse(pin.tree_file).map_err(|why| InstallError::BadTreeFile { why })?;
        install(shop, &python, &tree).await?;
        (tree, None)
    } else {
        let (tree, resolution) = choose(shop, &flags, &python, &input).await?;
        (tree, Some(resolution))
    };
    let report = finish(shop, &python, &main.name).await?;
    shop.notes.extend(report.notes.iter().cloned());
    let root = report.distribution(&main.name).ok_or_else(|| InstallError::Strange {
        what: TREE_FILE.to_owned(),
        why: format!("`{}` is not among its packages for this machine", main.name),
    })?;
    let integrity = |one: &Distribution| integrity(one, &tree, resolution.as_ref());
    let dependencies = report.distributions.iter().map(|one| Dependency {
        name: report::plain(&one.name),
        version: one.version.clone(),
        integrity: integrity(one),
    });
    let mut dependencies: Vec<Dependency> = dependencies.collect();
    dependencies.sort();
    Ok(Built {
        tree: shop.folder().join("tree"),
        version: root.version.clone(),
        source: format!("{}:{}=={}", Client::Uv.runner(), main.name, root.version),
        integrity: integrity(root),
        tree_file: tree.text().into_bytes(),
        tree_name: TREE_FILE,
        platform: report.platform.clone(),
        scripts_not_run: Vec::new(),
        dependencies,
    })
}

/// What every cell of the installation is told.
fn settle<W: Workshop>(shop: &mut Shop<'_, W>) {
    shop.set("UV_CACHE_DIR", "/data/uv");
    // The interpreter is this machine's, seen inside.
    shop.set("UV_PYTHON_DOWNLOADS", "never");
    shop.set("UV_NO_PROGRESS", "1");
    shop.set("UV_NO_CONFIG", "1");
    for name in SETTINGS {
        if let Ok(value) = std::env::var(name) {
            shop.set(name, value);
        }
    }
}

fn read(package: &str) -> Result<Requirement, InstallError> {
    Requirement::read(package).ok_or_else(|| InstallError::NoRegistry { package: package.to_owned() })
}

fn strange(what: &'static str) -> impl FnOnce(String) -> InstallError {
    move |why| InstallError::Strange { what: what.to_owned(), why }
}

/// The interpreter that uv takes on this machine, by its own path rather than that of an environment. Cells see it.
async fn python<W: Workshop>(shop: &mut Shop<'_, W>, flags: &Flags) -> Result<String, InstallError> {
    let program = shop.order.asked.program.clone();
    let wanted = flags.python.clone().or_else(|| std::env::var("UV_PYTHON").ok());
    let answer = tokio::task::spawn_blocking(move || {
        let mut words = vec!["python", "find", "--no-project", "--system", "--resolve-links"];
        words.extend(["--no-python-downloads"].into_iter().chain(wanted.as_deref()));
        ask(&program, &words, "")
    });
    let found = answer.await.map_err(|error| SourcesError::Unanswered(AskError::lost(&error)))?;
    let found = found.map_err(SourcesError::Unanswered)?.trim().to_owned();
    let path = Path::new(&found);
    if !path.is_absolute() || !path.is_file() {
        return Err(strange("the Python that uv finds")(format!("`{found}` is no program")));
    }
    if let Some(home) = home(path) {
        shop.show(home);
    }
    Ok(found)
}

/// The folder of an interpreter that has its library beside it, and is none of the system's.
fn home(python: &Path) -> Option<PathBuf> {
    let home = python.parent()?.parent()?;
    let libraries = ["lib", "lib64"].map(|name| home.join(name).join(python.file_name().unwrap_or_default()));
    let is_own = home.components().count() > 2 && !home.starts_with("/usr");
    (is_own && libraries.iter().any(|library| library.is_dir())).then(|| home.to_owned())
}

/// Chooses versions and installs them. What has no solution for every machine and every later Python, or no wheel for this
/// machine in the version that has, may have one for this machine alone.
async fn choose<W: Workshop>(
    shop: &mut Shop<'_, W>,
    flags: &Flags,
    python: &str,
    input: &str,
) -> Result<(TreeFile, Resolution), InstallError> {
    let notes = shop.notes.len();
    if let Ok(universal) = resolve(shop, flags, python, input, true).await {
        let tree = TreeFile::of(&universal).map_err(strange("the resolution of uv"))?;
        match install(shop, python, &tree).await {
            Ok(()) => return Ok((tree, universal)),
            Err(failure) if fault::is_of_the_machine(&failure) => {}
            Err(failure) => return Err(failure),
        }
    }
    shop.notes.truncate(notes);
    let own = resolve(shop, flags, python, input, false).await?;
    let tree = TreeFile::of(&own).map_err(strange("the resolution of uv"))?;
    install(shop, python, &tree).await?;
    shop.notes.push(NOT_FOR_ALL.to_owned());
    Ok((tree, own))
}

async fn resolve<W: Workshop>(
    shop: &mut Shop<'_, W>,
    flags: &Flags,
    python: &str,
    input: &str,
    universal: bool,
) -> Result<Resolution, InstallError> {
    shop.tell(Progress::Resolving);
    give(shop, "wanted.in", input)?;
    let mut command = vec![shop.order.asked.program.as_str()];
    command.extend(RESOLVE);
    command.extend(universal.then_some(UNIVERSAL));
    // It holds on to versions that are there already, where they fit: the user's configuration file, which is not here,
    // may keep back newer ones.
    give(shop, "pylock.toml", shop.chosen.as_deref().unwrap_or_default())?;
    command.extend(["--python", python, "--output-file", "/data/pylock.toml"]);
    command.extend(flags.choosing.iter().map(String::as_str));
    command.push("/data/wanted.in");
    let mut notes = Vec::new();
    let said = shop.run(&command, "", &[], &mut |line, _| notes.extend(fault::warning(line))).await?;
    if !said.is_good() {
        return Err(fault::of(&command, &said));
    }
    shop.notes.extend(notes);
    let text =
        take(shop, "pylock.toml").map_err(|error| strange("the resolution of uv")(error.to_string()))?;
    Resolution::parse(&text).map_err(strange("the resolution of uv"))
}

async fn install<W: Workshop>(
    shop: &mut Shop<'_, W>,
    python: &str,
    tree: &TreeFile,
) -> Result<(), InstallError> {
    let all = tree.rows().len();
    shop.tell(Progress::Fetching { done: 0, all: Some(all) });
    give(shop, TREE_FILE, &tree.text())?;
    let command = [
        shop.order.asked.program.as_str(),
        "pip",
        "install",
        "--no-build",
        "--require-hashes",
        "--no-deps",
        "--python",
        python,
        "--target",
        "/data/tree",
        "--requirements",
        "/data/requirements.txt",
    ];
    let mut done = 0;
    let mut count = |line: &str, tell: &mut dyn FnMut(Progress)| {
        if line.starts_with(" + ") {
            done += 1;
            tell(Progress::Fetching { done, all: Some(all.max(done)) });
        }
    };
    let said = shop.run(&command, "", &[], &mut count).await?;
    if said.is_good() { Ok(()) } else { Err(fault::of(&command, &said)) }
}

/// Makes the tree the same whoever installed it, compiles it, and has it told what is in it.
async fn finish<W: Workshop>(
    shop: &mut Shop<'_, W>,
    python: &str,
    main: &str,
) -> Result<Report, InstallError> {
    shop.tell(Progress::Compiling);
    let command = [python, "-I", "-S", "-c", FINISH, "/data/tree", Start::INSIDE, main];
    let said = shop.run_offline(&command, "", &[], &mut |_, _| {}).await?;
    if !said.is_good() {
        return Err(fault::of(&[python, "-I", "-S", "-c", "…"], &said));
    }
    Report::parse(&said.stdout).map_err(strange("what was installed"))
}

/// Lays a file into the data folder, for the next cell.
fn give<W: Workshop>(shop: &Shop<'_, W>, name: &str, text: &str) -> Result<(), InstallError> {
    let path = shop.folder().join(name);
    fs::write(&path, text).map_err(|error| strange("the folder of the installation")(error.to_string()))
}

/// Reads a file that a cell has left there. It was nobody's but the client's, and is no link all the same.
fn take<W: Workshop>(shop: &Shop<'_, W>, name: &str) -> io::Result<String> {
    let path = shop.folder().join(name);
    if !fs::symlink_metadata(&path)?.is_file() {
        return Err(io::Error::other(format!("`{name}` is not a file")));
    }
    let mut text = String::new();
    File::open(path)?.take(MOST).read_to_string(&mut text)?;
    Ok(text)
}

/// The hash of the wheel that was installed; where a tree file names several, the one whose name fits.
fn integrity(one: &Distribution, tree: &TreeFile, resolution: Option<&Resolution>) -> Option<String> {
    let name = report::plain(&one.name);
    let row = tree.rows().iter().find(|row| row.name == name && row.version == one.version)?;
    let hash = match row.hashes.as_slice() {
        [hash] => Some(hash.clone()),
        _ => resolution?.hash(&name, &one.version, &one.tags),
    };
    Some(format!("sha256:{}", hash?))
}

/// The indexes of a requirements file, each with the variable for it.
fn listed_indexes(listed: &str) -> impl Iterator<Item = (&'static str, &str)> {
    listed.lines().filter_map(|line| {
        let (flag, url) = line.trim().split_once([' ', '='])?;
        match flag {
            "--index-url" | "-i" => Some(("UV_DEFAULT_INDEX", url.trim())),
            "--extra-index-url" => Some(("UV_INDEX", url.trim())),
            _ => None,
        }
    })
}

/// The URLs of a lock file.
fn addresses(locked: &str) -> Vec<String> {
    let quoted = locked.split('"').skip(1).step_by(2);
    quoted
        .filter(|text| text.starts_with("https://") || text.starts_with("http://"))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interpreter_is_shown_with_its_library_and_never_with_a_home() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("versions/3.12");
        fs::create_dir_all(own.join("lib/python3.12")).unwrap();
        assert_eq!(home(&own.join("bin/python3.12")), Some(own));
        assert_eq!(home(&folder.path().join("me/bin/python3.12")), None);
        assert_eq!(home(Path::new("/usr/bin/python3.11")), None);
        assert_eq!(home(Path::new("/bin/python3.11")), None);
    }

    #[test]
    fn indexes_and_files_are_read_from_what_uv_writes() {
        let listed =
            "--index-url https://i.example/simple\n--extra-index-url http://j.example:80/s\n\nsix==1\n";
        let found: Vec<_> = listed_indexes(listed).collect();
        assert_eq!(
            found,
            [("UV_DEFAULT_INDEX", "https://i.example/simple"), ("UV_INDEX", "http://j.example:80/s")]
        );
        let locked = "wheels = [{ url = \"https://f.example/a.whl\", hashes = { sha256 = \"00\" } }]\n";
        assert_eq!(addresses(locked), ["https://f.example/a.whl"]);
    }
}
