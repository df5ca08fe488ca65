//! Run inside a test machine: builds a cell there as the product does, runs a command in it, and says on stdout in one
//! `result: {…}` line how each layer is held and what the command did, or why there is no cell.
//!
//! usage: wall-probe NAME [memory=BYTES] [processes=NUMBER] [require=memory] -- COMMAND [ARGUMENT…]
//!
//! `NAME` is said in the result. With `freeze` as its first word it also freezes the running command for a while, and
//! says how much came out of it meanwhile.

use std::collections::BTreeMap;
use std::io;
use std::pin::pin;
use std::process::{Command, ExitCode};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use model::limits::{Limits, Requirement};
use sandbox::host::Host;
use sandbox::plan::{Prepared, Request, prepare};
use sandbox::process::{Launcher, Running, Sandbox};
use serde_json::{Map, Value, json};
use tokio::io::AsyncReadExt as _;

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime.and_then(|runtime| runtime.block_on(probe())) {
        Ok(result) => {
            println!("result: {result}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("wall-probe: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn probe() -> io::Result<Value> {
    let mut words = std::env::args().skip(1);
    let name = words.next().ok_or_else(usage)?;
    let mut limits = Limits::server();
    for word in words.by_ref().take_while(|word| word != "--") {
        set(&mut limits, &word).ok_or_else(usage)?;
    }
    let command: Vec<String> = words.collect();
    let host = Host::new(std::env::vars_os(), std::env::current_dir()?, Vec::new(), "cell".to_owned());
    let request = Request {
        id: &format!("wall-{}", std::process::id()),
        command: &command,
        env: &BTreeMap::new(),
        mounts: &[],
        data: None,
        package: None,
        limits: &limits,
        routes: &[],
        name_servers: &[],
        files: &[],
        cwd: None,
    };
    let began = Instant::now();
    let prepared = match prepare(&request, &host) {
        Ok(prepared) => prepared,
        Err(error) => {
            let found = Command::new("find").args(["/sys/fs/cgroup", "-name", "fumehood-*"]).output()?;
            let result = refused(&name, "preparing", &error, &error.hint());
            return Ok(with_gone(result, found.stdout.is_empty()));
        }
    };
    let program = std::env::current_exe()?.with_file_name("fumehood-jail");
    let launcher = Launcher { program, timeout: Duration::from_secs(20) };
    let started = match launcher.begin() {
        Ok(waiting) => waiting.start(&prepared.spec).await,
        Err(error) => Err(error),
    };
    let result = match started {
        Ok(sandbox) => run(&name, &prepared, sandbox, began).await?,
        Err(error) => refused(&name, "starting", &error, &error.hint()),
    };
    let left = prepared.groups.remove(Duration::from_secs(5));
    let gone = left.is_empty() && prepared.groups.paths().iter().all(|path| !path.exists());
    Ok(with_gone(result, gone))
}

fn set(limits: &mut Limits, word: &str) -> Option<()> {
    match word.split_once('=')? {
        ("memory", bytes) => limits.memory = bytes.parse().ok()?,
        ("processes", number) => limits.processes = number.parse().ok()?,
        ("require", "memory") => drop(limits.require.insert(Requirement::Memory)),
        ("require", "landlock") => drop(limits.require.insert(Requirement::Landlock)),
        _ => return None,
    }
    Some(())
}

async fn run(name: &str, prepared: &Prepared, sandbox: Sandbox, began: Instant) -> io::Result<Value> {
    let built = began.elapsed();
    let running = match sandbox.control.start(&prepared.process).await {
        Ok(running) => running,
        Err(error) => return Ok(refused(name, "running", &error, "")),
    };
    let layers: Map<String, Value> = prepared
        .layers
        .iter()
        .chain(&sandbox.layers)
        .map(|layer| (layer.name.to_string(), json!(layer)))
        .collect();
    let Running { stdin, stdout, stderr, exit, .. } = running;
    drop(stdin);
    let (stdout, stderr) = (Output::of(stdout)?, Output::of(stderr)?);
    let mut exit = pin!(exit);
    let freezing = if name.starts_with("freeze") {
        let freezing = freeze(prepared, &stdout).await;
        sandbox.control.signal(None, 9).await.map_err(io::Error::other)?;
        freezing
    } else {
        Value::Null
    };
    let exit = tokio::time::timeout(Duration::from_mins(1), &mut exit).await;
    let took = began.elapsed();
    let oom_kills = prepared.groups.oom_kills();
    // What a killed process had written is still on its way.
    tokio::time::sleep(Duration::from_millis(50)).await;
    sandbox.control.close();
    let ended = tokio::time::timeout(Duration::from_secs(10), sandbox.ended).await;
    Ok(json!({
        "wall": name,
        "layers": layers,
        "exit": exit.map(Result::ok).ok(),
        "stdout": stdout.text(),
        "stderr": stderr.text(),
        "oom_kills": oom_kills,
        "freezing": freezing,
        "built_ms": built.as_secs_f64() * 1e3,
        "took_ms": took.as_secs_f64() * 1e3,
        "ended": ended.map(|ended| format!("{ended:?}")).unwrap_or_default(),
    }))
}

/// How many lines come out of a process that never stops writing, frozen and thawed.
async fn freeze(prepared: &Prepared, output: &Output) -> Value {
    let pause = Duration::from_millis(300);
    tokio::time::sleep(pause).await;
    let frozen = prepared.groups.freeze(Duration::from_secs(5)).map_err(|error| error.to_string());
    // What was in the pipe is no sign of life.
    tokio::time::sleep(pause).await;
    let at = output.len();
    tokio::time::sleep(pause).await;
    let meanwhile = output.len() - at;
    let thawed = prepared.groups.thaw(Duration::from_secs(5)).map_err(|error| error.to_string());
    tokio::time::sleep(pause).await;
    let afterwards = output.len() - at;
    json!({ "before": at, "meanwhile": meanwhile, "afterwards": afterwards,
            "errors": [frozen.err(), thawed.err()] })
}

/// Adds whether every group is away again.
fn with_gone(mut result: Value, gone: bool) -> Value {
    if let Value::Object(result) = &mut result {
        result.insert("gone".to_owned(), gone.into());
    }
    result
}

fn refused(name: &str, step: &str, error: &dyn std::error::Error, hint: &str) -> Value {
    json!({ "wall": name, "refused": { "step": step, "error": error.to_string(), "hint": hint } })
}

/// What came out of a process so far; read as it comes.
struct Output(Arc<Mutex<Vec<u8>>>);

impl Output {
    fn of(pipe: std::os::fd::OwnedFd) -> io::Result<Self> {
        let mut pipe = tokio::net::unix::pipe::Receiver::from_owned_fd(pipe)?;
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let into = Arc::clone(&bytes);
        tokio::spawn(async move {
            let mut part = vec![0_u8; 4096];
            while let Ok(count @ 1..) = pipe.read(&mut part).await {
                let mut into = into.lock().unwrap_or_else(PoisonError::into_inner);
                into.extend_from_slice(part.get(..count).unwrap_or_default());
            }
        });
        Ok(Self(bytes))
    }

    fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn text(&self) -> String {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A line of the serial port has its limits.
        String::from_utf8_lossy(bytes.get(..8192).unwrap_or(&bytes)).into_owned()
    }
}

fn usage() -> io::Error {
    io::Error::other("usage: wall-probe NAME [memory=BYTES] [processes=NUMBER] [require=memory] -- COMMAND…")
}
