//! From files and flags to the description of a cell.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context;
use cell::folders::Folders;
use cell_api::{
    network::NetworkSpec,
    spec::{CellSpec, Kind, Lease},
};
use model::{
    config::{
        DeclaredSecret, EnvValue, FlagTexts, Flags, Operator, Origin, Place, Plan, PlanError, PlannedMount,
        Problems, Project, Start,
    },
    digest::Digest,
    mount::Mount,
    name::ServerName,
    secret::SecretName,
};

use tools::lock::Lists;

use crate::{
    cli::Given,
    guard,
    hosts::{self, Rules},
    naming, reading,
    server::target::{Home, Source, Target},
    stop::{REFUSED, Stop, USAGE},
};

/// The operator's file of the whole host, read where the user has none.
const HOST_FILE: &str = "/etc/fumehood/config.toml";

/// Everything that has a say.
pub(crate) struct Configuration {
    cwd: PathBuf,
    operator: Operator,
    flags: Flags,
    name: Option<ServerName>,
}

/// Which file declares a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Declared {
    /// The project's, at this path.
    Project(PathBuf),
    /// The operator's, at this path.
    Operator(PathBuf),
    /// None.
    Nowhere,
}

impl Configuration {
    /// Reads the operator's file and the flags; tells everything that is wrong with either.
    pub(crate) fn read(folders: &Folders, given: &Given) -> anyhow::Result<Self> {
        let cwd = std::env::current_dir().context("finding the working folder")?;
        let home = home();
        let operator = operator(folders, home.as_deref())?;
        let texts = FlagTexts {
            mounts: &given.mounts,
            env: &given.env,
            data: given.data.as_deref(),
            limits: &given.limits,
            hosts: &given.hosts,
            secrets: &given.secrets,
            exposed: &given.exposed,
        };
        let flags = Flags::parse_with(&texts, &Place { folder: &cwd, home: home.as_deref() }, &Rules)
            .map_err(|errors| {
                let lines: Vec<String> = errors
                    .as_slice()
                    .iter()
                    .map(|error| match error.hint() {
                        Some(hint) => format!("fumehood: {error}\nfumehood: help: {hint}"),
                        None => format!("fumehood: {error}"),
                    })
                    .collect();
                // More than one line is told as it is.
                Stop::new(USAGE, lines.join("\n") + "\n", "")
            })?;
        let name = given.name.as_ref().map(|name| ServerName::new(name.clone()));
        let name = name.transpose().map_err(|error| Stop::new(USAGE, format!("--name: {error}"), ""))?;
        Ok(Self { cwd, operator, flags, name })
    }

    /// Reads both files as a service does, which has no flags: the operator's, and the nearest project's from `folder`
    /// upwards. What is wrong with one of them does not hide what is wrong with the other.
    pub(crate) fn of_service(folders: &Folders, folder: PathBuf) -> Result<Self, Vec<anyhow::Error>> {
        let read = operator(folders, home().as_deref());
        let mut this =
            Self { cwd: folder, operator: Operator::default(), flags: Flags::default(), name: None };
        let project = this.project();
        match (read, project) {
            (Ok(operator), Ok(_)) => {
                this.operator = operator;
                Ok(this)
            }
            (read, project) => Err(read.err().into_iter().chain(project.err()).collect()),
        }
    }

    /// The operator's file.
    pub(crate) fn operator(&self) -> &Operator {
        &self.operator
    }

    /// A server or a command for `run`. `explicit` says that `--` stood before it.
    pub(crate) fn server(
        &self,
        folders: &Folders,
        words: Vec<String>,
        explicit: bool,
    ) -> anyhow::Result<Target> {
        if let (false, [word]) = (explicit, words.as_slice()) {
            match self.declared_server(folders, word) {
                Ok(Some(target)) => return Ok(target),
                Ok(None) if looks_like_a_program(word) => {}
                Ok(None) => {
                    let project = self.project()?.map(|(project, _)| project);
                    let plan = Plan::server(word, project.as_ref(), &self.operator, &self.flags);
                    if let Err(error) = plan {
                        return Err(refused(&error));
                    }
                }
                Err(error) => return Err(error),
            }
        }
        let name = self.name.clone().unwrap_or_else(|| naming::of(&words));
        let plan =
            Plan::command(&name, words, &self.operator, &self.flags).map_err(|error| refused(&error))?;
        self.target(folders, &plan, Home::CommandLine)
    }

