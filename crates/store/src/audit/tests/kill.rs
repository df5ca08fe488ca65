//! Processes that are killed at every write. What they performed they had recorded before.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File, OpenOptions},
    io::Write,
    os::unix::process::ExitStatusExt,
    process::{Child, Command, Stdio},
    sync::{
        LazyLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use super::*;
use crate::audit::{sqlite, step::Step};

/// `STEP:N`: the process ends itself when it is there for the Nth time.
const AT: &str = "FUMEHOOD_TEST_KILL_AT";
/// The folder of the world.
const WORLD: &str = "FUMEHOOD_TEST_WORLD";
/// What a child does that is not as it should be.
const WRONG: &str = "FUMEHOOD_TEST_WRONG";

/// Ends this process where it was told to.
pub(in crate::audit) fn reached(step: Step) {
    static AT_STEP: LazyLock<Option<(String, u64)>> = LazyLock::new(|| {
        let text = std::env::var(AT).ok()?;
        let (step, times) = text.split_once(':')?;
        Some((step.to_owned(), times.parse().ok()?))
    });
    static TIMES: AtomicU64 = AtomicU64::new(0);
    if let Some((name, times)) = &*AT_STEP
        && *name == format!("{step:?}")
        && TIMES.fetch_add(1, Ordering::SeqCst) + 1 == *times
    {
        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL).unwrap();
        loop {
            std::thread::park();
        }
    }
}

