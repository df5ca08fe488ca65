//! What goes wrong around a service in use: servers die, rules change, disks are full.

use std::{
    fs::{self, File},
    io::Write as _,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use rustix::process::Signal;
use testkit::leftovers::Traces;

use super::{
    client::{Client, Random},
    history::Answer,
    service::{Service, signal_to},
};

/// As long it may take until a full disk is noticed, or one with room again.
const PATIENCE: Duration = Duration::from_secs(40);

/// What has been done so far.
#[derive(Debug, Default)]
pub(crate) struct Done {
    pub(crate) kills: u32,
    pub(crate) reloads: u32,
    pub(crate) full: u32,
}

/// Whoever makes trouble.
pub(crate) struct Troubles<'a> {
    service: &'a Service,
    random: Random,
    /// Alice, who may do everything.
    pub(crate) witness: Client,
    step: u32,
    pub(crate) done: Done,
}

impl<'a> Troubles<'a> {
    pub(crate) fn new(service: &'a Service) -> Self {
        // Another number than all clients have, and Alice's.
        let witness = Client::new(service.address, 3_000);
        assert_eq!(witness.who.name, "alice");
        let random = witness.random();
        Self { service, random, witness, step: 0, done: Done::default() }
    }

    /// One after the other, until that time.
    pub(crate) fn until(&mut self, end: Instant, pause: Duration) {
        while Instant::now() + pause < end {
            thread::sleep(pause);
            match self.step % 6 {
                0 | 3 => self.reload(),
                1 | 2 | 4 => self.kill(),
                _ => self.fill(),
            }
            self.step += 1;
        }
        thread::sleep(end.saturating_duration_since(Instant::now()));
    }

    fn reload(&mut self) {
        self.done.reloads += 1;
        self.service.write(self.done.reloads);
        self.service.signal(Signal::HUP);
    }

    /// Kills the main process of a server, now and then what holds it in its cell.
    fn kill(&mut self) {
        let jails = self.service.jails();
        if jails.is_empty() {
            return;
        }
        let count = u64::try_from(jails.len()).unwrap();
        let (_, jail) = &jails[usize::try_from(self.random.below(count)).unwrap()];
        let tools = Traces::children_of(*jail);
        let pid = match tools.first() {
            Some(tool) if self.random.below(4) > 0 => tool.pid,
            _ => *jail,
        };
        // It may have ended by itself meanwhile.
        if signal_to(pid, Signal::KILL).is_ok() {
            self.done.kills += 1;
        }
    }

    /// Leaves no byte free below the record, until nothing is done that has to be recorded before; then makes room.
    fn fill(&mut self) {
        let Some(folder) = self.service.record() else { return };
        self.witness.hang_up();
        let filler = Filler::begin(folder.join("filler"));
        self.append_until("nothing more is done", is_refused);
        // What changes nothing goes on.
        self.witness.call("counter", "next", 0);
        thread::sleep(Duration::from_millis(500));
        filler.end();
        self.append_until("it goes on", |answer| matches!(answer, Answer::Done { .. }));
        self.done.full += 1;
    }

    fn append_until(&mut self, what: &str, is_it: impl Fn(&Answer) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let goes_on = self.witness.call("ledger", "append", 0);
            let answer = self.witness.calls.last().map(|call| call.answer.clone()).unwrap();
            if is_it(&answer) {
                return;
            }
            assert!(goes_on && Instant::now() < deadline, "{what}? {answer:?}; {:#?}", self.service.lines());
            thread::sleep(Duration::from_millis(5));
        }
    }
}

fn is_refused(answer: &Answer) -> bool {
    *answer == Answer::Refused("FH-AUDIT-UNAVAILABLE".to_owned())
}

/// A file that takes all room there is, and what becomes free.
struct Filler {
    path: PathBuf,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Filler {
    fn begin(path: PathBuf) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let (mut file, is_over) = (File::create(&path).unwrap(), Arc::clone(&over));
        let thread = thread::spawn(move || {
            let block = vec![0; 64 << 10];
            while !is_over.load(Ordering::SeqCst) {
                let mut size = block.len();
                while size >= 512 {
                    if file.write_all(&block[..size]).is_err() {
                        size /= 2;
                    }
                }
                thread::sleep(Duration::from_millis(10));
            }
        });
        Self { path, over, thread: Some(thread) }
    }

    fn end(mut self) {
        self.over.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
        fs::remove_file(&self.path).unwrap();
    }
}
