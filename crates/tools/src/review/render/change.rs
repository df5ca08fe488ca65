//! What has changed, page by page.

use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use super::{
    Look, Page,
    entry::{counted, list, members, short, tally},
    lines::{Bar, Lines, Style},
};
use crate::{
    review::{
        class::Class,
        diff::{Change, Diff, How},
        finding::Finding,
        place::Owner,
    },
    visible::visible,
};

/// A diff as pages, one for each owner of changes; those whose changes reach furthest come first.
pub fn diff_pages(diff: &Diff, look: &Look) -> Vec<Page> {
    let mut owners: Vec<(&Owner, Vec<&Change>)> = Vec::new();
    for change in &diff.changes {
        match owners.iter_mut().find(|(owner, _)| **owner == change.place.owner) {
            Some((_, changes)) => changes.push(change),
            None => owners.push((&change.place.owner, vec![change])),
        }
    }
    owners.into_iter().map(|(owner, changes)| page(owner, &changes, *look)).collect()
}

/// A diff in a line: `now instructs: 1 changed, 2 added; 1 danger`.
pub fn diff_summary(diff: &Diff) -> String {
    if diff.is_empty() {
        return "nothing has changed".to_owned();
    }
    let counts: Vec<String> = [How::Changed, How::Added, How::Removed, How::Renamed]
        .into_iter()
        .map(|how| (diff.changes.iter().filter(|change| change.how == how).count(), how))
        .filter(|(count, _)| *count > 0)
        .map(|(count, how)| format!("{count} {}", how.as_str()))
        .collect();
    format!("{}: {}; {}", diff.class, counts.join(", "), tally(diff.findings().into_iter()))
}

fn page(owner: &Owner, changes: &[&Change], look: Look) -> Page {
    let class = changes.iter().map(|change| change.class).max().unwrap_or(Class::Cosmetic);
    let mut text = String::new();
    for change in changes {
        let mut head = Lines::default();
        let way = change.place.way();
        let at = if way.is_empty() { String::new() } else { format!(" · {way}") };
        head.add(&format!("{}{at} ", change.how.as_str()), Style::Strong);
        head.add(&format!("({})", change.class), Style::Faint);
        head.add(&format!(": {}", visible(&change.why)), Style::Plain);
        text.push_str(&head.wrapped(look, 0, Bar::None));
        for (lines, bar) in body(change) {
            text.push_str(&lines.wrapped(look, 0, bar));
        }
        let findings: Vec<&Finding> = change.findings.iter().collect();
        list(&findings, look, &mut text);
    }
    let severity = changes.iter().flat_map(|change| &change.findings).map(|finding| finding.severity).max();
    let what =
        if changes.len() == 1 { String::new() } else { format!(", {}", counted(changes.len(), "change")) };
    Page { title: format!("{}: {class}{what}", short(owner)), severity, text }
}

fn body(change: &Change) -> Vec<(Lines, Bar)> {
    match (&change.before, &change.after, change.how) {
        (Some(Value::String(before)), Some(Value::String(after)), _) => words(before, after),
        // Only the name is another, and the heading says it.
        (_, Some(after), How::Renamed) => vec![(whole(change, after, Bar::Strange), Bar::Strange)],
        (before, after, _) => {
            let gone = before.iter().map(|value| (whole(change, value, Bar::Removed), Bar::Removed));
            let new = after.iter().map(|value| (whole(change, value, Bar::Added), Bar::Added));
            gone.chain(new).collect()
        }
    }
}

/// A value as a whole.
fn whole(change: &Change, value: &Value, bar: Bar) -> Lines {
    let mut lines = Lines::default();
    let marks = match bar {
        Bar::Removed => super::entry::Marks::default(),
        _ => super::entry::marks(&change.findings),
    };
    match value {
        Value::Object(inside) if !inside.is_empty() => {
            members(&change.place, Some(inside), &marks, 0, &mut lines);
        }
        Value::String(text) => {
            let found = marks.get(&change.place).map(Vec::as_slice).unwrap_or_default();
            lines.add_found(text, Style::Plain, found);
        }
        other => lines.add(&other.to_string(), Style::Plain),
    }
    lines
}

/// Longer texts are shown one after the other rather than word by word, in bytes.
const MOST_WORDED: usize = 16 << 10;

fn words(before: &str, after: &str) -> Vec<(Lines, Bar)> {
    let mut lines = Lines::default();
    if before.len().max(after.len()) > MOST_WORDED {
        let mut new = Lines::default();
        lines.add(before, Style::Plain);
        new.add(after, Style::Plain);
        return vec![(lines, Bar::Removed), (new, Bar::Added)];
    }
    for change in TextDiff::from_words(before, after).iter_all_changes() {
        let style = match change.tag() {
            ChangeTag::Equal => Style::Plain,
            ChangeTag::Delete => Style::Removed,
            ChangeTag::Insert => Style::Added,
        };
        lines.add(change.value(), style);
    }
    vec![(lines, Bar::Strange)]
}
