//! How far an installation is, for a person at a terminal; a few lines where there is none.

use std::{
    io::{self, IsTerminal},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};
use packages::Progress;

use super::preparing::Step;
use crate::terminal;

/// Shows steps of one server.
#[derive(Debug)]
pub(crate) struct Shown {
    name: String,
    bar: Option<ProgressBar>,
    last: String,
}

impl Shown {
    /// Nothing is shown yet.
    pub(crate) fn new(name: &str) -> Self {
        let bar = io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("fumehood: {spinner} {msg} ({elapsed})") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        Self { name: name.to_owned(), bar, last: String::new() }
    }

    /// A step begins, or goes on.
    pub(crate) fn step(&mut self, step: &Step) {
        let text = match step {
            Step::Package(Progress::Waiting) => "another installation of it is under way".to_owned(),
            Step::Package(Progress::Asking) => "asking where its packages come from".to_owned(),
            Step::Package(Progress::Resolving) => "choosing versions".to_owned(),
            Step::Package(Progress::Fetching { done, all: Some(all) }) => {
                format!("fetching {done} of {all} packages")
            }
            Step::Package(Progress::Fetching { done: 0, all: None }) => "fetching packages".to_owned(),
            Step::Package(Progress::Fetching { done, all: None }) => {
                format!("fetching packages, {done} so far")
            }
            Step::Package(Progress::Script { package }) => format!("running the install script of {package}"),
            Step::Package(Progress::Compiling) => "compiling".to_owned(),
            Step::Package(Progress::Digesting { .. }) => "storing".to_owned(),
            Step::Package(_) => "installed".to_owned(),
            Step::Reading { with_keys: true } => {
                "starting it with its hosts and keys, to read what it offers".to_owned()
            }
            Step::Reading { with_keys: false } => {
                "starting it without network and keys, to read what it offers".to_owned()
            }
        };
        // A count is no news to a file.
        let is_count =
            matches!(step, Step::Package(Progress::Fetching { done: 1.., .. } | Progress::Digesting { .. }));
        if let Some(bar) = &self.bar {
            bar.set_message(format!("{}: {text}", terminal::harmless(&self.name)));
        } else if !is_count && self.last != text {
            terminal::say(&format!("{}: {text}", self.name));
        }
        self.last = text;
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
