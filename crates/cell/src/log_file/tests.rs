use std::os::unix::fs::MetadataExt;

use super::*;

#[test]
fn the_newest_bytes_are_kept_and_the_rest_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = LogFile::with_cap(folder.path(), "s", "id", 100).unwrap();
    for n in 0..100u32 {
        log.raw(format!("line {n:04}\n").as_bytes());
    }
    let current = fs::read_to_string(log.path()).unwrap();
    let aside = fs::read_to_string(folder.path().join("s-id.log.1")).unwrap();
    assert!(current.ends_with("line 0099\n"), "{current}");
    assert!(current.len() <= 100 && aside.len() <= 100);
    let said = format!("{aside}{current}");
    let kept: usize =
        said.lines().filter(|line| !line.starts_with("fumehood|")).map(|line| line.len() + 1).sum();
    let marks: usize =
        said.lines().filter(|line| line.starts_with("fumehood|")).map(|line| line.len() + 1).sum();
    assert!(marks > 0);
    // Marks in files that were dropped count as dropped too, hence the inequality.
    assert!(kept as u64 + log.dropped() >= 1_000, "{kept} kept, {} dropped", log.dropped());
}

#[test]
fn a_marked_line_never_continues_another() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = LogFile::begin(folder.path(), "s", "id").unwrap();
    log.raw(b"no line end");
    log.line("stdout", "two\nlines");
    log.line("stdout", "more");
    assert_eq!(fs::read_to_string(log.path()).unwrap(), "no line end\nstdout| two lines\nstdout| more\n");
    assert_eq!(fs::metadata(log.path()).unwrap().mode() & 0o777, 0o600);
}

#[test]
fn only_the_newest_logs_of_a_name_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    for n in 0..KEPT + 5 {
        fs::write(folder.path().join(format!("{n:03}-x.log")), b"").unwrap();
        fs::write(folder.path().join(format!("{n:03}-x.log.1")), b"").unwrap();
    }
    LogFile::begin(folder.path(), "999", "x").unwrap();
    let logs = logs_in(folder.path()).unwrap();
    assert_eq!(logs.len(), KEPT);
    assert!(logs.first().unwrap().ends_with("006-x.log"));
    assert!(!folder.path().join("005-x.log.1").exists());
}

#[test]
fn cells_that_began_within_one_second_are_in_the_order_of_their_beginning() {
    let folder = tempfile::tempdir().unwrap();
    for id in ["f", "a", "c"] {
        LogFile::begin(folder.path(), "20261130T105826Z", id).unwrap();
        // Times of files are as fine as the kernel's tick.
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    LogFile::begin(folder.path(), "20261130T105825Z", "z").unwrap();
    let names: Vec<String> = logs_in(folder.path())
        .unwrap()
        .iter()
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    let expected = ["5Z-z", "6Z-f", "6Z-a", "6Z-c"].map(|end| format!("20261130T10582{end}.log"));
    assert_eq!(names, expected);
}

#[test]
fn a_disk_that_refuses_is_counted_and_nobody_waits() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = LogFile::begin(folder.path(), "s", "id").unwrap();
    log.file = Some(OpenOptions::new().write(true).open("/dev/full").unwrap());
    log.raw(b"lost");
    assert_eq!(log.dropped(), 4);
}
