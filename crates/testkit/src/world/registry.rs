//! A registry of npm's kind on this machine: verdaccio, as `./x` installs it, with packages made by the test.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io::{self, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

mod package;

pub use package::Package;

/// How long it may take to be there.
const PATIENCE: Duration = Duration::from_mins(1);
/// How often it is looked.
const LOOK: Duration = Duration::from_millis(50);
/// How many free ports are tried: another process can take one before it does.
const TRIES: usize = 3;

/// The registry; it is gone with the value.
#[derive(Debug)]
pub struct Registry {
    address: SocketAddr,
    folder: tempfile::TempDir,
    program: Child,
}

impl Registry {
    /// Serves one on a free port of 127.0.0.1; `packages` is where `./x` installs it. Nothing where it is not there.
    pub fn serve(packages: &Path) -> io::Result<Option<Self>> {
        let program = packages.join("npm-registry/node_modules/verdaccio/bin/verdaccio");
        if !program.is_file() {
            return Ok(None);
        }
        let mut failure = io::Error::other("no port");
        for _ in 0..TRIES {
            match Self::begin(&program) {
                Ok(registry) => return Ok(Some(registry)),
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    /// What a client is configured with.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Publishes a version. One that is there already is replaced, which public registries forbid and others do not.
    pub fn publish(&self, package: &Package) -> io::Result<()> {
        let (name, version) = (package.name(), package.version());
        if self.has(name, version) {
            self.unpublish(name, version)?;
        }
        let body = package.publication(&self.url())?.to_string();
        let answer = self.ask("PUT", &format!("/{}", name.replace('/', "%2f")), &body)?;
        if answer.starts_with("HTTP/1.1 201") { Ok(()) } else { Err(io::Error::other(answer)) }
    }

    /// Takes a version back.
    pub fn unpublish(&self, name: &str, version: &str) -> io::Result<()> {
        self.npm(self.folder.path(), ["unpublish", "--force", format!("{name}@{version}").as_str()])
    }

    /// What was asked of it until now, each as `GET /name`.
    pub fn requests(&self) -> io::Result<Vec<String>> {
        let log = fs::read_to_string(self.folder.path().join("log"))?;
        let asked = log.lines().filter_map(|line| {
            let line: Value = serde_json::from_str(line).ok()?;
            let request = line.get("req")?;
            Some(format!("{} {}", request.get("method")?.as_str()?, request.get("url")?.as_str()?))
        });
        Ok(asked.collect())
    }

    /// How often files of packages were fetched until now.
    pub fn downloads(&self) -> io::Result<usize> {
        let requests = self.requests()?;
        Ok(requests
            .iter()
            .filter(|line| line.starts_with("GET ") && line.contains("/-/") && line.contains(".tgz"))
            .count())
    }

    fn begin(program: &Path) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("fh-registry-").tempdir()?;
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let config = folder.path().join("config.yaml");
        let everybody = json!({ "access": "$all", "publish": "$all", "unpublish": "$all" });
        let settings = json!({
            "storage": folder.path().join("storage"),
            "web": { "enable": false },
            "packages": { "**": everybody },
            "log": { "type": "stdout", "format": "json", "level": "http" },
        });
        // JSON is YAML.
        fs::write(&config, settings.to_string())?;
        let log = File::create(folder.path().join("log"))?;
        let child = Command::new("node")
            .arg(program)
            .args(["--listen", &address.to_string(), "--config"])
            .arg(&config)
            .current_dir(folder.path())
            .env("HOME", folder.path())
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(Stdio::null())
            .spawn()?;
        let mut registry = Self { address, folder, program: child };
        let deadline = Instant::now() + PATIENCE;
        while !registry.answers() {
            if let Some(status) = registry.program.try_wait()? {
                return Err(io::Error::other(format!("the registry ended: {status}")));
            }
            if Instant::now() > deadline {
                return Err(io::ErrorKind::TimedOut.into());
            }
            thread::sleep(LOOK);
        }
        Ok(registry)
    }

    fn answers(&self) -> bool {
        self.get("/-/ping").is_ok_and(|answer| answer.starts_with("HTTP/1.1 200"))
    }

    fn has(&self, name: &str, version: &str) -> bool {
        let path = format!("/{}/{version}", name.replace('/', "%2f"));
        self.get(&path).is_ok_and(|answer| answer.starts_with("HTTP/1.1 200"))
    }

    fn get(&self, path: &str) -> io::Result<String> {
        self.ask("GET", path, "")
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> io::Result<String> {
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }

    /// npm as the author of packages.
    fn npm(&self, folder: &Path, words: impl IntoIterator<Item = impl AsRef<OsStr>>) -> io::Result<()> {
        let settings: PathBuf = self.folder.path().join("npmrc");
        // It only asks whether there is one.
        fs::write(&settings, format!("//{}/:_authToken=anybody\n", self.address))?;
        let done = Command::new("npm")
            .args(words)
            .args(["--registry", &self.url(), "--loglevel", "error", "--userconfig"])
            .arg(&settings)
            .env("npm_config_cache", self.folder.path().join("cache"))
            .current_dir(folder)
            .stdin(Stdio::null())
            .output()?;
        if done.status.success() {
            return Ok(());
        }
        Err(io::Error::other(String::from_utf8_lossy(&done.stderr).into_owned()))
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        // One that ended by itself needs neither.
        self.program.kill().and_then(|()| self.program.wait()).ok();
    }
}
