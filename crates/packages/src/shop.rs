//! What an installer works with: cells with one data folder, one after the other.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use cell_api::{
    network::NetworkSpec,
    spec::{CellSpec, Kind, Lease},
};
use model::{
    digest::Digest,
    limits::Limits,
    mount::{Data, Mount},
    name::ServerName,
};

use crate::{
    fault::InstallError,
    order::{Dependency, Order},
    progress::Progress,
    sources::{self, Sources},
    workshop::{Heard, Workshop},
};

/// Quota of an installation: 2 GiB, some hundred packages with all they need.
const DATA_SIZE: u64 = 2 << 30;
/// A client resolves and unpacks some thousand packages in less: 1.5 GiB.
const MEMORY: u64 = 1536 << 20;
/// Up to four cores: nobody waits for anything else.
const CPU_MILLI: u32 = 4000;
/// The most that is kept of what a client says, in bytes.
const MOST_SAID: usize = 8 << 20;

/// The cells of one installation. Between two of them nothing of it runs, and its files are ours.
pub(crate) struct Shop<'a, W> {
    /// What is to be installed.
    pub(crate) order: Order<'a>,
    /// What the user should know; goes into the record.
    pub(crate) notes: Vec<String>,
    /// Rules of the hosts that are reached.
    pub(crate) hosts: Vec<String>,
    /// As in [`Sources::chosen`].
    pub(crate) chosen: Option<String>,
    workshop: &'a W,
    template: CellSpec,
    data: Data,
    progress: &'a mut dyn FnMut(Progress),
}

/// What is done with each line a client says on stderr: it is told the line, and where to tell progress to.
pub(crate) type Line<'l> = dyn FnMut(&str, &mut dyn FnMut(Progress)) + 'l;

/// What a client said until it ended.
#[derive(Debug, Default)]
pub(crate) struct Said {
    /// On stdout.
    pub(crate) stdout: Vec<u8>,
    /// On stderr.
    pub(crate) stderr: Vec<u8>,
    /// The exit code, where it ended by itself.
    pub(crate) code: Option<i32>,
    /// How it ended, in words.
    pub(crate) end: String,
}

/// What an installer has made: a folder below [`Shop::folder`], and what there is to tell.
#[derive(Debug)]
pub(crate) struct Built {
    /// The folder of the host that becomes the package.
    pub(crate) tree: PathBuf,
    /// As in [`crate::order::Record`].
    pub(crate) version: String,
    pub(crate) source: String,
    pub(crate) integrity: Option<String>,
    pub(crate) tree_file: Vec<u8>,
    pub(crate) tree_name: &'static str,
    pub(crate) platform: String,
    pub(crate) scripts_not_run: Vec<String>,
    pub(crate) dependencies: Vec<Dependency>,
}

impl<'a, W: Workshop> Shop<'a, W> {
    /// Opens one whose cells reach these sources, and see the data folder of this name at `/data`.
    pub(crate) fn open(
        order: Order<'a>,
        workshop: &'a W,
        sources: &Sources,
        data: ServerName,
        progress: &'a mut dyn FnMut(Progress),
    ) -> Result<Self, InstallError> {
        let data = Data { name: data, size: DATA_SIZE.min(order.most_data.unwrap_or(u64::MAX)) };
        let mut template = CellSpec {
            name: order.name.clone(),
            declared: None,
            kind: Kind::Server,
            command: Vec::new(),
            env: BTreeMap::new(),
            mounts: Vec::new(),
            data: Some(data.clone()),
            package: None,
            limits: Some(Limits {
                memory: MEMORY,
                cpu_milli: CPU_MILLI,
                processes: 512,
                open_files: 8192,
                ..Limits::server()
            }),
            network: NetworkSpec { operator: order.operator.clone(), ..NetworkSpec::default() },
            secrets: Vec::new(),
            cwd: Some(PathBuf::from(Data::INSIDE)),
            lease: Lease::Connection,
        };
        let mut notes = sources.notes.clone();
        let hosts = sources::connect(&mut template, order.asked.client, sources, &mut notes)?;
        let chosen = sources.chosen.clone();
        Ok(Self { order, notes, hosts, chosen, workshop, template, data, progress })
    }

    /// The folder of the host that is `/data` inside. It is there, and ours.
    pub(crate) fn folder(&self) -> PathBuf {
        self.workshop.data_folder(&self.data)
    }

    /// Tells how far it is.
    pub(crate) fn tell(&mut self, progress: Progress) {
        (self.progress)(progress);
    }