    /// A server of a file; none where no file declares it.
    pub(crate) fn declared_server(&self, folders: &Folders, name: &str) -> anyhow::Result<Option<Target>> {
        let project = self.project()?;
        let declaring = project.as_ref().map(|(project, _)| project);
        match Plan::server(name, declaring, &self.operator, &self.flags) {
            Ok(plan) => {
                let home = match (plan.origin(), project) {
                    (Origin::Project, Some((project, digest))) => {
                        Home::Project { folder: project.folder().to_owned(), digest }
                    }
                    _ => Home::Operator,
                };
                self.target(folders, &plan, home).map(Some)
            }
            Err(PlanError::Unknown { .. }) => Ok(None),
            Err(error) => Err(refused(&error)),
        }
    }

    /// Every server of both files; what cannot be started as declared is an error in its place.
    pub(crate) fn declared_servers(
        &self,
        folders: &Folders,
    ) -> anyhow::Result<Vec<(ServerName, anyhow::Result<Target>)>> {
        let project = self.project()?.map(|(project, _)| project);
        let names = project.iter().flat_map(|project| project.servers().keys());
        let names: BTreeSet<ServerName> = names.chain(self.operator.servers().keys()).cloned().collect();
        Ok(names
            .into_iter()
            .filter_map(|name| {
                let target = self.declared_server(folders, name.as_str()).transpose()?;
                Some((name, target))
            })
            .collect())
    }

    /// The nearest project, with the digest of its file.
    pub(crate) fn nearest_project(&self) -> anyhow::Result<Option<(Project, Digest)>> {
        self.project()
    }

    /// The age below which a release of a package is marked.
    pub(crate) fn min_age(&self) -> Duration {
        self.operator.min_age()
    }

    /// The hosts of a server by the files alone, with the operator's part.
    pub(crate) fn network(&self, name: &ServerName) -> anyhow::Result<NetworkSpec> {
        let project = self.project()?.map(|(project, _)| project);
        match Plan::server(name.as_str(), project.as_ref(), &self.operator, &self.flags) {
            Ok(plan) => Ok(self.network_of(&plan)),
            Err(PlanError::Unknown { .. }) => Ok(NetworkSpec {
                hosts: self.operator.allow(name).to_vec(),
                proxy_env: false,
                operator: hosts::of_operator(&self.operator),
            }),
            Err(error) => Err(refused(&error)),
        }
    }

    /// Whether a file with this text would still be one.
    pub(crate) fn check(path: &Path, text: &str, is_projects: bool) -> anyhow::Result<()> {
        let shown = format!("{} as it would be", path.display());
        let checked = if is_projects {
            let place = Place { folder: path.parent().unwrap_or(path), home: None };
            Project::resolve_with(&shown, text.as_bytes(), &place, &Rules).map(drop)
        } else {
            Operator::resolve_with(&shown, text.as_bytes(), home().as_deref(), &Rules).map(drop)
        };
        checked.map_err(|problems| wrong(&problems))
    }

    /// Where the server is declared.
    pub(crate) fn declared(&self, folders: &Folders, name: &ServerName) -> anyhow::Result<Declared> {
        let project = self.project()?.map(|(project, _)| project);
        match Plan::server(name.as_str(), project.as_ref(), &self.operator, &Flags::default()) {
            Ok(plan) => match (plan.origin(), project) {
                (Origin::Project, Some(project)) => {
                    Ok(Declared::Project(project.folder().join(Project::FILE_NAME)))
                }
                _ => Ok(Declared::Operator(operators_file(folders))),
            },
            Err(PlanError::Unknown { .. }) => Ok(Declared::Nowhere),
            Err(error @ PlanError::DeclaredTwice { .. }) => Err(refused(&error)),
            // Too much of anything has nothing to do with hosts.
            Err(_) => match project {
                Some(project) if project.servers().contains_key(name) => {
                    Ok(Declared::Project(project.folder().join(Project::FILE_NAME)))
                }
                _ => Ok(Declared::Operator(operators_file(folders))),
            },
        }
    }

