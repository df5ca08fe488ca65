//! What stays hidden in a tree that is shown only because the entry script lies in it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use super::view::View;
use super::walk::{Step, WalkError, walk};

/// Entries looked at in a project before it counts as too large to be shown without being asked for.
pub(crate) const MAX_PROJECT: u64 = 200_000;

/// Names that hold keys or history, wherever they lie in the project.
const SECRET: &[&str] = &[
    ".git",
    ".hg",
    ".svn",
    ".ssh",
    ".aws",
    ".azure",
    ".gcloud",
    ".gnupg",
    ".docker",
    ".kube",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".netrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".envrc",
    ".git-credentials",
    ".htpasswd",
    ".vault-token",
];
/// Beginnings and ends of file names of private keys.
const KEY_NAMES: &[&str] = &["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];
const KEY_ENDINGS: &[&str] = &[".key", ".p12", ".pfx", ".jks", ".keystore"];
/// Folders that installers fill: large, and no place where somebody keeps keys.
const INSTALLED: &[&str] = &["node_modules", "site-packages", "__pycache__"];
/// How much of a `.pem` file is read to see whether it holds a private key, in bytes.
const PEM_HEAD: u64 = 64 << 10;

/// The paths below the project folder `tree` to be covered, relative to it: keys, history, and Unix sockets (a
/// read-only bind does not stop `connect`).
pub(crate) fn masked(view: &View, tree: &Path) -> Result<Vec<PathBuf>, WalkError> {
    let mut masked = Vec::new();
    walk(&view.outside(tree), MAX_PROJECT, &mut |met| {
        let name = met.name.to_str().unwrap_or_default();
        match met.kind {
            FileType::Socket => masked.push(met.relative()),
            FileType::Directory if INSTALLED.contains(&name) => return Step::Pass,
            FileType::Directory if is_secret(name) => {
                let inside = met.relative();
                // A virtual environment in a folder called `.env`: code, not keys.
                if view.is_file(&tree.join(&inside).join("pyvenv.cfg")) {
                    return Step::Pass;
                }
                masked.push(inside);
                return Step::Pass;
            }
            FileType::Symlink if is_secret(name) || may_be_key(name) => {
                // The mount would lie over what the link leads to, so that is what has to be covered.
                let led = view.trace(&tree.join(met.relative())).ok();
                masked.extend(led.and_then(|led| Some(led.real.strip_prefix(tree).ok()?.to_owned())));
            }
            _ if is_secret(name) => masked.push(met.relative()),
            FileType::RegularFile if may_be_key(name) && is_key(view, &tree.join(met.relative()), name) => {
                masked.push(met.relative());
            }
            _ => {}
        }
        Step::Enter
    })?;
    masked.retain(|path| !path.as_os_str().is_empty());
    masked.sort();
    masked.dedup();
    let mut outer: Vec<PathBuf> = Vec::new();
    for path in masked {
        if !outer.iter().any(|above| path.starts_with(above)) {
            outer.push(path);
        }
    }
    Ok(outer)
}

fn is_secret(name: &str) -> bool {
    SECRET.contains(&name) || name == ".env" || name.starts_with(".env.")
}

fn may_be_key(name: &str) -> bool {
    KEY_NAMES.contains(&name)
        || KEY_ENDINGS.iter().any(|ending| name.ends_with(ending))
        || Path::new(name).extension() == Some(OsStr::new("pem"))
}

/// A `.pem` may be a certificate that the code needs; one that cannot be read here counts as a key.
fn is_key(view: &View, path: &Path, name: &str) -> bool {
    let words = b"PRIVATE KEY";
    Path::new(name).extension() != Some(OsStr::new("pem"))
        || view
            .head(path, PEM_HEAD)
            .is_none_or(|head| head.windows(words.len()).any(|window| window == words))
}
