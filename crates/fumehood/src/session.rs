//! A supervisor of our own: started, told what to build, and let go again.

use std::{
    collections::BTreeSet,
    os::{fd::OwnedFd, unix::net::UnixStream as StdUnixStream},
    path::PathBuf,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use anyhow::Context;
use cell::folders::Folders;
use cell_api::{
    client::{Attached, Client},
    info::CellInfo,
    order::StderrMode,
    spec::CellSpec,
};
use model::secret::Per;
use secrets::vault::UserKey;
use tokio::{
    net::UnixStream,
    process::{Child, Command},
};

use crate::{guard, stop::Stop};

/// How long a supervisor may take to clear up after its cell.
const LEAVING: Duration = Duration::from_secs(2);

/// The supervisor, and the connection whose end is the cell's end.
#[derive(Debug)]
pub(crate) struct Session {
    supervisor: Child,
    broker: Option<Child>,
    folders: Folders,
    /// The owner's connection.
    pub(crate) owner: Client,
    /// What was said at the start.
    pub(crate) info: CellInfo,
}

/// A way to a cell, for as long as it lives.
#[derive(Debug, Clone)]
pub(crate) struct Reach {
    folder: PathBuf,
    /// The cell's name.
    pub(crate) name: String,
}

impl Reach {
    /// One more connection.
    pub(crate) async fn another(&self) -> anyhow::Result<Client> {
        Ok(Client::connect(&self.folder).await.map_err(Stop::from)?)
    }
}

impl Session {
    /// Starts a supervisor, and through it a cell.
    pub(crate) async fn begin(folders: Folders, spec: &CellSpec) -> anyhow::Result<Self> {
        Self::begin_when(folders, spec, None, async { Ok(()) }).await
    }

    /// Starts a supervisor, and through it a cell as soon as `ready` has gone well. Where it is a user's, each secret that
    /// every user has is that user's own.
    pub(crate) async fn begin_when(
        folders: Folders,
        spec: &CellSpec,
        user: Option<&UserKey>,
        ready: impl Future<Output = anyhow::Result<()>>,
    ) -> anyhow::Result<Self> {
        let (ours, theirs) = StdUnixStream::pair().context("making a socket pair")?;
        let mut command = Command::new("/proc/self/exe");
        command.arg0("fumehood").args(["cell", "--owner-fd", "0"]).stdin(OwnedFd::from(theirs));
        let mut broker = None;
        if spec.secrets.is_empty() {
            // Our stdout is the protocol's: nobody else may hold it.
            command.stdout(Stdio::null());
        } else {
            let (child, connection) = start_broker(spec, user)?;
            broker = Some(child);
            command.args(["--broker-fd", "1"]).stdout(connection);
        }
        let mut supervisor = command.spawn().context("starting the supervisor")?;
        // What it holds of the sockets would keep them open.
        drop(command);
        ours.set_nonblocking(true)?;
        let begun = async {
            let mut owner = Client::over(UnixStream::from_std(ours)?).await.map_err(Stop::from)?;
            owner.create(spec).await.map_err(Stop::from)?;
            ready.await?;
            let info = owner.start().await.map_err(Stop::from)?;
            anyhow::Ok((owner, info))
        };
        match begun.await {
            Ok((owner, info)) => Ok(Self { supervisor, broker, folders, owner, info }),
            Err(error) => {
                // The connection is closed by now, so it ends by itself.
                leave(&mut supervisor).await;
                if let Some(broker) = &mut broker {
                    leave(broker).await;
                }
                // Where it was killed, what it had begun is cleared up in its place.
                crate::places::sweep(&folders, false);
                Err(error)
            }
        }
    }

    /// A second connection, turned into the main process's stdio.
    pub(crate) async fn attach(&self, stderr: StderrMode) -> anyhow::Result<Attached> {
        let client = self.another().await?;
        Ok(client.attach(1, stderr).await.map_err(Stop::from)?)
    }

    /// The cell's folder, through which its supervisor is reached.
    pub(crate) fn folder(&self) -> PathBuf {
        self.folders.cell(&self.info.id)
    }

    /// How others reach it.
    pub(crate) fn reach(&self) -> Reach {
        Reach { folder: self.folder(), name: self.info.name.to_string() }
    }

    /// One more connection.
    pub(crate) async fn another(&self) -> anyhow::Result<Client> {
        self.reach().another().await
    }

    /// Lets go: whatever still runs ends at once. Waits until the supervisor has cleared up, and does so in its place
    /// when it died. How it ended, where it has.
    pub(crate) async fn finish(self) -> Option<ExitStatus> {
        let Self { mut supervisor, broker, folders, owner, info } = self;
        drop(owner);
        let status = leave(&mut supervisor).await;
        // Its connection has ended with the supervisor.
        if let Some(mut broker) = broker {
            leave(&mut broker).await;
        }
        if folders.cell(&info.id).exists() {
            crate::places::sweep(&folders, false);
        }
        status
    }
}

/// Starts the broker of the cell's secrets; the other end of its connection is for the supervisor. Only names are
/// arguments.
fn start_broker(spec: &CellSpec, user: Option<&UserKey>) -> anyhow::Result<(Child, OwnedFd)> {
    let (broker, supervisor) = StdUnixStream::pair().context("making a socket pair")?;
    let names: BTreeSet<&str> = spec.secrets.iter().map(|one| one.name.as_str()).collect();
    let personal: BTreeSet<&str> = spec
        .secrets
        .iter()
        .filter(|one| one.per == Per::User && !guard::off("per-user-secret"))
        .map(|one| one.name.as_str())
        .collect();
    let mut command = Command::new("/proc/self/exe");
    command.arg0("fumehood").arg("vault").args(names);
    if let Some(user) = user.filter(|_| !personal.is_empty()) {
        command.args(["--user", user.as_str()]);
        command.args(personal.iter().flat_map(|name| ["--personal", name]));
    }
    let child = command
        .stdin(OwnedFd::from(broker))
        .stdout(Stdio::null())
        .spawn()
        .context("starting the broker of the vault")?;
    Ok((child, supervisor.into()))
}

/// Waits for the supervisor's end, but not for ever.
async fn leave(supervisor: &mut Child) -> Option<ExitStatus> {
    tokio::time::timeout(LEAVING, supervisor.wait()).await.ok().and_then(Result::ok)
}
