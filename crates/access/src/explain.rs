//! What would happen to a call, stage by stage, and which rule decides. The stages are the ones that a real call passes;
//! nothing is counted, recorded or done.

use std::collections::BTreeSet;

use model::digest::Digest;
use model::tier::Tier;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::gate::{Bound, ToolGate};
use crate::judge::{Authorizer, Facts, Question, judge};
use crate::limits::Allowance;
use crate::principal::Principal;
use crate::refusal::{Code, Refusal};
use crate::rules::Rules;
use crate::screen::Screen;
use crate::token::{TokenError, Verifier};

/// As whom a call is supposed to be made.
#[derive(Debug)]
pub enum Caller<'a> {
    /// Whoever has a token with these claims, if its signature, times and audience were right.
    Claims(&'a Verifier, Value),
    /// Somebody whom the operator's file names.
    Known(Box<Principal>),
}

/// A call that is supposed.
#[derive(Debug)]
pub struct Supposed<'a> {
    /// Who may use what.
    pub rules: &'a Rules,
    /// The tool.
    pub gate: &'a ToolGate,
    /// What the caller gives, read by [`model::json::parse`].
    pub arguments: Value,
    /// What must not be in it.
    pub screen: &'a Screen,
}

/// What would happen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// Whether it would be done.
    pub permitted: bool,
    /// The code of the refusal, where it would not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<Code>,
    /// The rule that decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The server.
    pub server: String,
    /// The server's own name of the tool.
    pub tool: String,
    /// How much it can do.
    pub tier: Tier,
    /// The digest of all rules.
    pub policy: Digest,
    /// Every stage of the road, also those that would not be reached.
    pub stages: Vec<Stage>,
    /// What the tool would be given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Map<String, Value>>,
    /// The digest of that, as records have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
}

/// One stage of the road.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stage {
    /// Its name: `identity`, `visible`, `size`, `secrets`, `binding`, `schema`, `roles`, `approval`, `limits`, `record`.
    pub name: &'static str,
    /// How it ends.
    pub outcome: Outcome,
    /// Why, or what it does.
    pub detail: String,
    /// The rule that decides it, where one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

/// How a stage ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The call goes on.
    Passed,
    /// The call ends here.
    Refused,
    /// An earlier stage has ended it.
    NotReached,
}

/// Says what would happen.
///
/// # Errors
///
/// [`TokenError`] where nobody could have a token with these claims from this issuer.
pub fn explain(caller: Caller<'_>, supposed: Supposed<'_>) -> Result<Explanation, TokenError> {
    let who = match caller {
        Caller::Claims(verifier, claims) => verifier.suppose(claims)?,
        Caller::Known(principal) => *principal,
    };
    let Supposed { rules, gate, arguments, screen } = supposed;
    let mut stages = vec![passed("identity", about(&who), None)];
    let end = go(&who, rules, gate, arguments, screen, &mut stages);
    let object = gate.object();
    let (arguments, digest) = match &end {
        Ok(bound) => (Some(bound.arguments().clone()), Some(*bound.digest())),
        Err(_) => (None, None),
    };
    let refusal = end.err();
    if let Some(refusal) = &refusal {
        let remedy = refusal.remedy.as_ref().map(|remedy| format!(" ({remedy})")).unwrap_or_default();
        let at = AFTER_IDENTITY.get(stages.len() - 1).copied().unwrap_or("end");
        stages.push(Stage {
            name: at,
            outcome: Outcome::Refused,
            detail: format!("{}{remedy}", refusal.reason),
            rule: refusal.rule.clone(),
        });
    }
    let rule = match &refusal {
        Some(refusal) => refusal.rule.clone(),
        None => stages.iter().find(|stage| stage.name == "roles").and_then(|stage| stage.rule.clone()),
    };
    for name in AFTER_IDENTITY.iter().skip(stages.len() - 1) {
        let detail = String::new();
        stages.push(Stage { name, outcome: Outcome::NotReached, detail, rule: None });
    }
    Ok(Explanation {
        permitted: refusal.is_none(),
        code: refusal.map(|refusal| refusal.code),
        rule,
        server: object.server.to_string(),
        tool: object.name.clone(),
        tier: gate.tier(),
        policy: rules.version(),
        stages,
        arguments,
        digest,
    })
}

/// The stages that can end a call, and those that are only told of.
const AFTER_IDENTITY: [&str; 9] =
    ["visible", "size", "secrets", "binding", "schema", "roles", "approval", "limits", "record"];