    /// Shows a folder of the host to every cell that follows, read-only.
    pub(crate) fn show(&mut self, folder: PathBuf) {
        self.template.mounts.push(Mount { path: folder, write: false });
    }

    /// A variable for every cell that follows; one that tells where a registry is stays.
    pub(crate) fn set(&mut self, name: &str, value: impl Into<String>) {
        self.template.env.entry(name.to_owned()).or_insert_with(|| value.into());
    }

    /// Runs a client in a cell to its end, in the folder `cwd` below `/data`. Every line it says on stderr is given to
    /// `line` with the place to tell progress to.
    pub(crate) async fn run(
        &mut self,
        command: &[&str],
        cwd: &str,
        env: &[(&str, &str)],
        line: &mut Line<'_>,
    ) -> Result<Said, InstallError> {
        let spec = self.template.clone();
        self.run_in(spec, command, cwd, env, line).await
    }

    /// The same without any network: for what runs code of packages, or needs none.
    pub(crate) async fn run_offline(
        &mut self,
        command: &[&str],
        cwd: &str,
        env: &[(&str, &str)],
        line: &mut Line<'_>,
    ) -> Result<Said, InstallError> {
        let mut spec = self.template.clone();
        spec.network = NetworkSpec::default();
        self.run_in(spec, command, cwd, env, line).await
    }

    /// Runs a program of a tree as it will be run, without any network; what it says is of no interest.
    pub(crate) async fn run_package(
        &mut self,
        tree: &Path,
        command: &[String],
        env: &[(&str, &str)],
    ) -> Result<Said, InstallError> {
        let mut spec = self.template.clone();
        spec.network = NetworkSpec::default();
        spec.package = Some(tree.to_owned());
        let command: Vec<&str> = command.iter().map(String::as_str).collect();
        self.run_in(spec, &command, "", env, &mut |_, _| {}).await
    }

    async fn run_in(
        &mut self,
        mut spec: CellSpec,
        command: &[&str],
        cwd: &str,
        env: &[(&str, &str)],
        line: &mut Line<'_>,
    ) -> Result<Said, InstallError> {
        spec.command = command.iter().map(|word| (*word).to_owned()).collect();
        spec.cwd = Some(PathBuf::from(Data::INSIDE).join(cwd));
        spec.env.extend(env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let mut said = Said::default();
        let mut begun = Vec::new();
        let progress = &mut self.progress;
        let mut hear = |heard: Heard<'_>| match heard {
            Heard::Stdout(bytes) => keep(&mut said.stdout, bytes),
            Heard::Stderr(bytes) => {
                keep(&mut said.stderr, bytes);
                keep(&mut begun, bytes);
                while let Some(end) = begun.iter().position(|byte| *byte == b'\n') {
                    let whole: Vec<u8> = begun.drain(..=end).collect();
                    line(String::from_utf8_lossy(&whole).trim_end(), *progress);
                }
            }
        };
        let done = self.workshop.run(spec, &mut hear).await?;
        Ok(Said { code: done.code, end: done.end, ..said })
    }
}

/// The digest of what the order is about: who orders the same waits for the first one.
pub(crate) fn key(order: &Order<'_>) -> Digest {
    let asked = order.asked;
    let mut words = vec![asked.client.runner().to_owned(), asked.program.clone()];
    let mut add = |list: &mut dyn Iterator<Item = String>| {
        let list: Vec<String> = list.collect();
        words.push(list.len().to_string());
        words.extend(list);
    };
    add(&mut asked.packages.iter().cloned());
    add(&mut asked.main.iter().cloned());
    add(&mut asked.flags.iter().flat_map(|flag| [flag.name.clone(), flag.value.clone().unwrap_or_default()]));
    add(&mut order.scripts.iter().cloned());
    add(&mut order.pinned.iter().flat_map(|pin| {
        [pin.tree.to_string(), pin.content.map(|content| content.to_string()).unwrap_or_default()]
    }));
    // No word has NUL: none can be an argument.
    Digest::of(words.join("\0").as_bytes())
}

/// The end of what is said counts more than its beginning.
fn keep(all: &mut Vec<u8>, bytes: &[u8]) {
    all.extend_from_slice(bytes);
    if all.len() > MOST_SAID {
        let over = all.len() - MOST_SAID / 2;
        all.drain(..over);
    }
}

impl Said {
    /// Whether it ended well.
    pub(crate) fn is_good(&self) -> bool {
        self.code == Some(0)
    }

    /// Stderr as text.
    pub(crate) fn told(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }
}
