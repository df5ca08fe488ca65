//! Asking a client outside, within a time limit.

use std::{
    io::{self, Read, Write},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// A client outside did not answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// It could not be started.
    #[error("`{program}` is needed to find out where packages come from, and cannot be started: {source}")]
    Absent {
        /// Which program.
        program: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// It takes too long.
    #[error("`{line}` did not answer within {seconds} s")]
    Late {
        /// The command line.
        line: String,
        /// How long was waited.
        seconds: u64,
    },
    /// It failed.
    #[error("`{line}` failed: {told}")]
    Failed {
        /// The command line.
        line: String,
        /// What it said.
        told: String,
    },
}

impl AskError {
    /// For an asking that was cut off by the end of the program.
    pub(crate) fn lost(error: &dyn std::error::Error) -> Self {
        Self::Failed { line: "the question".to_owned(), told: error.to_string() }
    }
}

/// What a client says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The answer.
    pub(crate) stdout: String,
    /// What it warns of.
    pub(crate) stderr: String,
}

/// How long a client may take to answer.
const PATIENCE: Duration = Duration::from_mins(1);
/// The most that is read of an answer, in bytes.
const MOST: u64 = 16 << 20;
/// How often it is looked whether it has answered.
const LOOK: Duration = Duration::from_millis(5);

/// What the client says on stdout, from a folder in which no project lies.
pub(crate) fn ask(program: &str, arguments: &[&str], input: &str) -> Result<String, AskError> {
    Ok(ask_all(program, arguments, input)?.stdout)
}

/// The same, with what it says beside.
pub(crate) fn ask_all(program: &str, arguments: &[&str], input: &str) -> Result<Answer, AskError> {
    let absent = |source| AskError::Absent { program: program.to_owned(), source };
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
        .map_err(absent)?;
    if let Some(mut stdin) = child.stdin.take() {
        // What is not read was not needed.
        stdin.write_all(input.as_bytes()).ok();
    }
    let stdout = child.stdout.take().map(listen);
    let stderr = child.stderr.take().map(listen);
    let deadline = Instant::now() + PATIENCE;
    let status = loop {
        if let Some(status) = child.try_wait().map_err(absent)? {
            break status;
        }
        if Instant::now() > deadline {
            child.kill().and_then(|()| child.wait()).map_err(absent)?;
            return Err(AskError::Late { line, seconds: PATIENCE.as_secs() });
        }
        thread::sleep(LOOK);
    };
    let heard = |thread: Option<thread::JoinHandle<String>>| {
        thread.and_then(|thread| thread.join().ok()).unwrap_or_default()
    };
    let (stdout, stderr) = (heard(stdout), heard(stderr));
    if !status.success() {
        let told: Vec<&str> = stderr.lines().map(str::trim).filter(|line| !line.is_empty()).take(4).collect();
        return Err(AskError::Failed { line, told: told.join(" ") });
    }
    Ok(Answer { stdout, stderr })
}

fn listen(pipe: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut said = Vec::new();
        // What was said before an error counts.
        pipe.take(MOST).read_to_end(&mut said).ok();
        String::from_utf8_lossy(&said).into_owned()
    })
}
