//! Callers without a token: those who have a key, and those who come over the Unix socket.

use std::collections::{BTreeMap, BTreeSet};

use super::complaint::Complaint;
use super::limits::kept;
use super::problem::Source;
use super::role::{self, RoleName};
use super::server;
use super::written::{self, At};
use crate::digest::Digest;
use crate::name::ServerName;

/// A key that a caller sends as a bearer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalKey {
    name: String,
    digest: Digest,
    subject: String,
    tenant: Option<String>,
    roles: BTreeSet<RoleName>,
    server: Option<ServerName>,
}

/// A user of this machine who comes over the Unix socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peer {
    name: String,
    uid: u32,
    subject: String,
    tenant: Option<String>,
    roles: BTreeSet<RoleName>,
}

impl LocalKey {
    /// Its name in the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// SHA-256 of the key.
    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    /// Who has it; its name where nothing is said.
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// To which tenant he belongs.
    pub fn tenant(&self) -> Option<&str> {
        self.tenant.as_deref()
    }

    /// His roles.
    pub fn roles(&self) -> &BTreeSet<RoleName> {
        &self.roles
    }

    /// The one server it is for, at `/servers/NAME/mcp`.
    pub fn server(&self) -> Option<&ServerName> {
        self.server.as_ref()
    }
}

impl Peer {
    /// Its name in the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The user's number.
    pub fn uid(&self) -> u32 {
        self.uid
    }

    /// Who it is; the name in the file where nothing is said.
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// To which tenant he belongs.
    pub fn tenant(&self) -> Option<&str> {
        self.tenant.as_deref()
    }

    /// His roles.
    pub fn roles(&self) -> &BTreeSet<RoleName> {
        &self.roles
    }
}

/// `[keys]`.
pub(super) fn keys(
    written: &BTreeMap<At<String>, written::Key>,
    known: &BTreeMap<At<String>, written::Role>,
    source: &mut Source<'_>,
) -> BTreeMap<String, LocalKey> {
    let mut keys: BTreeMap<String, LocalKey> = BTreeMap::new();
    for (name, key) in written {
        let sound = kept(source, name, |text| check_name("a key", text));
        let roles = role::held(&key.roles, known, source);
        let subject = caller(key.subject.as_ref(), name, source);
        let tenant = key.tenant.as_ref().and_then(|at| kept(source, at, |text| caller_text(text)));
        let server = key.server.as_ref().and_then(|at| kept(source, at, |_| server::name(at)));
        let Some(at) = &key.sha256 else {
            if !source.is_left_out(&["keys", name.get(), "sha256"]) {
                let complaint = Complaint::new(format!("the key `{}` has no `sha256`", name.get()));
                let help =
                    format!("make a key: `fumehood serve --new-key {}` prints what to write", name.get());
                source.add(name.span(), &complaint.help(help));
            }
            continue;
        };
        let digest = kept(source, at, |text| {
            let digest = Digest::from_hex(text).map_err(|_| {
                Complaint::new("this is not the SHA-256 of a key").help(
                    "write its 64 lower-case hexadecimal digits; the key itself does not belong into a file",
                )
            })?;
            match keys.values().find(|other| other.digest == digest) {
                Some(twin) => Err(Complaint::new(format!("this is the key `{}` as well", twin.name))
                    .help("make one for each caller: `fumehood serve --new-key NAME`")),
                None => Ok(digest),
            }
        });
        if let (Some(digest), Some(())) = (digest, sound) {
            let name = name.get().clone();
            keys.insert(name.clone(), LocalKey { name, digest, subject, tenant, roles, server });
        }
    }
    keys
}

/// `[peers]`.
pub(super) fn peers(
    written: &BTreeMap<At<String>, written::Peer>,
    known: &BTreeMap<At<String>, written::Role>,
    source: &mut Source<'_>,
) -> BTreeMap<String, Peer> {
    let mut peers: BTreeMap<String, Peer> = BTreeMap::new();
    for (name, peer) in written {
        let sound = kept(source, name, |text| check_name("a peer", text));
        let roles = role::held(&peer.roles, known, source);
        let subject = caller(peer.subject.as_ref(), name, source);
        let tenant = peer.tenant.as_ref().and_then(|at| kept(source, at, |text| caller_text(text)));
        let Some(at) = &peer.uid else {
            if !source.is_left_out(&["peers", name.get(), "uid"]) {
                let complaint = Complaint::new(format!("the peer `{}` has no `uid`", name.get()));
                source.add(name.span(), &complaint.help("write the user's number, as `id -u NAME` tells it"));
            }
            continue;
        };
        let uid = kept(source, at, |number| {
            // The highest number means *nobody at all* to the kernel (setuid(2)).
            let uid = u32::try_from(*number).ok().filter(|uid| *uid != u32::MAX);
            let uid = uid.ok_or_else(|| {
                Complaint::new(format!("`{number}` is no user's number"))
                    .help("write it as `id -u NAME` tells it")
            })?;
            match peers.values().find(|other| other.uid == uid) {
                Some(twin) => {
                    Err(Complaint::new(format!("the user {uid} is the peer `{}` as well", twin.name))
                        .help("keep one of the two, with the roles of both"))
                }
                None => Ok(uid),
            }
        });
        if let (Some(uid), Some(())) = (uid, sound) {
            let name = name.get().clone();
            peers.insert(name.clone(), Peer { name, uid, subject, tenant, roles });
        }
    }
    peers
}

/// A name that a table goes by.
pub(super) fn check_name(what: &str, text: &str) -> Result<(), Complaint> {
    match ServerName::new(text) {
        Ok(_) => Ok(()),
        Err(_) => Err(Complaint::new(format!("`{text}` is not a name of {what}"))
            .help("use 1 to 64 letters, digits, `.`, `_` or `-`, beginning with a letter or digit")),
    }
}

fn caller(written: Option<&At<String>>, name: &At<String>, source: &mut Source<'_>) -> String {
    let said = written.and_then(|at| kept(source, at, |text| caller_text(text)));
    said.unwrap_or_else(|| name.get().clone())
}

fn caller_text(text: &str) -> Result<String, Complaint> {
    if (1..=256).contains(&text.len())
        && text.trim().len() == text.len()
        && !text.chars().any(char::is_control)
    {
        return Ok(text.to_owned());
    }
    Err(Complaint::new("nobody is called that")
        .help("use 1 to 256 bytes without control characters, and no blank at either end"))
}
