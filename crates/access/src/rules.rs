//! What each role may use: the default [`Authorizer`].

use std::collections::BTreeMap;

use model::config::{Operator, Pattern, Role, RoleName, ToolRule};
use model::digest::Digest;
use model::name::ServerName;
use percent_encoding::percent_decode;
use serde_json::{Value, json};

use crate::guard;
use crate::judge::{Authorizer, Question, Verdict};
use crate::object::{Object, Part};
use crate::principal::{How, OWNER, Principal};

/// The roles of the operator's file, and the rules of the tools. What no role names nobody sees.
#[derive(Debug, Clone)]
pub struct Rules {
    roles: BTreeMap<RoleName, Role>,
    version: Digest,
}

impl Rules {
    /// Of the operator's roles, and of the rules of each server's tools, which belong to what is in force as well.
    pub fn new<'a>(
        operator: &Operator,
        servers: impl IntoIterator<Item = (&'a ServerName, &'a BTreeMap<String, ToolRule>)>,
    ) -> Self {
        let servers: BTreeMap<_, _> = servers.into_iter().collect();
        let roles = operator.roles().clone();
        Self { version: version(&roles, &servers, false), roles }
    }

    /// For `run`, where there are no roles but [`OWNER`].
    pub fn owner<'a>(
        servers: impl IntoIterator<Item = (&'a ServerName, &'a BTreeMap<String, ToolRule>)>,
    ) -> Self {
        let servers: BTreeMap<_, _> = servers.into_iter().collect();
        let roles = BTreeMap::new();
        Self { version: version(&roles, &servers, true), roles }
    }

    /// SHA-256 over the RFC 8785 text of all rules: it stands in every record.
    pub fn version(&self) -> Digest {
        self.version
    }

    /// The rule that lets this caller have the object, such as `roles.support.tools[1]`.
    fn permits(&self, who: &Principal, object: &Object) -> Option<String> {
        if who.server().is_some_and(|only| *only != object.server) {
            return None;
        }
        // No token can make its bearer one: whoever runs the service says so in a file, or by being the one who does.
        let may_be_owner = *who.how() != How::Token || guard::off("owner-by-token");
        if may_be_owner && who.roles().contains(OWNER) {
            return Some("owner".to_owned());
        }
        let (part, name) = object.part()?;
        // `file:///handbook/../payroll` begins with `file:///handbook/` and is somewhere else.
        let wanders = part == Part::Resources && wanders(name) && !guard::off("resource-steps");
        who.roles().iter().find_map(|role| {
            let patterns = patterns(self.roles.get(role.as_str())?, part);
            let index = patterns.iter().position(|pattern| {
                pattern.covers(&object.server, name) && (!wanders || pattern.name() == "*")
            })?;
            Some(format!("roles.{role}.{}[{index}]", part.as_str()))
        })
    }
}

impl Authorizer for Rules {
    fn sees(&self, who: &Principal, object: &Object) -> bool {
        self.permits(who, object).is_some()
    }

    fn judge(&self, question: &Question<'_>) -> Verdict {
        match self.permits(question.who, question.object) {
            Some(rule) => Verdict { permitted: true, rule, reason: "a role of the caller has it".to_owned() },
            None => Verdict {
                permitted: false,
                rule: "roles".to_owned(),
                reason: "no role of the caller has it".to_owned(),
            },
        }
    }
}

/// Whether an address has a step to itself or upwards, in any spelling that a server could take for one.
fn wanders(uri: &str) -> bool {
    let mut text = uri.as_bytes().to_vec();
    for _ in 0..3 {
        // Some servers end a step at `;`, and some a path at a zero byte.
        let mut steps = text.split(|byte| matches!(byte, b'/' | b'\\' | b';' | b'?' | b'#' | 0..=31));
        if steps.any(|step| matches!(step, b"." | b"..")) {
            return true;
        }
        let decoded: Vec<u8> = percent_decode(&text).collect();
        if decoded.len() == text.len() {
            return false;
        }
        text = decoded;
    }
    // Encoded more often than anybody has a reason to.
    true
}

fn patterns(role: &Role, part: Part) -> &[Pattern] {
    match part {
        Part::Tools => role.tools(),
        Part::Prompts => role.prompts(),
        Part::Resources => role.resources(),
    }
}

fn version(
    roles: &BTreeMap<RoleName, Role>,
    servers: &BTreeMap<&ServerName, &BTreeMap<String, ToolRule>>,
    owner: bool,
) -> Digest {
    let texts = |patterns: &[Pattern]| patterns.iter().map(ToString::to_string).collect::<Vec<_>>();
    let roles: BTreeMap<_, _> = roles
        .iter()
        .map(|(name, role)| {
            let parts = [Part::Tools, Part::Prompts, Part::Resources];
            (name.to_string(), parts.map(|part| texts(patterns(role, part))))
        })
        .collect();
    let servers: BTreeMap<_, _> = servers
        .iter()
        .map(|(name, tools)| {
            let tools: BTreeMap<_, _> = tools.iter().map(|(name, rule)| (name, written(rule))).collect();
            (name.as_str(), json!(tools))
        })
        .collect();
    let whole = json!({ "owner": owner, "roles": roles, "servers": servers });
    // Numbers of a resolved configuration are finite, which is all that could be wrong.
    Digest::of(&model::json::canonical(&whole).unwrap_or_default())
}

fn written(rule: &ToolRule) -> Value {
    let bind: BTreeMap<_, _> = rule.bind().iter().map(|(name, source)| (name, source.to_string())).collect();
    json!({
        "bind": bind,
        "concurrency": rule.concurrency(),
        "defaults": rule.defaults(),
        "max_bytes": rule.max_bytes(),
        "rate": rule.rate().map(|rate| rate.to_string()),
        "tier": rule.tier(),
        "time_ms": rule.time().map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
    })
}

#[cfg(test)]
mod tests;
