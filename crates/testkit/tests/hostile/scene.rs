//! The world of one run, with the words that cases use for its places.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use testkit::world::{Caller, Ran, World};

use crate::table::Case;

/// What a file holds that no cell may read.
pub(crate) const SECRET: &str = "canary-of-the-host";

/// How long a companion may take to end by itself.
const PATIENCE: Duration = Duration::from_secs(3);

/// A world, the flags its cell is started with, and the words of the cases.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) world: World,
    pub(crate) flags: Vec<String>,
    words: Vec<(&'static str, String)>,
    /// Programs of the host that live as long as the scene.
    companions: Vec<Child>,
    /// Things that go with the scene.
    kept: Vec<tempfile::TempDir>,
    wrap: Option<fn(&World, &Command) -> Command>,
}

impl Scene {
    pub(crate) fn new(caller: Caller) -> Self {
        let world = World::new(caller).expect("the world can be made");
        Self {
            world,
            flags: Vec::new(),
            words: Vec::new(),
            companions: Vec::new(),
            kept: Vec::new(),
            wrap: None,
        }
        .word("secret", SECRET.to_owned())
    }

    /// Gives a word its meaning.
    pub(crate) fn word(mut self, name: &'static str, meaning: impl Into<String>) -> Self {
        self.words.push((name, meaning.into()));
        self
    }

    /// A word for a path below the world's folder.
    pub(crate) fn place(self, name: &'static str, below: &str) -> Self {
        let path = self.world.path(below);
        self.word(name, text(&path))
    }

    /// A secret file of the caller's, below the world's folder.
    pub(crate) fn secret(self, name: &'static str, below: &str, mode: u32) -> Self {
        self.world.make_file(below, SECRET, mode).unwrap();
        self.place(name, below)
    }

    /// Adds flags of `fumehood exec`.
    pub(crate) fn flags<const N: usize>(mut self, flags: [&str; N]) -> Self {
        self.flags.extend(flags.map(|flag| self.filled(flag)));
        self
    }

    /// Has the product started another way.
    pub(crate) fn wrapped(mut self, wrap: fn(&World, &Command) -> Command) -> Self {
        self.wrap = Some(wrap);
        self
    }

    /// A folder elsewhere that goes with the scene.
    pub(crate) fn keep(&mut self, folder: tempfile::TempDir) {
        self.kept.push(folder);
    }

    /// Starts a program of the host that lives as long as the scene, and waits until it says something.
    pub(crate) fn accompany(&mut self, command: &mut Command) {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a companion can be started");
        let mut heard = [0_u8; 1];
        let stdout = child.stdout.as_mut().unwrap();
        std::io::Read::read_exact(stdout, &mut heard).expect("the companion says that it is ready");
        self.companions.push(child);
    }

    /// Whether all of them still run.
    pub(crate) fn companions_live(&mut self) -> bool {
        self.companions.iter_mut().all(|companion| companion.try_wait().is_ok_and(|ended| ended.is_none()))
    }

    /// A text with the words in braces replaced.
    pub(crate) fn filled(&self, text: &str) -> String {
        self.words
            .iter()
            .fold(text.to_owned(), |text, (name, meaning)| text.replace(&format!("{{{name}}}"), meaning))
    }

    /// The attempts as arguments of the attack program.
    pub(crate) fn attempts<'a>(&self, family: &str, cases: impl Iterator<Item = &'a Case>) -> Vec<String> {
        let attempts = cases.map(|case| format!("{}={}", case.label, self.filled(case.attack)));
        std::iter::once(family.to_owned()).chain(attempts).collect()
    }

    /// Makes the attempts in a cell, with the guards left out.
    pub(crate) fn run<'a>(
        &self,
        off: Option<&str>,
        family: &str,
        cases: impl Iterator<Item = &'a Case>,
    ) -> Ran {
        self.try_words(off, &self.attempts(family, cases))
    }

    /// Starts the attack program in a cell.
    pub(crate) fn try_words(&self, off: Option<&str>, words: &[String]) -> Ran {
        let command = self.world.attack(off, &self.flags, words);
        self.go(command)
    }

    /// Runs any command of this world.
    pub(crate) fn go(&self, command: Command) -> Ran {
        let mut command = match self.wrap {
            Some(wrap) => wrap(&self.world, &command),
            None => command,
        };
        self.world.run(&mut command, "").expect("the product can be started")
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        for companion in &mut self.companions {
            // The end of its stdin is what a companion waits for.
            drop(companion.stdin.take());
            let deadline = Instant::now() + PATIENCE;
            while companion.try_wait().is_ok_and(|ended| ended.is_none()) {
                if Instant::now() > deadline {
                    companion.kill().ok();
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
}

/// A command as the last words of another, with its own environment and folder.
pub(crate) fn behind(first: &Command, command: &Command) -> Command {
    let mut whole = Command::new(first.get_program());
    whole.args(first.get_args()).arg(command.get_program()).args(command.get_args()).env_clear();
    whole.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(folder) = command.get_current_dir() {
        whole.current_dir(folder);
    }
    whole
}

/// A path as text.
pub(crate) fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}
