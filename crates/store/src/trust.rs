//! The folder of what was accepted, trusted and seen changed.

#[cfg(test)]
mod tests;

use std::{
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use model::digest::Digest;

use crate::{
    TrustError,
    entry::{Acceptance, Entry, Pending, Project},
    folder::{self, failed},
    record,
    write::{Step, Turn},
};

/// What a person accepted, kept in one folder of theirs. Any number of processes may use it at once.
#[derive(Debug, Clone)]
pub struct Trust {
    folder: PathBuf,
}

/// How the files of entries end.
const ENDING: &str = ".json";

impl Trust {
    /// In this folder, which need not be there: then nothing was accepted.
    pub fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Where it lies.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Keeps an acceptance, in place of one of the same table.
    pub fn accept(&self, acceptance: &Acceptance) -> Result<(), TrustError> {
        self.keep(acceptance.table, acceptance, &mut |_| {})
    }

    /// The acceptance of this very table with this very fingerprint, or none.
    pub fn accepted(&self, table: &Digest, fingerprint: &str) -> Result<Option<Acceptance>, TrustError> {
        let found: Option<Acceptance> = self.read(*table)?;
        Ok(found.filter(|found| found.fingerprint == fingerprint))
    }

    /// Every acceptance, by name and then by when it was given.
    pub fn acceptances(&self) -> Result<Vec<Acceptance>, TrustError> {
        let mut all: Vec<Acceptance> = self.every()?;
        all.sort_by(|a, b| (&a.name, &a.accepted_at).cmp(&(&b.name, &b.accepted_at)));
        Ok(all)
    }

    /// Takes an acceptance back, damaged ones too; whether there was one.
    pub fn withdraw(&self, table: &Digest) -> Result<bool, TrustError> {
        self.remove::<Acceptance>(*table)
    }

    /// Keeps that a project's configuration with this digest was trusted, in place of what was trusted of it before.
    /// `project` is absolute, and canonical: another spelling is another project.
    pub fn trust_project(&self, project: &Path, configuration: Digest) -> Result<(), TrustError> {
        let place = place(project)?;
        let entry = Project { folder: project.display().to_string(), place, configuration };
        self.keep(place, &entry, &mut |_| {})
    }

    /// The digest of the configuration that was trusted of a project, or none.
    pub fn project_trusted(&self, project: &Path) -> Result<Option<Digest>, TrustError> {
        let found: Option<Project> = self.read(place(project)?)?;
        Ok(found.map(|found| found.configuration))
    }

    /// Every trusted project, by folder.
    pub fn projects(&self) -> Result<Vec<Project>, TrustError> {
        let mut all: Vec<Project> = self.every()?;
        all.sort_by(|a, b| a.folder.cmp(&b.folder));
        Ok(all)
    }

    /// Takes trust in a project back; whether there was any.
    pub fn distrust(&self, project: &Path) -> Result<bool, TrustError> {
        self.remove::<Project>(place(project)?)
    }

    /// The change that waits under this key, 64 lower-case hexadecimal digits; or none.
    pub fn pending(&self, key: &str) -> Result<Option<Pending>, TrustError> {
        self.read(digits(key)?)
    }

    /// Keeps that a change was seen, in place of another that waits under this key. Of the same change it is remembered when
    /// it was seen first. What is kept comes back.
    pub fn set_pending(&self, key: &str, pending: &Pending) -> Result<Pending, TrustError> {
        let key = digits(key)?;
        let folder = self.make::<Pending>()?;
        let turn = Turn::wait(&self.folder)?;
        let mut pending = pending.clone();
        if let Some(before) = self.read::<Pending>(key)?
            && before.fingerprint == pending.fingerprint
        {
            pending.first_seen = before.first_seen;
        }
        turn.replace(&folder, &file_name(key), &record::to_bytes(&pending)?, &mut |_| {})?;
        Ok(pending)
    }

    /// Forgets the change that waits under this key, damaged ones too; whether there was one.
    pub fn clear_pending(&self, key: &str) -> Result<bool, TrustError> {
        self.remove::<Pending>(digits(key)?)
    }

    /// Forgets it only if it is the one with this fingerprint, so that deciding one change does not hide a later one that
    /// came meanwhile; whether it was.
    pub fn clear_pending_of(&self, key: &str, fingerprint: &str) -> Result<bool, TrustError> {
        let key = digits(key)?;
        if !self.is_there::<Pending>()? {
            return Ok(false);
        }
        let turn = Turn::wait(&self.folder)?;
        match self.read::<Pending>(key)? {
            Some(pending) if pending.fingerprint == fingerprint => {
                turn.remove(&self.folder.join(Pending::FOLDER), &file_name(key))
            }
            _ => Ok(false),
        }
    }

    fn keep<E: Entry>(
        &self,
        key: Digest,
        entry: &E,
        reached: &mut dyn FnMut(Step),
    ) -> Result<(), TrustError> {
        let bytes = record::to_bytes(entry)?;
        let folder = self.make::<E>()?;
        Turn::wait(&self.folder)?.replace(&folder, &file_name(key), &bytes, reached)
    }

    fn read<E: Entry>(&self, key: Digest) -> Result<Option<E>, TrustError> {
        if !self.is_there::<E>()? {
            return Ok(None);
        }
        let path = self.folder.join(E::FOLDER).join(file_name(key));
        let Some(bytes) = folder::read(&path)? else { return Ok(None) };
        record::from_bytes(&path, key, &bytes).map(Some)
    }

    fn every<E: Entry>(&self) -> Result<Vec<E>, TrustError> {
        if !self.is_there::<E>()? {
            return Ok(Vec::new());
        }
        let folder = self.folder.join(E::FOLDER);
        let mut all = Vec::new();
        for entry in std::fs::read_dir(&folder).map_err(failed("reading", &folder))? {
            let name = entry.map_err(failed("reading", &folder))?.file_name();
            // Files of others, such as an editor's copies, are nobody's acceptance.
            let key = name.to_str().and_then(|name| name.strip_suffix(ENDING));
            if let Some(key) = key.and_then(|digits| Digest::from_hex(digits).ok()) {
                all.extend(self.read::<E>(key)?);
            }
        }
        Ok(all)
    }

    fn remove<E: Entry>(&self, key: Digest) -> Result<bool, TrustError> {
        if !self.is_there::<E>()? {
            return Ok(false);
        }
        Turn::wait(&self.folder)?.remove(&self.folder.join(E::FOLDER), &file_name(key))
    }

    fn make<E: Entry>(&self) -> Result<PathBuf, TrustError> {
        folder::make(&self.folder)?;
        let folder = self.folder.join(E::FOLDER);
        folder::make(&folder)?;
        Ok(folder)
    }

    fn is_there<E: Entry>(&self) -> Result<bool, TrustError> {
        Ok(folder::check(&self.folder)? && folder::check(&self.folder.join(E::FOLDER))?)
    }
}

fn file_name(key: Digest) -> String {
    format!("{}{ENDING}", key.hex())
}

fn digits(key: &str) -> Result<Digest, TrustError> {
    Digest::from_hex(key).map_err(|_| TrustError::Key(key.to_owned()))
}

fn place(project: &Path) -> Result<Digest, TrustError> {
    if !project.is_absolute() {
        return Err(TrustError::Relative(project.to_owned()));
    }
    Ok(Digest::of(project.as_os_str().as_bytes()))
}