/// This very test program, as another process that runs one ignored test.
pub(super) fn child_of(test: &str, world: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--ignored", "--nocapture"]).env(WORLD, world).env_remove("NEXTEST");
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

pub(super) fn world_of_child() -> PathBuf {
    PathBuf::from(std::env::var_os(WORLD).expect("only other tests run this"))
}

fn start(world: &World, at: Option<(Step, u64)>, wrong: &str) -> Child {
    let mut command = child_of("audit::tests::kill::child_performs_calls", world.folder.path());
    if let Some((step, times)) = at {
        command.env(AT, format!("{step:?}:{times}"));
    }
    command.env(WRONG, wrong).spawn().unwrap()
}

/// Performs calls, each once its intent is recorded, and has a database that fails now and then.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "is run by the other tests, to be killed"]
async fn child_performs_calls() {
    let world = world_of_child();
    let settings =
        Settings { checkpoints: Some(world.join("elsewhere")), ..Settings::new(world.join("audit")) };
    let is_wrong = std::env::var(WRONG).unwrap() == "perform-first";
    for _round in 0..3 {
        let audit = Audit::open(settings.clone()).await.unwrap();
        let mut tasks = Vec::new();
        for task in 0..4 {
            let (audit, world) = (audit.clone(), world.clone());
            tasks.push(tokio::spawn(async move {
                let mut performed =
                    OpenOptions::new().append(true).create(true).open(world.join("performed")).unwrap();
                for n in 0..5 {
                    let call = CallId::new();
                    let mut perform = || performed.write_all(format!("{call}\n").as_bytes()).unwrap();
                    if is_wrong {
                        perform();
                    }
                    audit.commit(intent(&call, task * 100 + n)).await.unwrap();
                    if !is_wrong {
                        perform();
                    }
                    audit.note(outcome(&call)).await;
                }
            }));
        }
        for task in tasks {
            task.await.unwrap();
        }
        let (here, away) = (world.join("audit").join(sqlite::FILE), world.join("away"));
        fs::rename(&here, &away).unwrap();
        for _ in 0..3 {
            audit.note(Event { call: Some(CallId::new()), ..Event::new(Kind::Egress) }).await;
        }
        while audit.health() == Health::Ok {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let refused = audit.commit(intent(&CallId::new(), 0)).await.is_err();
        assert!(refused || guard::off("audit-commit-first"));
        fs::rename(&away, &here).unwrap();
        while audit.health() != Health::Ok {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        audit.close().await;
    }
}

/// The database, if it was away when the process was killed.
fn bring_back(world: &World) {
    let away = world.folder.path().join("away");
    if away.exists() {
        fs::rename(&away, world.folder().join(sqlite::FILE)).unwrap();
    }
}

/// Calls that were performed and have no intent.
async fn unrecorded(world: &World) -> Vec<String> {
    bring_back(world);
    let performed = fs::read_to_string(world.folder.path().join("performed")).unwrap_or_default();
    let rows = world.rows().await;
    let intents: BTreeSet<String> = rows
        .iter()
        .filter(|row| row.event.kind == Kind::Intent)
        .filter_map(|row| row.event.call.as_ref().map(ToString::to_string))
        .collect();
    performed.lines().filter(|call| !intents.contains(*call)).map(ToOwned::to_owned).collect()
}

/// What was killed is opened again, and is whole; nothing was done twice or without its intent.
async fn survives(world: &World, what: &str) {
    bring_back(world);
    let audit = world.open().await;
    audit.close().await;
    let asked =
        Verification { checkpoints: vec![world.folder.path().join("elsewhere")], ..world.verification() };
    match verify(&asked).await {
        Ok(report) => assert!(report.is_whole() && report.waiting == 0, "{what}: {report:?}"),
        Err(error) => panic!("{what}: {error}"),
    }
    let mut times = BTreeMap::<_, u64>::new();
    for row in world.rows().await {
        if let Some(call) = row.event.call {
            *times.entry((call, row.event.kind)).or_default() += 1;
        }
    }
    assert!(times.values().all(|times| *times == 1), "{what}: something was recorded twice");
    assert_eq!(unrecorded(world).await, Vec::<String>::new(), "{what}");
}

#[tokio::test]
async fn nothing_is_performed_without_its_intent_wherever_it_is_killed() {
    let mut one = World::new();
    for step in Step::ALL {
        for times in [1, 2] {
            // A key and a file are made once.
            if matches!(step, Step::KeyWritten | Step::FileMade | Step::TablesMade) {
                one = World::new();
            }
            if step == Step::KeyWritten && times > 1 {
                continue;
            }
            let status = start(&one, Some((step, times)), "").wait().unwrap();
            assert_eq!(status.signal(), Some(9), "{step:?} was not reached {times} times: {status}");
            survives(&one, &format!("{step:?}:{times}")).await;
        }
    }
}

#[tokio::test]
async fn nothing_is_performed_without_its_intent_whenever_it_is_killed() {
    let world = World::new();
    world.open().await.close().await;
    for n in 0..12 {
        let mut child = start(&world, None, "");
        // Any moment will do; these differ from run to run by themselves.
        std::thread::sleep(Duration::from_millis(30 + n * 37));
        child.kill().unwrap();
        child.wait().unwrap();
        survives(&world, &format!("after {} ms", 30 + n * 37)).await;
    }
    let performed = File::open(world.folder.path().join("performed")).unwrap();
    assert!(performed.metadata().unwrap().len() > 0, "no child came to a call");
}

/// The control: whoever performs before it is recorded is noticed.
#[tokio::test]
async fn whoever_performs_first_is_noticed() {
    let world = World::new();
    let status = start(&world, Some((Step::Begun, 3)), "perform-first").wait().unwrap();
    assert_eq!(status.signal(), Some(9));
    assert!(!unrecorded(&world).await.is_empty());
}

/// The control: a writer that answers before it has written is noticed.
#[cfg(feature = "guard-off")]
#[tokio::test]
async fn control_a_writer_that_answers_first_is_noticed() {
    let mut found = false;
    for times in 2..8 {
        let world = World::new();
        let mut command = child_of("audit::tests::kill::child_performs_calls", world.folder.path());
        command.env(AT, format!("{:?}:{times}", Step::Begun)).env(WRONG, "");
        let status = command.env(guard::VARIABLE, "audit-commit-first").spawn().unwrap().wait().unwrap();
        assert_eq!(status.signal(), Some(9));
        found |= !unrecorded(&world).await.is_empty();
    }
    assert!(found);
}
