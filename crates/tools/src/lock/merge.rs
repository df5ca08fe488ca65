//! Three locks into one, table by table.

use std::collections::BTreeSet;

use model::name::ServerName;

use super::{Lock, LockError, Pinned, VERSION, text};

/// What a merge came to: the text of the file either way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merged {
    /// A whole lock.
    Clean(String),
    /// With git's conflict markers inside the tables that both sides changed; no lock until a person has chosen.
    Conflict(String),
}

impl Merged {
    /// The text to write.
    pub fn text(&self) -> &str {
        match self {
            Self::Clean(text) | Self::Conflict(text) => text,
        }
    }
}

/// Merges what two sides made of a lock, as a merge driver of git does. An empty base is a file that was not there.
///
/// # Errors
///
/// [`LockError`] for a side that is no lock; its file is named `base`, `ours` or `theirs`.
pub fn merge(base: &[u8], ours: &[u8], theirs: &[u8]) -> Result<Merged, LockError> {
    let base = if base.is_empty() { Lock::default() } else { Lock::parse("base", base)? };
    let (ours, theirs) = (Lock::parse("ours", ours)?, Lock::parse("theirs", theirs)?);
    let names: BTreeSet<&ServerName> =
        [&base, &ours, &theirs].into_iter().flat_map(|lock| lock.servers.keys()).collect();
    let mut merged = format!("{}version = {VERSION}\n", text::HEAD);
    let mut is_clean = true;
    for name in names {
        let (before, our, their) = (base.get(name), ours.get(name), theirs.get(name));
        let chosen = match (our == before, their == before) {
            (true, _) => Some(their),
            (_, true) => Some(our),
            _ => (our == their).then_some(our),
        };
        match chosen {
            Some(None) => {}
            Some(Some(pinned)) => merged.extend(["\n", &text::table(name, pinned)]),
            None => {
                is_clean = false;
                merged.extend(["\n", &conflict(name, our, their)]);
            }
        }
    }
    Ok(if is_clean { Merged::Clean(merged) } else { Merged::Conflict(merged) })
}

/// One table with markers around what differs.
fn conflict(name: &ServerName, ours: Option<&Pinned>, theirs: Option<&Pinned>) -> String {
    let lines = |side: Option<&Pinned>| -> Vec<String> {
        let table = side.map(|pinned| text::table(name, pinned)).unwrap_or_default();
        table.split_inclusive('\n').map(str::to_owned).collect()
    };
    let (ours, theirs) = (lines(ours), lines(theirs));
    let head = common(ours.iter(), theirs.iter());
    let (before, ours) = ours.split_at(head);
    let theirs = theirs.get(head..).unwrap_or_default();
    let tail = common(ours.iter().rev(), theirs.iter().rev());
    let (ours, after) = ours.split_at(ours.len() - tail);
    let (theirs, _) = theirs.split_at(theirs.len() - tail);
    format!(
        "{}<<<<<<< ours\n{}=======\n{}>>>>>>> theirs\n{}",
        before.concat(),
        ours.concat(),
        theirs.concat(),
        after.concat()
    )
}

fn common<'a>(a: impl Iterator<Item = &'a String>, b: impl Iterator<Item = &'a String>) -> usize {
    a.zip(b).take_while(|(a, b)| a == b).count()
}
