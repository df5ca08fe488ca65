//! The file of a reviewer's private key: PKCS #8 (RFC 5958) as PEM (RFC 7468), its owner's alone.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, ErrorKind, Read, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use base64::{Engine, prelude::BASE64_STANDARD};
use rustix::fs::OFlags;
use zeroize::Zeroizing;

/// A reviewer's private key that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The file is not its reader's.
    #[error("`{}` belongs to user {owner}, not to user {me}", .path.display())]
    Foreign {
        /// Which file.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
        /// Who asked.
        me: u32,
    },
    /// Others can read or change it.
    #[error("`{}` is open to others: its mode is {mode:03o}", .path.display())]
    Exposed {
        /// Which file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// Something else is in it.
    #[error("`{}` is no private key of a reviewer", .path.display())]
    Form {
        /// Which file.
        path: PathBuf,
    },
    /// There is a file already.
    #[error("`{}` is there already", .path.display())]
    There {
        /// Which file.
        path: PathBuf,
    },
    /// The kernel gave nothing to make a key of.
    #[error("the kernel gave no random bytes")]
    Random,
    /// Nothing can be signed with it.
    #[error("this key signs nothing")]
    Unusable,
    /// A system call failed.
    #[error("{step} `{}` failed: {source}", .path.display())]
    Io {
        /// What was tried.
        step: &'static str,
        /// On what.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// The longest file, in bytes: a key takes 119.
const LONGEST: u64 = 4096;
const BEGIN: &str = "-----BEGIN PRIVATE KEY-----";
const END: &str = "-----END PRIVATE KEY-----";

impl KeyError {
    /// What to do about it; may be empty.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Foreign { .. } => "sign as the user whose key it is",
            Self::Exposed { .. } => {
                "whoever could read it can sign in your name: make a new one with `fumehood review --new-key FILE`"
            }
            Self::Form { .. } => "`fumehood review --new-key FILE` makes one",
            Self::There { .. } => "give another name: a key that is lost signs nothing any more",
            Self::Random | Self::Unusable | Self::Io { .. } => "",
        }
    }
}

/// The bytes of the PKCS #8 document.
pub(crate) fn read(path: &Path) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    // Opening a FIFO must not wait for its writer (open(2)).
    let nonblock = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
    let file = OpenOptions::new().read(true).custom_flags(nonblock).open(path);
    let file = file.map_err(failed("opening", path))?;
    let facts = file.metadata().map_err(failed("looking at", path))?;
    let form = || KeyError::Form { path: path.to_owned() };
    if !facts.is_file() {
        return Err(form());
    }
    let me = rustix::process::geteuid().as_raw();
    if facts.uid() != me {
        return Err(KeyError::Foreign { path: path.to_owned(), owner: facts.uid(), me });
    }
    let mode = facts.mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(KeyError::Exposed { path: path.to_owned(), mode });
    }
    // As much as there can be, so that no part stays behind where the buffer was before it grew.
    let mut text = Zeroizing::new(String::with_capacity(8192));
    match file.take(LONGEST + 1).read_to_string(&mut text) {
        Ok(len) if u64::try_from(len).is_ok_and(|len| len <= LONGEST) => {}
        Ok(_) => return Err(form()),
        Err(error) if error.kind() == ErrorKind::InvalidData => return Err(form()),
        Err(error) => return Err(failed("reading", path)(error)),
    }
    let inside = text.trim_end().strip_prefix(BEGIN).and_then(|rest| rest.strip_suffix(END));
    let lines = inside.ok_or_else(form)?.split_ascii_whitespace();
    let mut base64 = Zeroizing::new(String::with_capacity(8192));
    base64.extend(lines);
    BASE64_STANDARD.decode(base64.as_bytes()).map(Zeroizing::new).map_err(|_| form())
}

/// Writes them into a new file.
pub(crate) fn write_new(path: &Path, document: &[u8]) -> Result<(), KeyError> {
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let mut file = match file {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            return Err(KeyError::There { path: path.to_owned() });
        }
        Err(error) => return Err(failed("making", path)(error)),
    };
    let base64 = Zeroizing::new(BASE64_STANDARD.encode(document));
    let written = (|| {
        writeln!(file, "{BEGIN}")?;
        for line in base64.as_bytes().chunks(64) {
            file.write_all(line)?;
            file.write_all(b"\n")?;
        }
        writeln!(file, "{END}")?;
        file.sync_all()?;
        // A path of one part lies in the working folder.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
    })();
    written.map_err(|error| {
        // Half a key helps nobody.
        fs::remove_file(path).ok();
        failed("writing", path)(error)
    })
}

fn failed(step: &'static str, path: &Path) -> impl FnOnce(io::Error) -> KeyError {
    let path = path.to_owned();
    move |source| KeyError::Io { step, path, source }
}