    /// A command for `exec`.
    pub(crate) fn code(&self, command: Vec<String>) -> anyhow::Result<CellSpec> {
        let name = self.name.clone().unwrap_or_else(|| naming::of(&command));
        let plan =
            Plan::code(&name, command, &self.operator, &self.flags).map_err(|error| refused(&error))?;
        self.spec(&plan, Kind::Code)
    }

    /// The operator's maximum of a persistent folder, in bytes.
    pub(crate) fn most_data(&self) -> Option<u64> {
        self.operator.maximum().data()
    }

    /// The secrets whose value is not in the vault.
    pub(crate) fn secrets(&self) -> &BTreeMap<SecretName, DeclaredSecret> {
        self.operator.secrets()
    }

    /// The variables of the flags alone.
    pub(crate) fn env(&self) -> anyhow::Result<BTreeMap<String, String>> {
        values(self.flags.env().iter())
    }

    /// The nearest `fumehood.toml` upwards, and the digest of the very bytes that were read: a server that may write to
    /// the project could else show one file to the reader and another to the one who asks whether it is trusted.
    fn project(&self) -> anyhow::Result<Option<(Project, Digest)>> {
        for folder in self.cwd.ancestors() {
            let file = folder.join(Project::FILE_NAME);
            if let Some(bytes) = read(&file)? {
                let shown = file.strip_prefix(&self.cwd).unwrap_or(&file).display().to_string();
                let place = Place { folder, home: None };
                return Project::resolve_with(&shown, &bytes, &place, &Rules)
                    .map(|project| Some((project, Digest::of(&bytes))))
                    .map_err(|problems| wrong(&problems));
            }
        }
        Ok(None)
    }

    fn target(&self, folders: &Folders, plan: &Plan, home: Home) -> anyhow::Result<Target> {
        let spec = self.spec(plan, Kind::Server)?;
        let source = match plan.start() {
            Start::Remote { url, headers } => {
                let mut lines: Vec<String> =
                    headers.iter().map(|(name, value)| format!("{name}={value}")).collect();
                if let ([], [only]) = (lines.as_slice(), spec.secrets.as_slice()) {
                    lines.push(format!("authorization=Bearer ${{{}}}", only.variable));
                }
                Source::Remote { url: url.clone(), headers: lines }
            }
            Start::Command(command) => packages::words::read(command).map_or(Source::Local, Source::Package),
        };
        let allowed = self.operator.allow(plan.name());
        let hosts: Vec<String> = plan
            .hosts()
            .iter()
            .filter(|host| matches!(home, Home::Project { .. }) || !allowed.contains(host))
            .cloned()
            .collect();
        let name = match home {
            Home::CommandLine => Target::undeclared_name(&spec, &hosts, &source),
            _ => plan.name().clone(),
        };
        Ok(Target {
            name,
            lock: Target::lock_of(&home, folders),
            home,
            spec,
            transport: plan.transport(),
            source,
            client: plan.client().clone(),
            lists: if plan.reads_with_keys() { Lists::Keys } else { Lists::Offline },
            is_lazy: plan.is_lazy(),
            scripts: plan.scripts().to_vec(),
            hosts,
            most_data: self.most_data(),
            reviewers: self.operator.reviewers().clone(),
            cell: plan.cell().clone(),
            is_pass_through: plan.is_pass_through(),
            tools: plan.tools().clone(),
        })
    }

    fn network_of(&self, plan: &Plan) -> NetworkSpec {
        let mut hosts = plan.hosts().to_vec();
        // The name of a declared server that was given another one for this run.
        if let Some(alias) = self.name.as_ref().filter(|alias| *alias != plan.name()) {
            hosts.extend(self.operator.allow(alias).iter().cloned());
        }
        NetworkSpec { hosts, proxy_env: plan.proxy_env(), operator: hosts::of_operator(&self.operator) }
    }

