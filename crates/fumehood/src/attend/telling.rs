//! What a running cell does that its user should hear of at once.

use std::{collections::HashSet, time::Duration};

use cell_api::{
    client::ClientError,
    event::{EventKind, Guarded},
};
use tokio::sync::Notify;

use crate::{session::Reach, terminal};

/// Before that nobody reads the terminal, and the start has better things to do.
const LATER: Duration = Duration::from_millis(300);
/// Different refusals that are shown; the log has all of them.
const MOST: usize = 50;

/// Says it when the cell is refused something, or makes a file that some program of the user runs or trusts. Events are
/// kept, so it begins late; `now` says not to wait any longer.
pub(crate) async fn tell(session: &Reach, now: &Notify) {
    tokio::select! {
        () = tokio::time::sleep(LATER) => {}
        () = now.notified() => {}
    }
    // A supervisor that died is told of elsewhere.
    follow(session).await.ok();
}

async fn follow(session: &Reach) -> Result<(), ClientError> {
    let Ok(client) = session.another().await else { return Ok(()) };
    let mut events = client.follow().await?;
    let mut refusals = Refusals::default();
    while let Some(event) = events.next().await? {
        match event.kind {
            EventKind::Ended { .. } => break,
            EventKind::GuardedFile { path, what } => {
                let why = match what {
                    Guarded::Name => "programs of yours run or trust what has such a name",
                    Guarded::Socket => "it is a Unix socket, and programs of yours may connect to it",
                };
                let path = path.display();
                terminal::say(&format!(
                    "{} made `{path}`: {why}; look at it before you use that folder",
                    session.name
                ));
            }
            EventKind::Refused { code, message, remedy, .. } => {
                for line in refusals.lines(&session.name, &code, &message, &remedy) {
                    terminal::say(&line);
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Each once, and not without end: what is asked for is the tool's choice.
#[derive(Debug, Default)]
struct Refusals {
    told: HashSet<(String, String)>,
}

impl Refusals {
    fn lines(&mut self, name: &str, code: &str, message: &str, remedy: &str) -> Vec<String> {
        let count = self.told.len();
        if count > MOST || !self.told.insert((code.to_owned(), message.to_owned())) {
            return Vec::new();
        }
        if count == MOST {
            return vec![format!(
                "{name} is refused more than is shown here: see `fumehood egress log {name}`"
            )];
        }
        let remedy = if remedy.starts_with("fumehood ") { format!("`{remedy}`") } else { remedy.to_owned() };
        vec![format!("{name} was refused: {message} [{code}]"), format!("help: {remedy}")]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_told_once_and_a_flood_is_cut() {
        let mut refusals = Refusals::default();
        let mut lines =
            |message: &str| refusals.lines("w", "FH-EGRESS-HOST", message, "fumehood allow w x").len();
        assert_eq!((lines("a"), lines("a"), lines("b")), (2, 0, 2));
        let told: usize = (0..1000).map(|n| lines(&n.to_string())).sum();
        assert_eq!(told, 48 * 2 + 1);
    }
}
