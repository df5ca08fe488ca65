//! Whatever happens to any byte of a lock, it is refused, or something else is pinned, or it is in the comment.

use std::sync::LazyLock;

use super::*;

static WHOLE: LazyLock<Vec<Digest>> = LazyLock::new(|| digests(&Lock::parse("l", TEXT.as_bytes()).unwrap()));

fn digests(lock: &Lock) -> Vec<Digest> {
    lock.iter().map(|(name, pinned)| pinned.digest(name)).collect()
}

/// Reads what became of the lock; says whether it passed as the same.
fn passes_unnoticed(bytes: &[u8]) -> bool {
    match Lock::parse("l", bytes) {
        Err(error) => {
            let lines = bytes.split(|byte| *byte == b'\n').count();
            assert!((1..=lines).contains(&error.line()), "{error}");
            false
        }
        Ok(lock) => digests(&lock) == *WHOLE,
    }
}

fn comment() -> usize {
    TEXT.find('\n').unwrap()
}

#[test]
fn every_byte_changed() {
    let mut noticed = 0;
    for at in 0..TEXT.len() {
        let byte = TEXT.as_bytes()[at];
        let flips = (0..8).map(|bit| byte ^ 1 << bit);
        for other in flips.chain(*b"\n #\"=").filter(|other| *other != byte) {
            let mut bytes = TEXT.as_bytes().to_vec();
            bytes[at] = other;
            let unnoticed = passes_unnoticed(&bytes);
            assert!(!unnoticed || at <= comment(), "byte {at} changed from {byte} to {other}");
            noticed += usize::from(!unnoticed);
        }
    }
    assert!(noticed > TEXT.len() * 10);
}

#[test]
fn every_byte_left_out_or_doubled() {
    for at in comment()..TEXT.len() {
        let (before, after) = TEXT.as_bytes().split_at(at);
        let (byte, rest) = after.split_at(1);
        assert!(!passes_unnoticed(&[before, rest].concat()), "byte {at} left out");
        // Doubling the line end of the comment leaves an empty line before the version.
        assert!(!passes_unnoticed(&[before, byte, after].concat()), "byte {at} doubled");
    }
}

#[test]
fn cut_off_anywhere() {
    for at in 0..TEXT.len() {
        assert!(!passes_unnoticed(&TEXT.as_bytes()[..at]), "cut off at {at}");
    }
}

#[test]
fn lines_left_out_doubled_or_swapped() {
    let lines: Vec<&str> = TEXT.split_inclusive('\n').collect();
    for at in 1..lines.len() {
        let mut fewer = lines.clone();
        fewer.remove(at);
        assert!(!passes_unnoticed(fewer.concat().as_bytes()), "line {} left out", at + 1);
        let mut more = lines.clone();
        more.insert(at, lines[at]);
        assert!(!passes_unnoticed(more.concat().as_bytes()), "line {} doubled", at + 1);
        if at + 1 < lines.len() && lines[at] != lines[at + 1] {
            let mut swapped = lines.clone();
            swapped.swap(at, at + 1);
            assert!(!passes_unnoticed(swapped.concat().as_bytes()), "line {} swapped", at + 1);
        }
    }
}
