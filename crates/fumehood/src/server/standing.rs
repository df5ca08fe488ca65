//! Where a server stands between its declaration and being used: whether its project is trusted, it is pinned, was accepted,
//! has changed since, and is here.

use cell::folders::Folders;
use packages::Store;
use store::{Pending, Trust};
use tools::{lock::Pinned, surface::Surface};

use super::{
    lock_file::{Accepted, Entry},
    signed,
    target::{Home, Source, Target},
};
use crate::{
    guard,
    stop::{FAILURE, Stop},
};

/// The answer; the first of these that holds.
#[derive(Debug)]
pub(crate) enum Standing {
    /// Its project's file was not trusted, or has changed since.
    Untrusted {
        /// Whether another version of it was.
        changed: bool,
    },
    /// It was seen to offer something else than what was accepted.
    Changed(Box<Pending>),
    /// It is in no lock.
    New,
    /// Its declaration is not the pinned one.
    Differs {
        /// What is pinned.
        entry: Box<Entry>,
        /// What differs, in words.
        how: Vec<String>,
    },
    /// Nobody has accepted it as it is pinned.
    Unaccepted(Box<Entry>),
    /// It was accepted; its package is not in the store, or was pinned on another platform only.
    Absent(Box<Entry>),
    /// It can be started.
    Ready(Box<Entry>),
}

impl Standing {
    /// Looks at files, and at nothing else.
    pub(crate) fn of(target: &Target, folders: &Folders) -> anyhow::Result<Self> {
        if let Some(untrusted) = Self::of_project(target, folders)? {
            return Ok(untrusted);
        }
        let trust = trust(folders);
        if let Some(pending) = trust.pending(&target.lock.key(&target.name)).map_err(told)?
            && !guard::off("pending-change")
            && !is_signed(target, &pending)
        {
            return Ok(Self::Changed(Box::new(pending)));
        }
        Self::as_pinned(target, folders)
    }

    /// The same of a server whose project is trusted, whatever it was seen to offer since.
    pub(crate) fn as_pinned(target: &Target, folders: &Folders) -> anyhow::Result<Self> {
        let lock = target.lock.read()?;
        let Some(pinned) = lock.get(&target.name) else { return Ok(Self::New) };
        let accepted = accepted(target, folders, pinned)?;
        let entry = Box::new(target.lock.whole(&target.name, pinned, accepted)?);
        let how = target.differences(&entry.pinned);
        if !how.is_empty() && !guard::off("declaration") {
            return Ok(Self::Differs { entry, how });
        }
        if accepted == Accepted::No && !guard::off("acceptance") {
            return Ok(Self::Unaccepted(entry));
        }
        if matches!(target.source, Source::Package(_)) && content(folders, &entry).is_none() {
            return Ok(Self::Absent(entry));
        }
        Ok(Self::Ready(entry))
    }

    /// [`Standing::Untrusted`], where it is declared by a project whose file is not trusted as it is.
    pub(crate) fn of_project(target: &Target, folders: &Folders) -> anyhow::Result<Option<Self>> {
        let Home::Project { folder, digest } = &target.home else { return Ok(None) };
        let trusted = trust(folders).project_trusted(folder).map_err(told)?;
        let is_trusted = trusted == Some(*digest) || guard::off("project-trust");
        Ok((!is_trusted).then_some(Self::Untrusted { changed: trusted.is_some() }))
    }

    /// Why it cannot be used, in a sentence without a full stop; nothing where it can be.
    pub(crate) fn reason(&self) -> Option<String> {
        Some(match self {
            Self::Untrusted { changed: false } => "the project that declares it is not trusted".to_owned(),
            Self::Untrusted { changed: true } => {
                "the project's fumehood.toml has changed since it was trusted".to_owned()
            }
            Self::Changed(_) => "what it offers is not what was accepted any more".to_owned(),
            Self::New => "it was not reviewed yet".to_owned(),
            Self::Differs { how, .. } => {
                format!("its declaration has changed since it was accepted ({})", how.join("; "))
            }
            Self::Unaccepted(_) => "nobody on this machine has accepted it yet".to_owned(),
            Self::Absent(_) => "it is not installed on this machine".to_owned(),
            Self::Ready(_) => return None,
        })
    }

    /// The command by which a person goes on.
    pub(crate) fn remedy(&self, target: &Target) -> String {
        match (self, &target.home) {
            (Self::Untrusted { .. }, Home::Project { folder, .. }) => {
                format!(
                    "fumehood trust {}",
                    egress::refusal::remedy::shell_word(&folder.display().to_string())
                )
            }
            (Self::New, _) => super::again(target),
            _ => format!("fumehood review {}", target.name),
        }
    }
}

/// Whether a person has accepted this table of a server: of this machine, or a reviewer of the operator's by a signature.
pub(crate) fn accepted(target: &Target, folders: &Folders, pinned: &Pinned) -> anyhow::Result<Accepted> {
    let table = pinned.digest(&target.name);
    let here = trust(folders).accepted(&table, &pinned.fingerprint.to_string()).map_err(told)?;
    let yes = here.is_some() || signed::by(target, pinned).is_some();
    Ok(if yes { Accepted::Yes } else { Accepted::No })
}

/// Whether a reviewer has signed the change that waits: the lock pins it by now.
fn is_signed(target: &Target, pending: &Pending) -> bool {
    target.lock.read().is_ok_and(|lock| {
        lock.get(&target.name).is_some_and(|pinned| {
            pinned.fingerprint.to_string() == pending.fingerprint && signed::by(target, pinned).is_some()
        })
    })
}

/// The store of packages.
pub(crate) fn packages_of(folders: &Folders) -> Store {
    Store::at(folders.store())
}

/// What was accepted.
pub(crate) fn trust(folders: &Folders) -> Trust {
    Trust::at(folders.data.join("trust"))
}

/// The package of a table, where it is in the store. The store has only what was installed on this machine, so whichever
/// platform's is there is the right one.
pub(crate) fn content(folders: &Folders, entry: &Entry) -> Option<packages::Package> {
    let store = packages_of(folders);
    entry.pinned.content.values().find_map(|digest| store.find(digest))
}

/// A surface that was kept as a pending change.
pub(crate) fn surface_of(pending: &Pending) -> anyhow::Result<Surface> {
    Surface::from_stored(pending.surface.clone()).map_err(|error| {
        let message = format!("the change that was kept cannot be read: {error}");
        Stop::new(FAILURE, message, "start the server again: it is compared anew").into()
    })
}

/// An error of what is kept about acceptances.
#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` hands over")]
pub(crate) fn told(error: store::TrustError) -> anyhow::Error {
    Stop::new(FAILURE, crate::stop::chain(&error), error.hint()).into()
}
