//! A server that somebody wants to use: where it is declared, where it is pinned, how its cell will be.

use std::{
    collections::{BTreeMap, BTreeSet},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use cell::folders::Folders;
use cell_api::spec::CellSpec;
use model::{
    config::{ToolRule, Transport, Whose},
    digest::Digest,
    name::ServerName,
    profile::Profile,
    reviewer::PublicKey,
    secret::{Per, SecretUse},
    tier::Tier,
};
use packages::Asked;
use tools::lock::{Lists, Pinned};

use super::lock_file::LockFile;

/// One server.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    /// Its name in its lock, and on the command line.
    pub(crate) name: ServerName,
    /// Who declares it.
    pub(crate) home: Home,
    /// Where it is pinned.
    pub(crate) lock: LockFile,
    /// Its cell, as declared: a package is not in it yet.
    pub(crate) spec: CellSpec,
    /// How it speaks.
    pub(crate) transport: Transport,
    /// Where it comes from.
    pub(crate) source: Source,
    /// As which client we present ourselves.
    pub(crate) client: Profile,
    /// How its lists are read.
    pub(crate) lists: Lists,
    /// Whether it is started at the first call only.
    pub(crate) is_lazy: bool,
    /// Packages whose install scripts may run.
    pub(crate) scripts: Vec<String>,
    /// Hosts by its declaration, without those the operator allows besides.
    pub(crate) hosts: Vec<String>,
    /// The most the operator grants to a persistent folder, in bytes.
    pub(crate) most_data: Option<u64>,
    /// The keys of those whose signature counts as accepted, by the operator's file.
    pub(crate) reviewers: BTreeSet<PublicKey>,
    /// Whose cell it runs in behind the gateway.
    pub(crate) cell: Whose,
    /// Whether what it says is passed on as it is.
    pub(crate) is_pass_through: bool,
    /// What holds for calls of its tools, by their names.
    pub(crate) tools: BTreeMap<String, ToolRule>,
}

/// Who declares a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Home {
    /// A project's file, which is a request until it is trusted.
    Project {
        /// The project's folder.
        folder: PathBuf,
        /// The digest of its file.
        digest: Digest,
    },
    /// The operator's file.
    Operator,
    /// The command line.
    CommandLine,
}

/// Where a server comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// A package of a registry.
    Package(Asked),
    /// A program of this machine.
    Local,
    /// Another machine.
    Remote {
        /// Where.
        url: String,
        /// Headers of every request, as the bridge takes them: `NAME=text with ${VARIABLE}`.
        headers: Vec<String>,
    },
}

impl Target {
    /// The lock that belongs to a home.
    pub(crate) fn lock_of(home: &Home, folders: &Folders) -> LockFile {
        match home {
            Home::Project { folder, .. } => LockFile::at(folder),
            Home::Operator => LockFile::at(&folders.config),
            Home::CommandLine => LockFile::at(&folders.data.join("undeclared")),
        }
    }

    /// A name for a command that no file declares: another one for each thing that could make it another server.
    pub(crate) fn undeclared_name(spec: &CellSpec, hosts: &[String], source: &Source) -> ServerName {
        let mut scope: Vec<Vec<u8>> = spec.command.iter().map(|word| word.clone().into_bytes()).collect();
        scope.push(hosts.join("\n").into_bytes());
        scope.extend(spec.env.keys().map(|name| name.clone().into_bytes()));
        scope.extend(
            secrets(spec).into_iter().map(|(variable, name)| format!("{variable}={name}").into_bytes()),
        );
        scope.extend(mounts(spec, None).into_iter().map(String::into_bytes));
        // A program of this machine is found from where one stands; a package is the same one everywhere.
        if *source == Source::Local
            && let Ok(folder) = std::env::current_dir()
        {
            scope.push(folder.as_os_str().as_bytes().to_vec());
        }
        let digest = Digest::of(&scope.join(&0)).hex();
        let short: String = digest.chars().take(8).collect();
        let base: String = spec.name.as_str().chars().take(ServerName::MAX_LEN - 9).collect();
        // Two commands with the same digits would only be taken for a changed declaration of one another.
        ServerName::new(format!("{base}-{short}")).unwrap_or_else(|_| spec.name.scoped(&scope.join(&0)))
    }

    /// How its source is written in a lock, where no package was installed for it.
    pub(crate) fn plain_source(&self) -> String {
        match &self.source {
            Source::Package(_) | Source::Local => "command".to_owned(),
            Source::Remote { url, .. } => url.clone(),
        }
    }

    /// Secrets by variable.
    pub(crate) fn secrets(&self) -> BTreeMap<String, String> {
        secrets(&self.spec)
    }

    /// Headers of every request to a server elsewhere, as they are pinned.
    fn headers(&self) -> Vec<String> {
        match &self.source {
            Source::Remote { headers, .. } => headers.clone(),
            Source::Package(_) | Source::Local => Vec::new(),
        }
    }

