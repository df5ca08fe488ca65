use std::{
    cell::RefCell,
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use cell_api::{network::OperatorNetwork, spec::CellSpec};
use model::{mount::Data, name::ServerName};
use tokio::{io::AsyncReadExt, process::Command};

use super::*;
use crate::{
    order::Pin,
    words,
    workshop::{Done, Heard, WorkshopError},
};

/// Runs the program on this machine, with the data folder in place of `/data`.
struct Bench {
    folder: tempfile::TempDir,
    env: BTreeMap<&'static str, String>,
    cells: RefCell<Vec<CellSpec>>,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bench = Self { folder, env: BTreeMap::new(), cells: RefCell::default() };
        for (name, text) in [("npm", include_str!("npm.sh").to_owned()), ("outside/npm", bench.outside())] {
            let path = bench.path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        bench
    }

    /// The client of this machine, which is asked only.
    fn outside(&self) -> String {
        format!("#!/bin/sh\nLOG={} exec {} \"$@\"\n", self.path("log").display(), self.path("npm").display())
    }

    fn with(mut self, name: &'static str, value: &str) -> Self {
        self.env.insert(name, value.to_owned());
        self
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn store(&self) -> Store {
        Store::at(self.path("data/store"))
    }

    fn asked(&self, words: &str) -> Asked {
        let line = format!("{}/outside/npx {words}", self.folder.path().display());
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        words::read(&words).unwrap()
    }

    /// What npm was called for.
    fn log(&self) -> Vec<String> {
        let log = fs::read_to_string(self.path("log")).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    async fn install(&self, pinned: Option<Pin<'_>>, scripts: &[String]) -> Result<Installed, InstallError> {
        self.install_told(pinned, scripts, &mut |_| {}).await
    }

    async fn install_told(
        &self,
        pinned: Option<Pin<'_>>,
        scripts: &[String],
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Installed, InstallError> {
        let (asked, name) = (self.asked("-y x"), ServerName::new("thing").unwrap());
        // A proxy of the house: no name is looked up here.
        let operator =
            OperatorNetwork { upstream_proxy: Some("http://127.0.0.1:9".into()), ..Default::default() };
        let order =
            Order { asked: &asked, name: &name, pinned, scripts, operator: &operator, most_data: None };
        install(order, &self.store(), self, progress).await
    }

    /// Everything there is, apart from what is in the store.
    fn left(&self) -> Vec<PathBuf> {
        ["data/store/staging", "data/data"]
            .iter()
            .filter_map(|folder| fs::read_dir(self.path(folder)).ok())
            .flat_map(|entries| entries.map(|entry| entry.unwrap().path()))
            .collect()
    }
}

impl Workshop for Bench {
    async fn run(&self, spec: CellSpec, heard: &mut dyn FnMut(Heard<'_>)) -> Result<Done, WorkshopError> {
        self.cells.borrow_mut().push(spec.clone());
        let data = self.data_folder(spec.data.as_ref().unwrap());
        let cwd = spec.cwd.as_ref().unwrap().strip_prefix(Data::INSIDE).unwrap();
        let mut child = Command::new(self.path(&spec.command[0]))
            .args(&spec.command[1..])
            .envs(&spec.env)
            .envs(&self.env)
            .env("LOG", self.path("log"))
            .current_dir(data.join(cwd))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut said = Vec::new();
        child.stderr.take().unwrap().read_to_end(&mut said).await.unwrap();
        heard(Heard::Stderr(&said));
        let code = child.wait().await.unwrap().code();
        Ok(Done { code, end: format!("exit code {}", code.unwrap_or(-1)) })
    }

    fn data_folder(&self, data: &Data) -> PathBuf {
        self.path("data/data").join(data.name.as_str())
    }
}

fn pin(record: &Record, content: Option<Digest>) -> Pin<'_> {
    let tree_file = record.tree_file.as_bytes();
    Pin { tree_file, tree: Digest::of(tree_file), content }
}

#[tokio::test]
async fn a_package_is_resolved_fetched_and_kept_in_cells_that_reach_the_registry_alone() {
    let bench = Bench::new();
    let mut told = Vec::new();
    let installed = bench.install_told(None, &[], &mut |progress| told.push(progress)).await.unwrap();
    let fetching = |done| Progress::Fetching { done, all: Some(1) };
    // `node_modules`, the package, its two files, and the manifest of the tree.
    let digesting = |files| Progress::Digesting { files };
    assert_eq!(
        told,
        [
            Progress::Asking,
            Progress::Resolving,
            fetching(0),
            fetching(1),
            digesting(0),
            digesting(5),
            Progress::Done
        ]
    );
    assert_eq!((installed.version.as_str(), installed.source.as_str()), ("1.0.0", "npx:x@1.0.0"));
    assert!(installed.integrity.as_ref().unwrap().starts_with("sha512-"));
    assert_eq!(installed.scripts_not_run, ["x"]);
    assert_eq!(installed.notes, ["the author of `x@1.0.0` advises against it: it leaks"]);
    assert_eq!(installed.registry_hosts, ["GET,HEAD https://r.example"]);
    assert!(installed.tree_file.contains("lockfileVersion"));
    installed.package.verify().unwrap();
    let start = installed.package.start(&bench.asked("-y x --port 1")).unwrap();
    assert_eq!(start.command, ["node", "/package/node_modules/x/run.js", "--port", "1"]);
    for cell in bench.cells.borrow().iter() {
        assert_eq!(cell.network.hosts, ["GET,HEAD https://r.example"]);
        assert!(cell.secrets.is_empty() && cell.mounts.is_empty());
        assert_eq!(cell.env["npm_config_registry"], "https://r.example/");
        assert_eq!(cell.env["npm_config_ignore_scripts"], "true");
    }
    let mut called = bench.log();
    // These two are asked at the same time.
    called[..2].sort();
    assert_eq!(called, ["config", "view", "install", "ci"]);
    assert!(bench.left().is_empty(), "{:?}", bench.left());
}

#[tokio::test]
async fn what_is_pinned_is_not_chosen_anew() {
    let bench = Bench::new();
    let first = bench.install(None, &[]).await.unwrap();
    let other = Bench::new();
    let pinned = pin(&first.record, Some(first.content));
    let second = other.install(Some(pinned), &[]).await.unwrap();
    assert_eq!((second.content, &second.tree_file), (first.content, &first.tree_file));
    assert!(!other.log().contains(&"install".to_owned()));
    // Once more: it is there.
    let before = other.log().len();
    other.install(Some(pinned), &[]).await.unwrap();
    assert_eq!(other.log().len(), before);
}

#[tokio::test]
async fn another_tree_file_or_another_outcome_than_the_pinned_one_is_refused() {
    let bench = Bench::new();
    let first = bench.install(None, &[]).await.unwrap();
    let other = Bench::new().with("CONTENT", "2");
    let changed = first.tree_file.replace("1.0.0", "1.0.1");
    let forged = Pin { tree_file: changed.as_bytes(), ..pin(&first.record, None) };
    assert!(matches!(other.install(Some(forged), &[]).await, Err(InstallError::TreeFile { .. })));
    assert!(other.log().is_empty(), "nobody was even asked");
    let pinned = pin(&first.record, Some(first.content));
    let error = other.install(Some(pinned), &[]).await.unwrap_err();
    assert!(matches!(error, InstallError::Content { pinned, .. } if pinned == first.content));
    assert!(other.store().list().unwrap().is_empty() && other.left().is_empty());
    // Without the digest of another machine's outcome, that of this one counts.
    let here = other.install(Some(pin(&first.record, None)), &[]).await.unwrap();
    assert_ne!(here.content, first.content);
}

#[tokio::test]
async fn eight_at_once_do_the_work_once() {
    let bench = Bench::new().with("PAUSE", "0.4");
    let waited = RefCell::new(0);
    let one = || async {
        let mut told = |progress| {
            if progress == Progress::Waiting {
                *waited.borrow_mut() += 1;
            }
        };
        bench.install_told(None, &[], &mut told).await.unwrap().content
    };
    let all = tokio::join!(one(), one(), one(), one(), one(), one(), one(), one());
    assert!([all.1, all.2, all.3, all.4, all.5, all.6, all.7].iter().all(|content| *content == all.0));
    assert_eq!(bench.log().iter().filter(|call| *call == "ci").count(), 1, "{:?}", bench.log());
    assert_eq!(*waited.borrow(), 7);
    // Whoever comes later wants what is chosen then.
    bench.install(None, &[]).await.unwrap();
    assert_eq!(bench.log().iter().filter(|call| *call == "ci").count(), 2);
    assert_eq!(bench.store().list().unwrap().len(), 1);
    let locks: Vec<_> = fs::read_dir(bench.path("data/store/locks")).unwrap().collect();
    assert_eq!(locks.len(), 1, "{locks:?}");
}

#[tokio::test]
async fn an_installation_that_fails_or_is_given_up_leaves_nothing() {
    for (code, integrity) in [("EINTEGRITY", true), ("ENOSPC", false)] {
        let bench = Bench::new().with("FAIL", code);
        let error = bench.install(None, &[]).await.unwrap_err();
        assert_eq!(matches!(error, InstallError::Integrity { .. }), integrity, "{error}");
        assert!(error.to_string().contains("it did not work"));
        assert!(bench.left().is_empty() && bench.store().list().unwrap().is_empty());
    }
    let bench = Bench::new().with("PAUSE", "30");
    let given_up = tokio::time::timeout(Duration::from_secs(2), bench.install(None, &[])).await;
    assert!(given_up.is_err() && bench.log().contains(&"ci".to_owned()), "{:?}", bench.log());
    assert!(bench.left().is_empty() && bench.store().list().unwrap().is_empty());
}

#[tokio::test]
async fn a_script_runs_by_its_name_alone() {
    let bench = Bench::new();
    let allowed = ["x".to_owned()];
    let installed = bench.install(None, &allowed).await.unwrap();
    assert!(installed.scripts_not_run.is_empty());
    assert!(installed.package.tree().join("node_modules/x/built").is_file());
    let without = bench.install(None, &[]).await.unwrap();
    assert!(!without.package.tree().join("node_modules/x/built").exists());
    assert_ne!(installed.content, without.content);
    let other = bench.install(None, &["y".to_owned()]).await.unwrap_err();
    assert!(matches!(other, InstallError::NoScript { package } if package == "y"));
}

#[tokio::test]
async fn what_is_of_no_registry_is_refused_before_anybody_is_asked() {
    let bench = Bench::new();
    let name = ServerName::new("thing").unwrap();
    let operator = OperatorNetwork::default();
    for words in ["-y ./x", "a/b", "x@https://h.example/x.tgz", "-c x"] {
        let asked = bench.asked(words);
        let order = Order {
            asked: &asked,
            name: &name,
            pinned: None,
            scripts: &[],
            operator: &operator,
            most_data: None,
        };
        let error = install(order, &bench.store(), &bench, &mut |_| {}).await.unwrap_err();
        assert!(matches!(error, InstallError::NoRegistry { .. } | InstallError::Flag { .. }), "{error}");
        assert!(!error.hint().is_empty());
    }
    assert!(bench.log().is_empty() && !Path::new(&bench.path("data")).exists());
}
