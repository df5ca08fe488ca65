//! A machine of its own for a test: a real Linux in QEMU that boots in seconds, for hosts unlike this one — other
//! control-group layouts, a kernel without user namespaces or Landlock.
//!
//! The machine is emulated (no KVM needed, no root needed), has no disk and no network, and says what it found on
//! its serial port: each line `result: {…}` is one JSON value of [`Run::results`].

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::vm::image::Image;

mod image;
mod parts;

pub use image::ImageError;
pub use parts::Absent;

/// How control groups are mounted in the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Groups {
    /// Cgroup v2 alone, with all controllers, at `/sys/fs/cgroup`.
    Unified,
    /// Cgroup v1 alone: `cpu,cpuacct`, `memory`, `pids`.
    Legacy,
    /// Both: the controllers on v1, v2 at `/sys/fs/cgroup/unified`.
    Hybrid,
    /// Not at all.
    None,
}

/// A machine that can be started any number of times; each start is a fresh one.
#[derive(Debug, Clone)]
pub struct Machine {
    qemu: PathBuf,
    kernel: PathBuf,
    options: Vec<String>,
    groups: Groups,
    image: Image,
}

/// What a machine said.
#[derive(Debug)]
pub struct Run {
    /// The JSON values of its `result:` lines, in order.
    pub results: Vec<serde_json::Value>,
    /// Exit code of the script.
    pub status: i32,
    /// Everything that came over the serial port.
    pub console: String,
}

