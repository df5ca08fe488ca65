//! Asking a client outside, within a time limit.

use std::{
    io::{Read, Write},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};

/// How long a client may take to answer.
pub(super) const PATIENCE: Duration = Duration::from_mins(1);
/// The most that is read of an answer, in bytes.
const MOST: u64 = 16 << 20;
/// How often it is looked whether it has answered.
const LOOK: Duration = Duration::from_millis(5);

/// What the client says on stdout, from a folder in which no project lies.
pub(super) fn ask(program: &str, arguments: &[&str], input: &str) -> anyhow::Result<String> {
    let line = format!("{program} {}", arguments.join(" "));
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir("/")
        .env_remove("UV_PROJECT")
        .env_remove("UV_WORKING_DIR")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("`{program}` is needed to find out where packages come from"))?;
    if let Some(mut stdin) = child.stdin.take() {
        // What is not read was not needed.
        stdin.write_all(input.as_bytes()).ok();
    }
    let stdout = child.stdout.take().map(listen);
    let stderr = child.stderr.take().map(listen);
    let deadline = Instant::now() + PATIENCE;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() > deadline {
            child.kill()?;
            child.wait()?;
            bail!("`{line}` did not answer within {} s", PATIENCE.as_secs());
        }
        thread::sleep(LOOK);
    };
    let heard = |thread: Option<thread::JoinHandle<String>>| {
        thread.and_then(|thread| thread.join().ok()).unwrap_or_default()
    };
    let (stdout, stderr) = (heard(stdout), heard(stderr));
    if !status.success() {
        let told: Vec<&str> = stderr.lines().map(str::trim).filter(|line| !line.is_empty()).take(4).collect();
        bail!("`{line}` failed: {}", told.join(" "));
    }
    Ok(stdout)
}

fn listen(pipe: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut said = Vec::new();
        // What was said before an error counts.
        pipe.take(MOST).read_to_end(&mut said).ok();
        String::from_utf8_lossy(&said).into_owned()
    })
}
