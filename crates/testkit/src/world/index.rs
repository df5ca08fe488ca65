//! A Python package index on this machine (PEP 503, PEP 691 with the times of PEP 700, PEP 592), with packages made by
//! the test.

use std::{
    collections::BTreeMap,
    io::{self, BufRead as _, BufReader, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use serde_json::json;
use sha2::{Digest as _, Sha256};

mod release;
pub(super) mod tar;
mod wheel;
mod zip;

pub use release::Release;
pub use tar::source;
pub use wheel::Wheel;

/// How long a connection may say nothing.
const PATIENCE: Duration = Duration::from_secs(20);
/// The longest line and the most lines of a request.
const LINE: u64 = 16 << 10;
const LINES: usize = 200;
/// The type of a page of an index.
const PAGE: &str = "application/vnd.pypi.simple.v1+json";

/// The index; it is gone with the value.
#[derive(Debug)]
pub struct Index {
    address: SocketAddr,
    shelf: Arc<Mutex<Shelf>>,
    over: Arc<AtomicBool>,
    listener: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shelf {
    releases: BTreeMap<String, Vec<Release>>,
    visits: Vec<String>,
}

impl Index {
    /// Serves one on a free port of 127.0.0.1.
    pub fn serve() -> io::Result<Self> {
        let socket = TcpListener::bind("127.0.0.1:0")?;
        let address = socket.local_addr()?;
        let shelf = Arc::new(Mutex::new(Shelf::default()));
        let over = Arc::new(AtomicBool::new(false));
        let listener = thread::spawn({
            let (shelf, over) = (Arc::clone(&shelf), Arc::clone(&over));
            move || {
                for connection in socket.incoming().flatten() {
                    if over.load(Ordering::SeqCst) {
                        break;
                    }
                    let shelf = Arc::clone(&shelf);
                    // Whoever goes away in the middle has no answer.
                    thread::spawn(move || answer_all(&connection, &shelf).ok());
                }
            }
        });
        Ok(Self { address, shelf, over, listener: Some(listener) })
    }

    /// What a client is configured with.
    pub fn url(&self) -> String {
        format!("http://{}/simple/", self.address)
    }

    /// Puts a release on the shelf, in place of a file of the same name.
    pub fn add(&self, release: Release) {
        let mut shelf = lock(&self.shelf);
        let releases = shelf.releases.entry(release.project.clone()).or_default();
        releases.retain(|one| one.file != release.file);
        releases.push(release);
    }

    /// What it was asked for since it was last looked at, as `GET /simple/x/`.
    pub fn visits(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.shelf).visits)
    }
}

impl Drop for Index {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        // Wakes it up; where that fails it is not there any more.
        TcpStream::connect(self.address).ok();
        if let Some(listener) = self.listener.take() {
            listener.join().ok();
        }
    }
}

fn lock(shelf: &Mutex<Shelf>) -> MutexGuard<'_, Shelf> {
    shelf.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Answers the requests of one connection, one after the other.
fn answer_all(connection: &TcpStream, shelf: &Mutex<Shelf>) -> io::Result<()> {
    connection.set_read_timeout(Some(PATIENCE))?;
    connection.set_write_timeout(Some(PATIENCE))?;
    let mut reader = BufReader::new(connection);
    let mut writer = connection;
    while let Some(request) = read(&mut reader)? {
        let mut words = request.split(' ');
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let (status, kind, body) = {
            let mut shelf = lock(shelf);
            shelf.visits.push(format!("{method} {path}"));
            match shelf.find(path) {
                Some((kind, body)) => ("200 OK", kind, body),
                None => ("404 Not Found", "text/plain", b"there is no such thing here\n".to_vec()),
            }
        };
        write!(
            writer,
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\r\n",
            body.len()
        )?;
        if method != "HEAD" {
            writer.write_all(&body)?;
        }
        writer.flush()?;
    }
    Ok(())
}

/// The first line of a request; nothing when there is none any more. Its other lines say nothing to us.
fn read(reader: &mut BufReader<&TcpStream>) -> io::Result<Option<String>> {
    let mut first = None;
    for _ in 0..LINES {
        let mut line = String::new();
        let read = io::Read::take(&mut *reader, LINE).read_line(&mut line)?;
        let line = line.trim_end();
        match (&first, line) {
            (_, _) if read == 0 => return Ok(None),
            (Some(_), "") => return Ok(first),
            (None, line) if !line.is_empty() => first = Some(line.to_owned()),
            _ => {}
        }
    }
    Err(io::Error::other("a request without end"))
}

impl Shelf {
    fn find(&self, path: &str) -> Option<(&'static str, Vec<u8>)> {
        if let Some(project) = path.strip_prefix("/simple/") {
            let releases = self.releases.get(project.trim_end_matches('/'))?;
            return Some((PAGE, page(project.trim_end_matches('/'), releases)));
        }
        let file = path.strip_prefix("/files/")?;
        let release = self.releases.values().flatten().find(|release| release.file == file)?;
        Some(("application/octet-stream", release.bytes.clone()))
    }
}

fn page(project: &str, releases: &[Release]) -> Vec<u8> {
    let files: Vec<_> = releases
        .iter()
        .map(|release| {
            let yanked = release.yanked.as_ref().map_or(json!(false), |reason| json!(reason));
            json!({
                "filename": release.file,
                "url": format!("/files/{}", release.file),
                "hashes": {"sha256": hexadecimal(&Sha256::digest(&release.bytes))},
                "size": release.bytes.len(),
                "upload-time": release.uploaded,
                "yanked": yanked,
            })
        })
        .collect();
    let versions: Vec<&str> = releases.iter().map(|release| release.version.as_str()).collect();
    let page = json!({
        "meta": {"api-version": "1.1"}, "name": project, "versions": versions, "files": files,
    });
    page.to_string().into_bytes()
}

fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        write!(text, "{byte:02x}").ok();
        text
    })
}