/// Why there is no [`Run`].
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// QEMU or its files could not be used.
    #[error("the machine could not be started")]
    Start(#[source] std::io::Error),
    /// The script had not ended in time.
    #[error("the machine was stopped after {} s; it said:\n{console}", limit.as_secs())]
    Late {
        /// The time it had.
        limit: Duration,
        /// What it said.
        console: String,
    },
    /// The machine ended before the script did.
    #[error("the machine ended early ({status}); it said:\n{console}")]
    Early {
        /// Of QEMU.
        status: ExitStatus,
        /// What it said.
        console: String,
    },
    /// A `result:` line that is no JSON.
    #[error("`{line}` is not a result")]
    Result {
        /// The line.
        line: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

impl Machine {
    /// A machine with busybox, an ordinary user `user` (uid 1000, in the groups `user` and `extra`), a `/tmp`, and
    /// cgroup v2. Fails where QEMU, a kernel or a static busybox is missing, so that the test can be skipped.
    pub fn find() -> Result<Self, Absent> {
        let (qemu, kernel, busybox) = (parts::qemu()?, parts::kernel()?, parts::busybox()?);
        let mut image = Image::with_busybox(&busybox)?;
        image.file("init", include_str!("../vm/init.sh"), 0o755);
        image.file("vm/system", include_str!("../vm/system.sh"), 0o644);
        image.file("etc/passwd", PASSWD, 0o644);
        image.file("etc/group", GROUP, 0o644);
        for folder in ["proc", "sys", "dev", "usr/bin"] {
            image.folder(folder);
        }
        Ok(Self { qemu, kernel, options: Vec::new(), groups: Groups::Unified, image })
    }

    /// How control groups are mounted.
    #[must_use]
    pub fn groups(self, groups: Groups) -> Self {
        Self { groups, ..self }
    }

    /// Adds to the kernel's command line.
    #[must_use]
    pub fn kernel_option(mut self, option: &str) -> Self {
        self.options.push(option.to_owned());
        self
    }

    /// Puts a program of this host, with the libraries it is linked against, to `guest` in the machine.
    pub fn program(mut self, host: &Path, guest: &str) -> Result<Self, ImageError> {
        self.image.program(host, guest)?;
        Ok(self)
    }

    /// Puts a file there; mode 0644.
    #[must_use]
    pub fn file(mut self, guest: &str, contents: impl Into<Vec<u8>>) -> Self {
        self.image.file(guest, contents, 0o644);
        self
    }

    /// Boots, runs `script` by `sh` as root, and ends. Waits for `limit` at the most.
    pub fn run(&self, script: &str, limit: Duration) -> Result<Run, RunError> {
        let mut image = self.image.clone();
        image.file("vm/script", script, 0o644);
        let groups = match self.groups {
            Groups::Unified => "unified",
            Groups::Legacy => "legacy",
            Groups::Hybrid => "hybrid",
            Groups::None => "none",
        };
        image.file("vm/groups", groups, 0o644);
        let folder = tempfile::tempdir().map_err(RunError::Start)?;
        let initramfs = folder.path().join("initramfs");
        std::fs::write(&initramfs, image.archive()).map_err(RunError::Start)?;
        let (status, console) = self.boot(&initramfs, limit).map_err(RunError::Start)?;
        match status {
            Some(status) => understand(console, status),
            None => Err(RunError::Late { limit, console }),
        }
    }

    /// Runs QEMU; no status where it had to be stopped.
    fn boot(&self, initramfs: &Path, limit: Duration) -> std::io::Result<(Option<ExitStatus>, String)> {
        let mut options = self.options.clone();
        if self.groups == Groups::Unified {
            options.push("cgroup_no_v1=all".to_owned());
        }
        // `panic=-1`: a kernel that panics reboots, which `-no-reboot` makes the end.
        let line = format!(
            "console=ttyS0 quiet loglevel=0 panic=-1 reboot=t random.trust_cpu=on {}",
            options.join(" ")
        );
        let mut machine = Command::new(&self.qemu)
            .args(["-machine", "microvm,acpi=off", "-accel", "tcg", "-cpu", "max", "-m", "1024"])
            .args(["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-serial", "stdio"])
            .arg("-kernel")
            .arg(&self.kernel)
            .arg("-initrd")
            .arg(initramfs)
            .args(["-append", &line])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let readers = [
            machine.stdout.take().map(|pipe| std::thread::spawn(move || read_all(pipe))),
            machine.stderr.take().map(|pipe| std::thread::spawn(move || read_all(pipe))),
        ];
        let deadline = Instant::now() + limit;
        let status = loop {
            if let Some(status) = machine.try_wait()? {
                break Some(status);
            }
            if Instant::now() >= deadline {
                machine.kill()?;
                machine.wait()?;
                break None;
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        let mut console = String::new();
        for reader in readers.into_iter().flatten() {
            console.push_str(&reader.join().unwrap_or_default());
        }
        Ok((status, console))
    }
}

fn read_all(mut pipe: impl Read) -> String {
    let mut bytes = Vec::new();
    if let Err(error) = pipe.read_to_end(&mut bytes) {
        bytes.extend_from_slice(format!("\n(cut short: {error})\n").as_bytes());
    }
    String::from_utf8_lossy(&bytes).replace("\r\n", "\n")
}

fn understand(console: String, status: ExitStatus) -> Result<Run, RunError> {
    let mut results = Vec::new();
    let mut end = None;
    for line in console.lines() {
        if let Some(json) = line.strip_prefix("result: ") {
            results.push(
                serde_json::from_str(json)
                    .map_err(|source| RunError::Result { line: line.to_owned(), source })?,
            );
        } else if let Some(code) = line.strip_prefix("ended: ") {
            end = code.trim().parse().ok();
        }
    }
    match end {
        Some(status) => Ok(Run { results, status, console }),
        None => Err(RunError::Early { status, console }),
    }
}

const PASSWD: &str = "\
root:x:0:0:root:/root:/bin/sh
user:x:1000:1000:user:/home/user:/bin/sh
nobody:x:65534:65534:nobody:/nonexistent:/bin/sh
";

const GROUP: &str = "root:x:0:\nuser:x:1000:\nextra:x:1001:user\nnogroup:x:65534:\n";

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    fn read(console: &str) -> Result<Run, RunError> {
        understand(console.to_owned(), ExitStatus::from_raw(0))
    }

    #[test]
    fn results_and_the_end_are_read_among_other_lines() {
        let run = read("[ 0.1] boot\nresult: {\"a\": 1}\nx\nresult: [2]\n\nended: 3\n").unwrap();
        assert_eq!(run.results, [serde_json::json!({"a": 1}), serde_json::json!([2])]);
        assert_eq!(run.status, 3);
    }

    #[test]
    fn a_machine_without_an_end_and_a_broken_result_are_failures() {
        assert!(matches!(read("result: {}\n"), Err(RunError::Early { .. })));
        assert!(matches!(read("result: {\nended: 0\n"), Err(RunError::Result { .. })));
    }
}
