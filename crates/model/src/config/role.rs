//! Roles, and what each of them may use.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::complaint::{Complaint, nearest, quoted};
use super::limits::kept;
use super::pattern::Pattern;
use super::problem::Source;
use super::written::{self, At};

/// The name of a role: 1 to 128 bytes, no control characters, no blank at either end. A role of an identity provider is
/// one as it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoleName(String);

/// A text that cannot be a role's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a role's name")]
pub struct RoleNameError(String);

/// What a role may use. What it does not name it does not see.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Role {
    tools: Vec<Pattern>,
    prompts: Vec<Pattern>,
    resources: Vec<Pattern>,
}

impl RoleName {
    /// Longest accepted name, in bytes.
    pub const MAX_LEN: usize = 128;

    /// Checks and keeps a name.
    ///
    /// # Errors
    ///
    /// [`RoleNameError`] where it is empty, too long, or holds a control character or a blank at an end.
    pub fn new(text: impl Into<String>) -> Result<Self, RoleNameError> {
        let text = text.into();
        let is_sound = (1..=Self::MAX_LEN).contains(&text.len())
            && text.trim().len() == text.len()
            && !text.chars().any(char::is_control);
        if is_sound { Ok(Self(text)) } else { Err(RoleNameError(text)) }
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RoleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Borrow<str> for RoleName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl Role {
    /// The tools it may call.
    pub fn tools(&self) -> &[Pattern] {
        &self.tools
    }

    /// The prompts it may get.
    pub fn prompts(&self) -> &[Pattern] {
        &self.prompts
    }

    /// The resources it may read, by the beginnings of their URIs.
    pub fn resources(&self) -> &[Pattern] {
        &self.resources
    }
}

/// The most patterns of one list.
const MOST_PATTERNS: usize = 1024;

/// `[roles]`.
pub(super) fn roles(
    written: &BTreeMap<At<String>, written::Role>,
    source: &mut Source<'_>,
) -> BTreeMap<RoleName, Role> {
    let mut roles = BTreeMap::new();
    for (at, role) in written {
        let name = kept(source, at, |text| role_name(text));
        let resolved = Role {
            tools: patterns(&role.tools, source, Pattern::parse),
            prompts: patterns(&role.prompts, source, Pattern::parse),
            resources: patterns(&role.resources, source, Pattern::parse_resource),
        };
        if let Some(name) = name {
            roles.insert(name, resolved);
        }
    }
    roles
}

fn patterns(
    written: &[At<String>],
    source: &mut Source<'_>,
    parse: impl Fn(&str) -> Result<Pattern, Complaint>,
) -> Vec<Pattern> {
    if let Some(one_too_many) = written.get(MOST_PATTERNS) {
        source.add(one_too_many.span(), &Complaint::new(format!("more than {MOST_PATTERNS} patterns")));
        return Vec::new();
    }
    written.iter().filter_map(|at| kept(source, at, |text| parse(text))).collect()
}

/// Roles that somebody has: each is one of `[roles]`.
pub(super) fn held(
    written: &[At<String>],
    known: &BTreeMap<At<String>, written::Role>,
    source: &mut Source<'_>,
) -> BTreeSet<RoleName> {
    written.iter().filter_map(|at| kept(source, at, |text| known_role(text, known))).collect()
}

fn known_role(text: &str, known: &BTreeMap<At<String>, written::Role>) -> Result<RoleName, Complaint> {
    let name = role_name(text)?;
    if known.keys().any(|at| at.get() == text) {
        return Ok(name);
    }
    let names = || known.keys().map(|at| at.get().as_str());
    let complaint = Complaint::new(format!("no role is called `{text}`"));
    Err(match nearest(text, names()) {
        Some(meant) => complaint.help(format!("did you mean `{meant}`?")),
        None if known.is_empty() => {
            complaint.help(format!("declare it: `[roles.{text}]` with the `tools` it may call"))
        }
        None => complaint.help(format!("declared are {}", quoted(names()))),
    })
}

fn role_name(text: &str) -> Result<RoleName, Complaint> {
    RoleName::new(text).map_err(|error| {
        Complaint::new(error.to_string())
            .help("use 1 to 128 bytes without control characters, and no blank at either end")
    })
}