/// Walks; each stage that is passed is told of, the one that refuses is the next.
fn go(
    who: &Principal,
    rules: &Rules,
    gate: &ToolGate,
    arguments: Value,
    screen: &Screen,
    stages: &mut Vec<Stage>,
) -> Result<Bound, Refusal> {
    let object = gate.object();
    if !rules.sees(who, object) {
        let reason = "no role of the caller has it, so that it is answered as if it did not exist";
        return Err(Refusal {
            reason: reason.to_owned(),
            rule: Some("roles".to_owned()),
            ..Refusal::unknown(object.verb)
        });
    }
    stages.push(passed("visible", "the caller finds it in its list".to_owned(), None));

    let bound = gate.bind(arguments, who, screen);
    let failed = bound.as_ref().err().map(stage_of);
    let details = [
        ("size", "within the bounds of size and depth".to_owned()),
        ("secrets", "no secret and no private key in it".to_owned()),
        ("binding", bound_parameters(gate)),
        ("schema", "the arguments fit the tool's schema".to_owned()),
    ];
    for (name, detail) in details {
        if failed == Some(name) {
            break;
        }
        stages.push(passed(name, detail, None));
    }
    let bound = bound?;

    let facts = Facts::default();
    let question = Question { who, object, bound: &bound, tier: gate.tier(), facts: &facts };
    let verdict = rules.judge(&question);
    if !verdict.permitted {
        return Err(Refusal {
            reason: verdict.reason,
            rule: Some(verdict.rule),
            ..Refusal::unknown(object.verb)
        });
    }
    stages.push(passed("roles", verdict.reason, Some(verdict.rule)));
    let permit = judge(rules, who, object.clone(), bound, gate.tier(), &facts)?;
    let detail = format!("tier {} needs nobody's approval", gate.tier());
    stages.push(passed("approval", detail, Some("tier".to_owned())));
    stages.push(passed("limits", limits(gate), None));
    let detail = match gate.tier() {
        Tier::One => "recorded when it has ended",
        Tier::Two | Tier::Three => "recorded before it begins, and when it has ended",
    };
    stages.push(passed("record", detail.to_owned(), Some("tier".to_owned())));
    Ok(permit.into_bound())
}

/// The stage that refuses with this code. What the schema says of sizes is the schema's.
fn stage_of(refusal: &Refusal) -> &'static str {
    match refusal.code {
        Code::SECRET_ARGUMENT => "secrets",
        Code::BINDING_CONFLICT | Code::BINDING_MISSING => "binding",
        Code::ARGUMENTS_SCHEMA => "schema",
        _ if refusal.rule.as_deref() == Some("inputSchema") => "schema",
        _ => "size",
    }
}

fn passed(name: &'static str, detail: String, rule: Option<String>) -> Stage {
    Stage { name, outcome: Outcome::Passed, detail, rule }
}

fn about(who: &Principal) -> String {
    let tenant = who.tenant().map(|tenant| format!(", of {tenant}")).unwrap_or_default();
    let roles: BTreeSet<_> = who.roles().iter().map(String::as_str).collect();
    let roles =
        if roles.is_empty() { "none".to_owned() } else { roles.into_iter().collect::<Vec<_>>().join(", ") };
    let actors: Vec<_> = who.actors().iter().map(|actor| actor.subject.as_str()).collect();
    let actors =
        if actors.is_empty() { String::new() } else { format!("; acted for by {}", actors.join(", ")) };
    format!("{} of {}{tenant}; roles: {roles}{actors}", who.subject(), who.issuer())
}

fn bound_parameters(gate: &ToolGate) -> String {
    let bound: Vec<_> =
        gate.rule().bind().iter().map(|(name, source)| format!("{name} = {source}")).collect();
    if bound.is_empty() { "nothing is bound".to_owned() } else { format!("bound: {}", bound.join(", ")) }
}

fn limits(gate: &ToolGate) -> String {
    let Allowance { rate, concurrency } = Allowance::of(gate.rule());
    let rate = rate.map(|rate| format!("{rate} for each caller"));
    let at_once = concurrency.map(|count| format!("{count} at once for each caller"));
    let time = gate.rule().time().map(|time| format!("{} ms for each call", time.as_millis()));
    let all: Vec<_> = [rate, at_once, time].into_iter().flatten().collect();
    if all.is_empty() { "none of its own".to_owned() } else { all.join(", ") }
}

#[cfg(test)]
mod tests;
