//! Why a vault does not open or change.

use std::{io, path::PathBuf, time::Duration};

use model::secret::SecretName;

use crate::{terminal::AskError, value::ValueError};

/// A vault that does not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    /// Somebody else owns a part of it.
    #[error("`{path}` belongs to user {owner}, not to user {me}")]
    Foreign {
        /// Which part.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
        /// Who asked.
        me: u32,
    },
    /// Others can read or change a part of it.
    #[error("`{path}` is open to others: its mode is {mode:03o}")]
    Exposed {
        /// Which part.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
        /// Those it should have.
        wanted: u32,
    },
    /// A part of it is something else.
    #[error("`{path}` is not {wanted}")]
    Kind {
        /// Which part.
        path: PathBuf,
        /// What it should be.
        wanted: &'static str,
    },
    /// A system call failed.
    #[error("{step} `{path}` failed: {source}")]
    Io {
        /// What was tried.
        step: &'static str,
        /// On what.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// There is a vault, and no key for it.
    #[error("the key of the vault, `{key}`, is missing")]
    KeyMissing {
        /// Where it should be.
        key: PathBuf,
    },
    /// The key's file holds no key.
    #[error("`{key}` holds no key of a vault")]
    KeyBroken {
        /// Which file.
        key: PathBuf,
    },
    /// The vault was sealed to another key.
    #[error("`{vault}` is not sealed to the key beside it")]
    WrongKey {
        /// Which file.
        vault: PathBuf,
    },
    /// The file is not what was written.
    #[error("`{vault}` is damaged: {why}")]
    Damaged {
        /// Which file.
        vault: PathBuf,
        /// In which way.
        why: String,
        /// The version before it, where that opens.
        previous: Option<PathBuf>,
    },
    /// The version before is there, and the vault is not.
    #[error("the vault is gone, and the version before it is there")]
    Gone {
        /// That version.
        previous: PathBuf,
    },
    /// A file to restore from does not open.
    #[error("`{file}` cannot be opened: {why}")]
    Backup {
        /// Which file.
        file: PathBuf,
        /// Why.
        why: String,
        /// What to do about it.
        help: &'static str,
    },
    /// A restored vault would take the place of one that works.
    #[error("the vault holds {0} secrets and would be replaced")]
    InUse(usize),
    /// The passphrase is another.
    #[error("the passphrase is wrong")]
    Passphrase,
    /// Nobody could be asked for it.
    #[error("the vault is locked by a passphrase: {0}")]
    Ask(#[from] AskError),
    /// Another process has not finished.
    #[error("another process has been changing the vault for {} s", .0.as_secs())]
    Busy(Duration),
    /// There is no room.
    #[error("the vault is full: it holds {} secrets", super::MOST_SECRETS)]
    Full,
    /// There is no room for one more user's value.
    #[error("the vault is full: it holds {} values of users", super::MOST_USER_VALUES)]
    FullOfUsers,
    /// Too many can open it.
    #[error("the vault has {} recipients already", super::MOST_RECIPIENTS)]
    Recipients,
    /// There is no such secret.
    #[error("there is no secret `{0}` in the vault")]
    Unknown(SecretName),
    /// This user has no such secret.
    #[error("there is no secret `{name}` of the user {user} in the vault")]
    UnknownFor {
        /// Which.
        name: SecretName,
        /// Whose.
        user: String,
    },
    /// It cannot be kept.
    #[error("{0}")]
    Value(#[source] ValueError),
    /// Sealing failed.
    #[error("sealing failed: {0}")]
    Seal(String),
}

impl VaultError {
    /// What to do about it; may be empty.
    pub fn hint(&self) -> String {
        const FROM_ELSEWHERE: &str = "`fumehood secret restore FILE` puts an exported backup in its place";
        match self {
            Self::Foreign { .. } => "run it as that user, or move the folder away".to_owned(),
            Self::Exposed { path, wanted, .. } => {
                format!("`chmod {wanted:03o} {}`; whoever could read it may know its secrets", quoted(path))
            }
            Self::Kind { path, .. } => format!("move `{}` away", path.display()),
            Self::KeyMissing { key: beside }
            | Self::KeyBroken { key: beside }
            | Self::WrongKey { vault: beside } => {
                format!(
                    "put the key back, or open the vault with a recipient's identity: `fumehood secret restore {} \
                     --identity FILE`; {FROM_ELSEWHERE}",
                    quoted(&beside.with_file_name(super::store::VAULT))
                )
            }
            Self::Damaged { previous: Some(previous), .. } | Self::Gone { previous } => {
                format!("`fumehood secret restore {}` puts the version before in its place", quoted(previous))
            }
            Self::Damaged { previous: None, .. } => FROM_ELSEWHERE.to_owned(),
            Self::Backup { help, .. } => (*help).to_owned(),
            Self::InUse(_) => "`fumehood secret export` it first, then give `--replace`".to_owned(),
            Self::Busy(_) => "`fuser` on the vault's file `lock` tells which; end it if it hangs".to_owned(),
            Self::Full | Self::FullOfUsers => {
                "`fumehood secret list` shows them, `fumehood secret rm NAME` removes one".to_owned()
            }
            Self::Unknown(name) => {
                format!(
                    "`fumehood secret set {name} --host …` keeps it; `fumehood secret list` shows what there is"
                )
            }
            Self::UnknownFor { name, .. } => {
                format!("`fumehood secret list` shows which users have a value of {name}")
            }
            Self::Value(error) => error.hint().to_owned(),
            Self::Ask(error) => error.hint().to_owned(),
            Self::Io { .. } | Self::Passphrase | Self::Recipients | Self::Seal(_) => String::new(),
        }
    }
}

/// A path as a shell takes it.
pub(super) fn quoted(path: &std::path::Path) -> String {
    let text = path.display().to_string();
    let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-+:@".contains(&byte));
    if plain { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}
