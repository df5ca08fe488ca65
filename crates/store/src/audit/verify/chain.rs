//! The rows, one after another.

use std::{collections::BTreeMap, path::Path};

use model::digest::Digest;

use super::{Against, Fault, How, PAGE};
use crate::audit::{
    AuditError, Event,
    row::{Columns, Head, Record, STREAM},
    sqlite::{Reader, Whole},
    tree::Tree,
};

/// How far the chain is unbroken.
pub(super) struct Walked {
    pub(super) last: Head,
    pub(super) faults: Vec<Fault>,
    /// Whether no row follows.
    pub(super) is_at_end: bool,
}

/// A row that is what its hash says, with what it says of itself.
struct Sound {
    hash: Digest,
    seq: u64,
    prev: Digest,
    /// Whether its columns say the same.
    agrees: bool,
    stream: String,
}

/// Follows the chain to its end, or to the first row that does not belong there.
pub(super) async fn walk(
    reader: &mut Reader,
    file: &Path,
    id: &str,
    against: &mut Against<'_>,
) -> Result<Walked, AuditError> {
    let mut walked = Walked { last: Head::first(id), faults: Vec::new(), is_at_end: false };
    let mut tree = Tree::default();
    // Rows with numbers below 1 come first, and are none of ours.
    let mut after = i64::MIN;
    loop {
        let page = reader.whole_rows(after, PAGE).await?;
        let Some(end) = page.last() else { break };
        after = i64::try_from(end.seq).unwrap_or(i64::MAX);
        let bodies: BTreeMap<u64, String> =
            reader.bodies(walked.last.seq, end.seq).await?.into_iter().collect();
        for row in page {
            if let Some(fault) = judge(reader, &row, walked.last, against.head, file).await? {
                // A checkpoint does not fit for the same reason, and knows less.
                walked.faults.retain(|other| !other.covers(&fault));
                walked.faults.push(fault);
                return Ok(walked);
            }
            if let Some(body) = bodies.get(&row.seq)
                && body_digest(&row) != Some(Digest::of(body.as_bytes()))
            {
                let how = How::Edited("its body is not the one that was kept");
                walked.faults.push(Fault { seq: Some(row.seq), file: file.to_owned(), how });
            }
            let hash = row.content.and_then(|(_, hash, _)| Digest::from_hex(&hash).ok());
            let Some(hash) = hash else { return Ok(walked) };
            walked.last = Head { seq: row.seq, hash };
            tree.push(&hash);
            against.compare(&tree, &hash, &mut walked.faults);
        }
    }
    walked.is_at_end = true;
    if reader.count().await? != walked.last.seq {
        // Two with one number, of which the second began a page, or rows of another chain.
        let how = How::Inserted;
        walked.faults.push(Fault { seq: Some(walked.last.seq + 1), file: file.to_owned(), how });
    }
    Ok(walked)
}

/// What is wrong with a row that stands after `last`.
async fn judge(
    reader: &mut Reader,
    row: &Whole,
    last: Head,
    head: Option<Head>,
    file: &Path,
) -> Result<Option<Fault>, AuditError> {
    let here = last.seq + 1;
    let fault = |seq, how| Ok(Some(Fault { seq: Some(seq), file: file.to_owned(), how }));
    if row.seq > here {
        return fault(here, How::Dropped { to: row.seq - 1 });
    }
    if row.seq < here {
        return fault(row.seq, How::Inserted);
    }
    let sound = match sound(row) {
        Ok(sound) => sound,
        Err(what) => return fault(here, How::Edited(what)),
    };
    if sound.stream != STREAM {
        return fault(here, How::Edited("it names another chain"));
    }
    if sound.seq < here {
        return fault(here, How::Reordered { written: sound.seq });
    }
    if sound.seq > here {
        // Whoever removes rows may number the rest anew.
        let is_here = is_written_later(reader, here).await?;
        return fault(
            here,
            if is_here { How::Reordered { written: sound.seq } } else { How::Dropped { to: sound.seq - 1 } },
        );
    }
    if sound.prev != last.hash {
        // The row before may be another than the one that this one was written after, or this one is another.
        let next = reader.whole_rows(i64::try_from(here).unwrap_or(i64::MAX), 1).await?;
        let is_known = match next.first() {
            Some(next) => self::sound(next).is_ok_and(|next| next.prev == sound.hash),
            None => head.is_none_or(|head| head.seq != here || head.hash == sound.hash),
        };
        let bad = if is_known { last.seq.max(1) } else { here };
        return fault(bad, How::Replaced { to: bad });
    }
    if !sound.agrees {
        return fault(here, How::Edited("a column does not say what the row says"));
    }
    Ok(None)
}

/// Whether a row further on says that it is number `seq`.
async fn is_written_later(reader: &mut Reader, seq: u64) -> Result<bool, AuditError> {
    let mut after = i64::try_from(seq).unwrap_or(i64::MAX);
    loop {
        let page = reader.whole_rows(after, PAGE).await?;
        let Some(end) = page.last() else { return Ok(false) };
        after = i64::try_from(end.seq).unwrap_or(i64::MAX);
        if page.iter().any(|row| sound(row).is_ok_and(|row| row.seq == seq)) {
            return Ok(true);
        }
    }
}

/// What a row says of the body that was kept with it.
fn body_digest(row: &Whole) -> Option<Digest> {
    let (_, _, text) = row.content.as_ref()?;
    let record: Record<Event> = serde_json::from_str(text).ok()?;
    record.event.body_digest
}

fn sound(row: &Whole) -> Result<Sound, &'static str> {
    let Some((columns, hash, text)) = &row.content else { return Err("a column is of another type") };
    let hash = Digest::from_hex(hash).map_err(|_| "its hash is none")?;
    if Digest::of(text.as_bytes()) != hash {
        return Err("its hash is not that of its text");
    }
    let record: Record<Event> = serde_json::from_str(text).map_err(|_| "its text is not that of a row")?;
    if serde_json_canonicalizer::to_vec(&record).ok().as_deref() != Some(text.as_bytes()) {
        return Err("its text is not in the form in which rows are written");
    }
    let agrees = Columns::of(&record.event) == *columns;
    Ok(Sound { hash, seq: record.seq, prev: record.prev, agrees, stream: record.stream })
}
