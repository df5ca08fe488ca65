//! The proof that a connection may be made.

use std::sync::Arc;

use model::name::ServerName;

use crate::name::HostName;
use crate::refusal::{Code, Refusal, Subject};
use crate::rule::{HostRule, Kind};

/// The proof that a rule lets a connection to this name and port through. Made by `Policy::judge` only.
#[derive(Debug)]
pub struct Permit {
    pub(crate) server: ServerName,
    pub(crate) name: HostName,
    pub(crate) port: u16,
    pub(crate) kind: Kind,
    pub(crate) inspect: bool,
    pub(crate) rule: Arc<HostRule>,
    pub(crate) generation: u64,
}

impl Permit {
    /// Whose cell it is.
    pub fn server(&self) -> &ServerName {
        &self.server
    }

    /// The host.
    pub fn name(&self) -> &HostName {
        &self.name
    }

    /// The TCP port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// What is spoken there.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Whether TLS there is taken off, and requests are looked at one by one: a rule of the port has terms, or a key is
    /// bound to it. Requests in the clear always are.
    pub fn inspect(&self) -> bool {
        self.inspect
    }

    /// The rule that let it through.
    pub fn rule(&self) -> &Arc<HostRule> {
        &self.rule
    }

    /// The generation of the rules it was judged by.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// For a refusal of what was permitted so far.
    pub fn subject(&self) -> Subject<'_> {
        Subject {
            server: &self.server,
            host: self.name.as_str(),
            port: Some(self.port),
            rule: Some(&self.rule),
        }
    }

    /// The refusal of something about the permitted host; `detail` says what was seen.
    pub(crate) fn refuse(&self, code: Code, detail: &str) -> Refusal {
        Refusal::new(code, self.subject(), detail)
    }
}
