//! The filter on real processes. Each case runs in a process of its own, so that the filter does not stay on the
//! tests; the control is the same case without the filter.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should end")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

mod programs;
mod refusals;
mod sys;

use sys::Under;

const CASE: &str = "FUMEHOOD_SECCOMP_CASE";

/// The other end of [`ask`]: runs the case named in the environment, with or without the filter on.
#[test]
#[ignore = "the process that the other tests start"]
fn inside() {
    let Ok(case) = std::env::var(CASE) else { return };
    for (label, answer) in refusals::run(&case) {
        println!("\nanswer {label}={}", answer.map_or_else(i64::from, |_| 0));
    }
    println!("\nanswer end=0");
}

/// The answers of a case: 0 or errno, by label. The process must come to its end.
fn ask(case: &str, under: Under) -> BTreeMap<String, i32> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "inside", "--ignored", "--nocapture", "--test-threads=1"]);
    command.env(CASE, case).stdin(Stdio::null());
    sys::put(under, &mut command);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "case {case}: {}\n{text}\n{output:?}", output.status);
    let answers: BTreeMap<String, i32> = text
        .lines()
        .filter_map(|line| line.strip_prefix("answer ")?.rsplit_once('='))
        .map(|(label, answer)| (label.to_owned(), answer.parse().unwrap()))
        .collect();
    assert!(answers.contains_key("end"), "case {case} did not come to its end:\n{text}");
    answers
}

/// A folder that goes with the value.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("fumehood-seccomp-{name}-{}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            eprintln!("{} stays: {error}", self.0.display());
        }
    }
}
