//! What recognises the vault's values in what a model says. The service has no value: the broker makes needles of them.

use std::{
    path::PathBuf,
    process::Stdio,
    sync::{Arc, PoisonError, RwLock},
    time::{Duration, SystemTime},
};

use access::screen::Screen;
use anyhow::Context;
use cell::folders::Folders;
use model::config::SecretSource;
use secrets::{
    needles::Made,
    vault::{Stamp, Store},
};
use tokio::{io::AsyncReadExt as _, process::Command};

use crate::{
    cli::Given,
    configuration::{Configuration, operators_file},
    stop::{FAILURE, Stop},
    terminal,
};

/// How long the broker may take: a command that it asks for a value has up to two minutes.
const PATIENCE: Duration = Duration::from_mins(3);
/// Longest answer of the broker, in bytes: some hundred for each value.
const LONGEST: u64 = 16 << 20;
/// How often it is looked whether something has changed.
const LOOK: Duration = Duration::from_secs(2);

/// The screen that is in force, and what it was made from.
#[derive(Debug, Clone)]
pub(crate) struct Screening {
    folders: Folders,
    current: Arc<RwLock<(Arc<Screen>, Seen)>>,
}

/// Versions of everything that values come from, but for commands and variables: those are asked when something else has
/// changed, and at a reload.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    vault: Option<Stamp>,
    files: Vec<(PathBuf, Option<(SystemTime, u64)>)>,
}

impl Screening {
    /// Asks the broker.
    ///
    /// # Errors
    /// If the vault does not open: without needles nobody would notice a value.
    pub(crate) async fn begin(folders: Folders) -> anyhow::Result<Self> {
        let seen = Seen::now(&folders);
        let screen = ask().await?;
        Ok(Self { folders, current: Arc::new(RwLock::new((Arc::new(screen), seen))) })
    }

    /// What is in force.
    pub(crate) fn screen(&self) -> Arc<Screen> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner).0)
    }

    /// Asks the broker anew: after a reload.
    ///
    /// # Errors
    /// If the vault does not open; the former screen stays in force.
    pub(crate) async fn renew(&self) -> anyhow::Result<()> {
        // Looked at before: what changes meanwhile is asked for again.
        let seen = Seen::now(&self.folders);
        let screen = Arc::new(ask().await?);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = (screen, seen);
        Ok(())
    }

    /// Follows changes for ever, and gives `apply` each new screen. What cannot be read is told once, and tried again.
    pub(crate) async fn follow(self, apply: impl Fn(Arc<Screen>)) {
        let mut failed = false;
        loop {
            tokio::time::sleep(LOOK).await;
            let seen = self.current.read().unwrap_or_else(PoisonError::into_inner).1.clone();
            if seen.again(&self.folders) == seen {
                continue;
            }
            match self.renew().await {
                Ok(()) => {
                    failed = false;
                    apply(self.screen());
                }
                Err(error) if !std::mem::replace(&mut failed, true) => {
                    terminal::say(&format!("arguments are searched for the former secrets only: {error:#}"));
                }
                Err(_) => {}
            }
        }
    }
}

impl Seen {
    fn now(folders: &Folders) -> Self {
        // A file that cannot be read as it is will be another one, and is looked at until then.
        let configuration = Configuration::read(folders, &Given::default()).ok();
        let declared = configuration.iter().flat_map(|configuration| configuration.secrets().values());
        let sources = declared.filter_map(|secret| match &secret.source {
            SecretSource::File(path) => Some(path.clone()),
            SecretSource::Env(_) | SecretSource::Command(_) => None,
        });
        Self::of(folders, std::iter::once(operators_file(folders)).chain(sources))
    }

    /// The same files, as they are now.
    fn again(&self, folders: &Folders) -> Self {
        Self::of(folders, self.files.iter().map(|(path, _)| path.clone()))
    }

    fn of(folders: &Folders, paths: impl Iterator<Item = PathBuf>) -> Self {
        let facts = |path: &PathBuf| {
            let facts = std::fs::metadata(path).ok()?;
            Some((facts.modified().ok()?, facts.len()))
        };
        let files = paths.map(|path| {
            let facts = facts(&path);
            (path, facts)
        });
        Self { vault: Store::at(folders.vault()).stamp().ok(), files: files.collect() }
    }
}

/// Has the broker make needles, in a process of its own.
async fn ask() -> anyhow::Result<Screen> {
    let mut broker = Command::new("/proc/self/exe")
        .arg0("fumehood")
        .args(["vault", "--needles"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .context("starting the broker of the vault")?;
    let mut said = Vec::new();
    let stdout = broker.stdout.take().context("listening to the broker of the vault")?;
    let asking = async {
        stdout.take(LONGEST + 1).read_to_end(&mut said).await?;
        broker.wait().await
    };
    let status = match tokio::time::timeout(PATIENCE, asking).await {
        Ok(status) => status.context("listening to the broker of the vault")?,
        Err(_elapsed) => {
            let message = format!("the broker of the vault gave no needles within {} s", PATIENCE.as_secs());
            return Err(Stop::new(FAILURE, message, "a `command` of `[secrets]` may be waiting").into());
        }
    };
    let made = serde_json::from_slice::<Made>(&said).ok().filter(|_| status.success());
    let Some(Made { key, needles, left_out }) = made else {
        // It has said why, on the stderr that it shares with us.
        let message =
            "the broker of the vault gave no needles, so that no secret would be found in arguments";
        return Err(
            Stop::new(FAILURE, message, "`fumehood secret list` shows whether the vault opens").into()
        );
    };
    for (name, why) in left_out {
        terminal::say(&format!("{name} is not looked for in arguments: {why}"));
    }
    Ok(Screen::new(key, needles.into_iter().map(|(name, needle)| (name.to_string(), needle)).collect()))
}
