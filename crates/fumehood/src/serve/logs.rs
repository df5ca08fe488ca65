//! What the service says while it runs: for people on a terminal, else one JSON object a line.
//!
//! Only our own crates speak below a warning: those of others can write headers, and with them tokens, into what they
//! say for debugging.

use std::io::{self, IsTerminal};

use serde::Serialize;
use tracing_subscriber::{EnvFilter, fmt};

use crate::stop::{Stop, USAGE};

/// The variable with how much is told.
const LEVEL: &str = "FUMEHOOD_LOG";
/// The crates that obey it.
const OURS: [&str; 9] =
    ["fumehood", "gateway", "access", "store", "tools", "cell", "egress", "secrets", "packages"];

/// What is told when it is up, in one line.
#[derive(Debug, Serialize)]
pub(crate) struct Started {
    /// Where it listens, with the real port; none where only the socket is there.
    pub(crate) address: Option<String>,
    /// The Unix socket.
    pub(crate) socket: String,
    /// Names of servers that can be used.
    pub(crate) ready: Vec<String>,
    /// Names of servers that are withheld.
    pub(crate) withheld: Vec<String>,
}

/// Begins to write to stderr.
///
/// # Errors
///
/// `FUMEHOOD_LOG` is no level, or somebody writes already.
pub(crate) fn begin(json: bool) -> anyhow::Result<()> {
    let filter = filter(std::env::var(LEVEL).ok().as_deref())?;
    let log = fmt().with_env_filter(filter).with_writer(io::stderr).with_target(true);
    let begun = if json || !io::stderr().is_terminal() {
        log.json().flatten_event(true).with_current_span(false).with_span_list(true).try_init()
    } else {
        log.compact().with_ansi(crate::terminal::colour()).try_init()
    };
    begun.map_err(|error| anyhow::anyhow!("the log cannot be begun: {error}"))
}

/// The one line at the start.
pub(crate) fn started(started: &Started) {
    tracing::info!(
        address = started.address.as_deref().unwrap_or("none"),
        socket = started.socket,
        pid = std::process::id(),
        version = env!("CARGO_PKG_VERSION"),
        ready = started.ready.join(" "),
        withheld = started.withheld.join(" "),
        "serving"
    );
}

fn filter(level: Option<&str>) -> anyhow::Result<EnvFilter> {
    let level = level.filter(|level| !level.is_empty()).unwrap_or("info");
    if !["error", "warn", "info", "debug", "trace"].contains(&level) {
        let message = format!("`{LEVEL}={level}` is not how much can be told");
        return Err(Stop::new(USAGE, message, "write `error`, `warn`, `info`, `debug` or `trace`").into());
    }
    let others = if level == "error" { "error" } else { "warn" };
    let directives = OURS.iter().fold(others.to_owned(), |all, name| format!("{all},{name}={level}"));
    Ok(EnvFilter::try_new(directives)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_never_speak_below_a_warning() {
        for (level, others) in
            [(None, "warn"), (Some("trace"), "warn"), (Some("error"), "error"), (Some(""), "warn")]
        {
            let filter = filter(level).unwrap().to_string();
            assert!(filter.split(',').any(|directive| directive == others), "{filter}");
            let ours = format!("gateway={}", level.filter(|level| !level.is_empty()).unwrap_or("info"));
            assert!(filter.split(',').any(|directive| directive == ours), "{filter}");
        }
        for wrong in ["hyper=trace", "TRACE", "verbose", "info,hyper=debug"] {
            assert!(filter(Some(wrong)).is_err(), "{wrong}");
        }
    }
}
