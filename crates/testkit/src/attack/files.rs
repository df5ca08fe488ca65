//! Attempts on paths, for every family.

use std::{
    fs::{self, File, OpenOptions},
    io::{Read as _, Write as _},
    os::unix::fs::{OpenOptionsExt as _, symlink},
    path::Path,
};

use super::{Attacks, Attempt, Held, argument};

pub(super) const ATTACKS: Attacks = &[
    ("read", read),
    ("list", list),
    ("open-write", open_write),
    ("write", write),
    ("create", create),
    ("make-folder", make_folder),
    ("remove", remove),
    ("rename", rename),
    ("link", link),
    ("through-link", through_link),
];

/// How much of a file is looked at, bytes.
const LOOKED_AT: u64 = 64 * 1024;

/// Reads a path; with a second argument, its content must hold that.
fn read(arguments: &[&str]) -> Attempt {
    look(Path::new(argument(arguments, 0)), argument(arguments, 1))
}

/// Reads something of `path`, which must hold `wanted`.
pub(super) fn look(path: &Path, wanted: &str) -> Attempt {
    let mut content = Vec::new();
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    file.take(LOOKED_AT).read_to_end(&mut content)?;
    let text = String::from_utf8_lossy(&content);
    if content.is_empty() {
        Err(Held::because("it is empty"))
    } else if !text.contains(wanted) {
        Err(Held::because(format!("something else is there: {}", begin(&text))))
    } else {
        Ok(format!("read {}", begin(&text)))
    }
}

fn begin(text: &str) -> String {
    text.chars().take(40).collect()
}

/// Lists a folder; with a second argument, such a name must be in it.
fn list(arguments: &[&str]) -> Attempt {
    let wanted = argument(arguments, 1);
    let names: Vec<String> = fs::read_dir(argument(arguments, 0))?
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    if wanted.is_empty() || names.iter().any(|name| name == wanted) {
        Ok(format!("{} names", names.len()))
    } else {
        Err(Held::because(format!("not among {} names", names.len())))
    }
}

/// Opens for writing and closes.
fn open_write(arguments: &[&str]) -> Attempt {
    OpenOptions::new().write(true).open(argument(arguments, 0))?;
    Ok("opened for writing".into())
}

/// Adds to an existing file.
fn write(arguments: &[&str]) -> Attempt {
    OpenOptions::new().append(true).open(argument(arguments, 0))?.write_all(b"planted\n")?;
    Ok("written".into())
}

/// Makes a new file.
fn create(arguments: &[&str]) -> Attempt {
    File::create_new(argument(arguments, 0))?.write_all(b"planted\n")?;
    Ok("made".into())
}

fn make_folder(arguments: &[&str]) -> Attempt {
    fs::create_dir(argument(arguments, 0))?;
    Ok("made".into())
}

/// Removes a file or an empty folder.
fn remove(arguments: &[&str]) -> Attempt {
    let path = Path::new(argument(arguments, 0));
    if fs::symlink_metadata(path)?.is_dir() {
        fs::remove_dir(path)?;
    } else {
        fs::remove_file(path)?;
    }
    Ok("removed".into())
}

/// Renames the first to the second.
fn rename(arguments: &[&str]) -> Attempt {
    fs::rename(argument(arguments, 0), argument(arguments, 1))?;
    Ok("renamed".into())
}

/// Makes the second another name of the first, and writes through it.
fn link(arguments: &[&str]) -> Attempt {
    let name = argument(arguments, 1);
    fs::hard_link(argument(arguments, 0), name)?;
    OpenOptions::new().append(true).open(name)?.write_all(b"planted\n")?;
    Ok("written through a second name".into())
}

/// Makes the first a symbolic link to the second, and reads through it what must hold the third.
fn through_link(arguments: &[&str]) -> Attempt {
    let link = argument(arguments, 0);
    symlink(argument(arguments, 1), link)?;
    look(Path::new(link), argument(arguments, 2))
}
