//! Floods of the same refusal take a row for each of the first, and then one row a second with their number.

use std::{
    collections::HashMap,
    time::{Duration, Instant, SystemTime},
};

use model::digest::Digest;
use serde_json::{Map, json};

use super::{Event, Kind, moment};

/// How long repeats are gathered.
const WINDOW: Duration = Duration::from_secs(1);
/// Rows of one and the same refusal in a window.
const SAME: u64 = 20;
/// Rows of one caller's refusals for one reason in a window, whatever they ask for.
const ALIKE: u64 = 200;

/// Counts what is left out.
#[derive(Debug, Default)]
pub(super) struct Coalescer {
    began: Option<Instant>,
    same: HashMap<Digest, u64>,
    alike: HashMap<Digest, u64>,
    left_out: HashMap<Digest, LeftOut>,
}

/// Repeats that have no row of their own.
#[derive(Debug)]
struct LeftOut {
    /// What they have in common.
    event: Event,
    count: u64,
    first: (SystemTime, Option<String>),
    last: (SystemTime, Option<String>),
}

impl Coalescer {
    /// The event, if it gets a row of its own.
    pub(super) fn admit(&mut self, event: Event, now: Instant) -> Option<Event> {
        if !matches!(event.kind, Kind::Denied | Kind::Identity) {
            return Some(event);
        }
        self.began.get_or_insert(now);
        let kind = Some(event.kind.as_str().to_owned());
        let alike = key(&[&kind, &event.code, &who(&event)]);
        let same = key(&[
            &kind,
            &event.code,
            &who(&event),
            &event.face,
            &event.server,
            &event.verb,
            &event.name,
            &event.rule,
        ]);
        let count = counted(&mut self.alike, alike);
        if count > ALIKE {
            // Names that were made up for it would be as many keys.
            self.leave_out(alike, event, true);
        } else if counted(&mut self.same, same) > SAME {
            self.leave_out(same, event, false);
        } else {
            return Some(event);
        }
        None
    }

    /// When rows with numbers are due; never while nothing was refused.
    pub(super) fn due(&self) -> Option<Instant> {
        self.began.map(|began| began + WINDOW)
    }

    /// Those rows, if they are due or `at_once`.
    pub(super) fn take(&mut self, now: Instant, at_once: bool) -> Vec<Event> {
        if self.due().is_none_or(|due| now < due) && !at_once {
            return Vec::new();
        }
        self.began = None;
        self.same.clear();
        self.alike.clear();
        let mut rows: Vec<LeftOut> = self.left_out.drain().map(|(_, left_out)| left_out).collect();
        rows.sort_by_key(|left_out| left_out.first.0);
        rows.into_iter().map(LeftOut::row).collect()
    }

    fn leave_out(&mut self, key: Digest, event: Event, whatever: bool) {
        let seen = (event.at, event.call.as_ref().map(ToString::to_string));
        let left_out = self.left_out.entry(key).or_insert_with(|| LeftOut {
            event: in_common(event, whatever),
            count: 0,
            first: seen.clone(),
            last: seen.clone(),
        });
        left_out.count += 1;
        left_out.last = seen;
    }
}

impl LeftOut {
    fn row(self) -> Event {
        let end = |(at, call): (SystemTime, Option<String>)| json!({ "at": moment::text(at), "call": call });
        let at = self.last.0;
        let details = Map::from_iter([
            ("of".to_owned(), json!(self.event.kind)),
            ("count".to_owned(), json!(self.count)),
            ("first".to_owned(), end(self.first)),
            ("last".to_owned(), end(self.last)),
        ]);
        Event { kind: Kind::Coalesced, at, details, ..self.event }
    }
}

fn in_common(event: Event, whatever: bool) -> Event {
    let mut event = Event {
        call: None,
        arguments: None,
        bound: Vec::new(),
        trace: None,
        body: None,
        body_digest: None,
        details: Map::new(),
        ..event
    };
    if whatever {
        event = Event { face: None, server: None, verb: None, name: None, rule: None, tier: None, ..event };
    }
    event
}

fn counted(counts: &mut HashMap<Digest, u64>, key: Digest) -> u64 {
    let count = counts.entry(key).or_default();
    *count += 1;
    *count
}

fn who(event: &Event) -> Option<String> {
    event.principal.as_ref().map(|who| format!("{:?}", (&who.issuer, &who.subject, &who.tenant, &who.how)))
}

/// Of texts that may hold anything: each with its length before it.
fn key(parts: &[&Option<String>]) -> Digest {
    let mut bytes = Vec::new();
    for part in parts {
        match part {
            Some(text) => {
                bytes.extend(text.len().to_be_bytes());
                bytes.extend(text.as_bytes());
            }
            None => bytes.extend(usize::MAX.to_be_bytes()),
        }
    }
    Digest::of(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::CallId;

    fn denied(name: &str) -> Event {
        Event {
            call: Some(CallId::new()),
            server: Some("orders".to_owned()),
            name: Some(name.to_owned()),
            code: Some("FH-TIER-3".to_owned()),
            ..Event::new(Kind::Denied)
        }
    }

    #[test]
    fn every_repeat_has_a_row_or_is_in_a_number() {
        let (mut coalescer, now) = (Coalescer::default(), Instant::now());
        let calls: Vec<Event> = (0..1_000).map(|_| denied("drop")).collect();
        let rows = calls.iter().filter_map(|event| coalescer.admit(event.clone(), now)).count() as u64;
        assert_eq!(rows, SAME);
        assert!(coalescer.take(now, false).is_empty());
        let numbers = coalescer.take(now + WINDOW, false);
        // Beyond 200 of one caller's they are no longer told apart by what they asked for.
        assert_eq!(numbers.len(), 2);
        let count: u64 = numbers.iter().map(|row| row.details["count"].as_u64().unwrap()).sum();
        assert_eq!(rows + count, 1_000);
        let first = calls[20].call.as_ref().unwrap().to_string();
        assert_eq!(numbers[0].details["first"]["call"], json!(first));
        assert_eq!((numbers[0].kind, numbers[0].name.as_deref()), (Kind::Coalesced, Some("drop")));
        assert_eq!(numbers[1].name, None);
        assert!(coalescer.take(now + WINDOW * 5, true).is_empty());
        assert!(coalescer.admit(denied("drop"), now + WINDOW).is_some());
    }

    #[test]
    fn made_up_names_take_no_more_rows_and_no_memory() {
        let (mut coalescer, now) = (Coalescer::default(), Instant::now());
        let rows =
            (0..50_000).filter_map(|n| coalescer.admit(denied(&format!("tool{n}")), now)).count() as u64;
        assert_eq!(rows, ALIKE);
        assert!(coalescer.same.len() as u64 <= ALIKE && coalescer.left_out.len() == 1);
    }

    #[test]
    fn other_callers_and_other_kinds_are_not_counted_in() {
        let (mut coalescer, now) = (Coalescer::default(), Instant::now());
        for n in 0..1_000 {
            assert!(coalescer.admit(Event::new(Kind::Intent), now).is_some());
            let who = super::super::Who { subject: format!("user{n}"), ..Default::default() };
            assert!(coalescer.admit(Event { principal: Some(who), ..denied("drop") }, now).is_some());
        }
    }
}
