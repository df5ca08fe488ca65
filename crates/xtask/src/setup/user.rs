//! The ordinary user as whom the tests run everything a second time.

use std::fs;
use std::process::Command;

use anyhow::Result;

use crate::workspace::{answer, is_root, must};

/// Its name.
pub const NAME: &str = "fhtest";

/// Makes the user, with subordinate ids, when root; an ordinary caller is that user already.
pub fn prepare() -> Result<()> {
    if !is_root() {
        return Ok(());
    }
    if answer(Command::new("id").args(["-u", NAME])).is_none() {
        eprintln!("x: making the user `{NAME}`");
        must(Command::new("useradd").args(["--create-home", "--shell", "/bin/sh", NAME]))?;
    }
    for (file, flag) in [("/etc/subuid", "--add-subuids"), ("/etc/subgid", "--add-subgids")] {
        let listed = fs::read_to_string(file).unwrap_or_default();
        if !listed.lines().any(|line| line.starts_with(&format!("{NAME}:"))) {
            must(Command::new("usermod").args([flag, &free_range(&listed), NAME]))?;
        }
    }
    Ok(())
}

/// The 65,536 ids after the highest range somebody has, not below 200,000.
fn free_range(listed: &str) -> String {
    let first = listed
        .lines()
        .filter_map(|line| {
            let mut fields = line.split(':').skip(1);
            let start: u64 = fields.next()?.parse().ok()?;
            let count: u64 = fields.next()?.parse().ok()?;
            start.checked_add(count)
        })
        .max()
        .unwrap_or(0)
        .max(200_000);
    format!("{first}-{}", first.saturating_add(65_535))
}

#[cfg(test)]
mod tests {
    use super::free_range;

    #[test]
    fn a_free_range_lies_after_every_other() {
        assert_eq!(free_range(""), "200000-265535");
        assert_eq!(free_range("a:100000:65536\n"), "200000-265535");
        assert_eq!(free_range("a:300000:10\nb:1:2\nbroken\n"), "300010-365545");
    }
}