    /// Mounts, as they are pinned: those of a project as `./PATH`, so that a lock fits wherever the project lies.
    pub(crate) fn mounts(&self) -> Vec<String> {
        match &self.home {
            Home::Project { folder, .. } => mounts(&self.spec, Some(folder)),
            Home::Operator | Home::CommandLine => mounts(&self.spec, None),
        }
    }

    /// Rules of calls that came with somebody's repository. The operator's own are what is in force, and nobody accepts
    /// them.
    fn foreign_rules(&self) -> impl Iterator<Item = (&String, &ToolRule)> {
        let is_project = matches!(self.home, Home::Project { .. });
        self.tools.iter().filter(move |_| is_project)
    }

    /// Tiers, as they are pinned.
    fn tiers(&self) -> BTreeMap<String, Tier> {
        self.foreign_rules().map(|(tool, rule)| (tool.clone(), rule.tier())).collect()
    }

    /// Bound parameters, as they are pinned.
    fn bound(&self) -> BTreeMap<String, String> {
        let of_tool = |(tool, rule): (&String, &ToolRule)| {
            let parameters = rule.bind().iter();
            parameters.map(|(name, from)| (format!("{tool}/{name}"), from.to_string())).collect::<Vec<_>>()
        };
        self.foreign_rules().flat_map(of_tool).collect()
    }

    /// What the declaration says that the table does not, each in words; nothing where they agree.
    pub(crate) fn differences(&self, pinned: &Pinned) -> Vec<String> {
        let mut differences = Vec::new();
        let mut compare = |what: &str, declared: String, pinned: String| {
            if declared != pinned {
                differences.push(format!("{what}: {} was {}", shown(&declared), shown(&pinned)));
            }
        };
        compare("command", self.spec.command.join(" "), pinned.command.join(" "));
        if let Source::Remote { url, .. } = &self.source {
            compare("source", url.clone(), pinned.source.clone());
        }
        compare("client", self.client.to_string(), pinned.client.to_string());
        compare("lists", self.lists.to_string(), pinned.lists.to_string());
        compare("allow_scripts", sorted(&self.scripts), sorted(&pinned.scripts));
        compare("hosts", sorted(&self.hosts), sorted(&pinned.hosts));
        let pairs = |map: &BTreeMap<String, String>| {
            let pairs: Vec<String> =
                map.iter().map(|(variable, name)| format!("{variable}={name}")).collect();
            pairs.join(", ")
        };
        compare("secrets", pairs(&self.secrets()), pairs(&pinned.secrets));
        compare("headers", sorted(&self.headers()), sorted(&pinned.headers));
        compare("mounts", sorted(&self.mounts()), sorted(&pinned.mounts));
        let tiers = |map: &BTreeMap<String, Tier>| {
            let tiers: Vec<String> = map.iter().map(|(tool, tier)| format!("{tool}={tier}")).collect();
            tiers.join(", ")
        };
        compare("tiers", tiers(&self.tiers()), tiers(&pinned.tiers));
        compare("bound parameters", pairs(&self.bound()), pairs(&pinned.bound));
        differences
    }

    /// The table with what is declared now in the place of what was.
    pub(crate) fn declared_into(&self, pinned: &mut Pinned) {
        pinned.command.clone_from(&self.spec.command);
        pinned.client = self.client.clone();
        pinned.lists = self.lists;
        pinned.scripts.clone_from(&self.scripts);
        pinned.scripts.sort();
        pinned.scripts.dedup();
        pinned.hosts.clone_from(&self.hosts);
        pinned.hosts.sort();
        pinned.hosts.dedup();
        pinned.secrets = self.secrets();
        pinned.headers = self.headers();
        pinned.headers.sort();
        pinned.mounts = self.mounts();
        pinned.mounts.sort();
        pinned.tiers = self.tiers();
        pinned.bound = self.bound();
    }
}

fn secrets(spec: &CellSpec) -> BTreeMap<String, String> {
    let said = |one: &SecretUse| {
        let exposed = if one.expose { " exposed" } else { "" };
        let per_user = if one.per == Per::User { " per user" } else { "" };
        format!("{}{exposed}{per_user}", one.name)
    };
    spec.secrets.iter().map(|one| (one.variable.clone(), said(one))).collect()
}

fn mounts(spec: &CellSpec, project: Option<&Path>) -> Vec<String> {
    let access = |write: bool| if write { ":rw" } else { "" };
    let shown = |path: &Path| match project.and_then(|project| path.strip_prefix(project).ok()) {
        Some(inside) => format!("./{}", inside.display()),
        None => path.display().to_string(),
    };
    spec.mounts.iter().map(|mount| format!("{}{}", shown(&mount.path), access(mount.write))).collect()
}

fn sorted(list: &[String]) -> String {
    let mut list = list.to_vec();
    list.sort();
    list.dedup();
    list.join(", ")
}

fn shown(text: &str) -> String {
    if text.is_empty() { "nothing".to_owned() } else { format!("`{text}`") }
}
