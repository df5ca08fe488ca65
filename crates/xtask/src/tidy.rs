//! The rules the tree keeps, as functions from the tree to what breaks them.

pub mod crate_table;
pub mod cycles;
pub mod files;
pub mod guard_off;
pub mod links;
pub mod manifests;
pub mod places;
pub mod promises;
pub mod tokens;
pub mod unsafe_code;

use std::fmt;
use std::process::ExitCode;

use anyhow::Result;

use crate::tree::Tree;

/// One place where a rule is broken.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// File, relative to the top.
    pub path: String,
    /// Line, counted from 1; 0 for the file as a whole.
    pub line: usize,
    /// What is wrong and what would be right.
    pub text: String,
}

impl Fault {
    /// A fault of a file as a whole.
    pub fn of_file(path: &str, text: impl Into<String>) -> Self {
        Self::at(path, 0, text)
    }

    /// A fault on one line.
    pub fn at(path: &str, line: usize, text: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, text: text.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.text),
            line => write!(f, "{}:{line}: {}", self.path, self.text),
        }
    }
}

/// A rule: its name and what finds its faults.
pub type Rule = (&'static str, fn(&Tree) -> Vec<Fault>);

/// All rules.
pub const RULES: &[Rule] = &[
    ("the crate table is the manifests", crate_table::faults),
    ("modules do not import in a circle", cycles::faults),
    ("files are small", files::too_long),
    ("files are named after what is inside", files::names),
    ("nothing is left unfinished", files::unfinished),
    ("the test-only feature stays test-only", guard_off::faults),
    ("links lead somewhere", links::faults),
    ("no place is named", places::faults),
    ("every promise has its test", promises::faults),
    ("unsafe code is in sys.rs", unsafe_code::faults),
];

/// Everything that is wrong with a tree.
pub fn faults(tree: &Tree) -> Vec<Fault> {
    RULES.iter().flat_map(|(_, find)| find(tree)).collect()
}

/// Prints what is wrong, and fails when anything is.
pub fn print(tree: &Tree) -> Result<ExitCode> {
    let mut sound = true;
    for (name, find) in RULES {
        let found = find(tree);
        println!("{}: {name}", if found.is_empty() { "ok" } else { "BROKEN" });
        for fault in &found {
            println!("  {fault}");
        }
        sound &= found.is_empty();
    }
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