    fn spec(&self, plan: &Plan, kind: Kind) -> anyhow::Result<CellSpec> {
        Ok(CellSpec {
            name: self.name.clone().unwrap_or_else(|| plan.name().clone()),
            declared: None,
            kind,
            command: plan.program().to_vec(),
            env: values(plan.env().iter())?,
            mounts: plan.mounts().iter().map(opened).collect::<anyhow::Result<_>>()?,
            data: plan.data().cloned(),
            package: None,
            limits: Some(plan.limits().clone()),
            network: self.network_of(plan),
            secrets: plan.secrets().to_vec(),
            cwd: None,
            lease: Lease::Connection,
        })
    }
}

/// The user's own file, else the host's, else none.
fn operator(folders: &Folders, home: Option<&Path>) -> anyhow::Result<Operator> {
    for file in [own_file(folders), PathBuf::from(HOST_FILE)] {
        if let Some(bytes) = read(&file)? {
            return Operator::resolve_with(&file.display().to_string(), &bytes, home, &Rules)
                .map_err(|problems| wrong(&problems));
        }
    }
    Ok(Operator::default())
}

/// The operator's file that counts; the user's own where there is none yet.
pub(crate) fn operators_file(folders: &Folders) -> PathBuf {
    let (own, host) = (own_file(folders), Path::new(HOST_FILE));
    if !own.exists() && host.exists() { host.to_owned() } else { own }
}

fn own_file(folders: &Folders) -> PathBuf {
    folders.config.join(Operator::FILE_NAME)
}

fn read(file: &Path) -> anyhow::Result<Option<Vec<u8>>> {
    match reading::file(file, reading::CONFIGURATION) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => {
            let message = format!("reading `{}` failed: {error}", file.display());
            Err(Stop::new(USAGE, message, "make it readable, or move it away").into())
        }
    }
}

/// A mount that a project asked for must lie in the project when every link on its way is followed.
fn opened(planned: &PlannedMount) -> anyhow::Result<Mount> {
    if let Some(beneath) = &planned.beneath {
        let real = |path: &Path| fs::canonicalize(path);
        // What is not there is told by the supervisor, like every other mount that is not there.
        if let (Ok(path), Ok(beneath)) = (real(&planned.mount.path), real(beneath))
            && !path.starts_with(&beneath)
            && !guard::off("project-links")
        {
            let message = format!(
                "the project's mount `{}` leads to `{}`, outside the project",
                planned.mount.path.display(),
                path.display()
            );
            let hint = "give it with `--mount`, or declare the server in the operator's file";
            return Err(Stop::new(REFUSED, message, hint).into());
        }
    }
    Ok(planned.mount.clone())
}

fn values<'a>(
    variables: impl Iterator<Item = (&'a String, &'a EnvValue)>,
) -> anyhow::Result<BTreeMap<String, String>> {
    let value = |(name, value): (&String, &EnvValue)| match value {
        EnvValue::Given(text) => Ok((name.clone(), text.clone())),
        EnvValue::FromCaller => match std::env::var(name) {
            Ok(text) => Ok((name.clone(), text)),
            Err(std::env::VarError::NotPresent) => {
                let hint = format!("set it, or write `--env {name}=VALUE`");
                Err(Stop::new(USAGE, format!("`--env {name}`: there is no such variable here"), hint).into())
            }
            Err(std::env::VarError::NotUnicode(_)) => {
                Err(Stop::new(USAGE, format!("`--env {name}`: its value is not valid UTF-8"), "").into())
            }
        },
    };
    variables.map(value).collect()
}

/// Whether a lone word that is no server's name can be meant as a program.
fn looks_like_a_program(word: &str) -> bool {
    word.contains('/')
        || std::env::var_os("PATH")
            .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(word).is_file()))
}

fn refused(error: &PlanError) -> anyhow::Error {
    let code = if matches!(error, PlanError::TooMuch(_)) { REFUSED } else { USAGE };
    Stop::new(code, error.to_string(), error.hint().unwrap_or_default()).into()
}

fn wrong(problems: &Problems) -> anyhow::Error {
    // Rendered problems span several lines and are told as they are.
    Stop::new(USAGE, format!("{problems}\n"), "").into()
}

fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute())
}
