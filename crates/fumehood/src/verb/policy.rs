//! `fumehood policy explain`: what would happen to a call, and which rule decides.

use std::{collections::BTreeSet, fs, process::ExitCode, sync::Arc};

use access::{
    explain::{Caller, Explanation, Outcome, Supposed, explain},
    gate::ToolGate,
    principal::{Known, Principal},
    screen::Screen,
    token::Verifier,
};
use anyhow::Context;
use gateway::shelf::Offer;
use model::{config::Operator, json, visible::visible};
use serde_json::Value;
use tools::surface::Kind;

use crate::serve::load;
use crate::{
    cli::policy::{Policy, PolicyVerb},
    places,
    stop::{FAILURE, NOT_ACCEPTED, REFUSED, Stop, USAGE},
    terminal,
};

/// Says it.
pub(crate) fn perform(asked: &Policy) -> anyhow::Result<ExitCode> {
    let PolicyVerb::Explain(asked) = &asked.what;
    let folders = places::folders()?;
    let loaded = load::load(&folders, &load::folder(asked.project.as_deref())?)
        .map_err(|problems| Stop::new(USAGE, format!("{problems}\n"), ""))?;
    let gate = gate(&loaded.offers, &asked.tool)?;
    let text = given("--args", &asked.args)?;
    let arguments = json::parse(text.as_bytes())
        .map_err(|error| Stop::new(USAGE, format!("--args: {error}"), error.hint()))?;
    let operator = &loaded.operator;
    let verifiers: Vec<Verifier> = operator.identities().values().cloned().map(Verifier::new).collect();
    let caller = caller(&asked.who, operator, &verifiers)?;
    // The needles of the vault are with the service, which has a broker make them.
    let screen = Screen::none();
    let supposed = Supposed { rules: &loaded.rules, gate: &gate, arguments, screen: &screen };
    let explanation = explain(caller, supposed)
        .map_err(|error| Stop::new(USAGE, format!("--as: {error}"), error.hint()))?;
    if asked.json {
        terminal::print(&format!("{}\n", serde_json::to_string_pretty(&explanation)?))?;
    } else {
        terminal::print(&in_words(&explanation))?;
    }
    Ok(if explanation.permitted { ExitCode::SUCCESS } else { REFUSED.into() })
}

/// The gate of the tool that is meant.
fn gate(offers: &[Offer], word: &str) -> anyhow::Result<Arc<ToolGate>> {
    let plain = word.split_once('/');
    for offer in offers {
        let here = plain.filter(|(server, _)| *server == offer.name().as_str()).map(|(_, tool)| tool);
        for entry in offer.entries().iter().filter(|entry| entry.kind() == Kind::Tool) {
            let is_it = here == Some(entry.plain()) || entry.in_all().name == word;
            if let Some(gate) = entry.gate().filter(|_| is_it) {
                return Ok(Arc::clone(gate));
            }
        }
        let Some(tool) = here else { continue };
        if let Some(fault) = offer.faults().iter().find(|fault| fault.tool == tool) {
            let message = format!("`{word}` is offered to nobody: {}", visible(&fault.reason));
            return Err(Stop::new(FAILURE, message, "`fumehood serve --check` says it of all tools").into());
        }
        if let Some(notice) = offer.notice() {
            let message = format!("nothing of `{}` may be used: {}", offer.name(), notice.reason);
            return Err(Stop::new(NOT_ACCEPTED, message, notice.remedy.clone()).into());
        }
    }
    let names: Vec<String> = offers
        .iter()
        .flat_map(Offer::entries)
        .filter(|entry| entry.kind() == Kind::Tool)
        .take(20)
        .map(|entry| visible(&format!("{}/{}", entry.server(), entry.plain())))
        .collect();
    let hint = if names.is_empty() {
        "no server has a tool that may be used: `fumehood list` says why".to_owned()
    } else {
        format!("there are {}", names.join(", "))
    };
    Err(Stop::new(USAGE, format!("no tool is called `{}`", visible(word)), hint).into())
}

/// Who is meant: JSON, a file with JSON, a key, a peer, or roles.
fn caller<'a>(word: &str, operator: &Operator, verifiers: &'a [Verifier]) -> anyhow::Result<Caller<'a>> {
    let known = |what: &str, names: Vec<&String>| {
        let names: Vec<_> = names.into_iter().map(String::as_str).collect();
        let hint = if names.is_empty() {
            "none is declared".to_owned()
        } else {
            format!("there are {}", names.join(", "))
        };
        let name = word.split_once(':').map_or(word, |(_, name)| name);
        Stop::new(USAGE, format!("--as: no {what} is called `{}`", visible(name)), hint)
    };
    if let Some(name) = word.strip_prefix("key:") {
        let keys = operator.keys();
        let key = keys.get(name).ok_or_else(|| known("key", keys.keys().collect()))?;
        let server = key.server().cloned();
        return Ok(Caller::Known(Box::new(Principal::of_key(name, Known::from(key), server))));
    }
    if let Some(name) = word.strip_prefix("peer:") {
        let peers = operator.peers();
        let peer = peers.get(name).ok_or_else(|| known("peer", peers.keys().collect()))?;
        return Ok(Caller::Known(Box::new(Principal::peer(peer.uid(), Known::from(peer)))));
    }
    if word.starts_with('@') || word.trim_start().starts_with('{') {
        return claims(word, verifiers);
    }
    let roles: BTreeSet<String> = word.split(',').map(|role| role.trim().to_owned()).collect();
    let mut names: BTreeSet<&str> = operator.roles().keys().map(model::config::RoleName::as_str).collect();
    // Whoever runs the service has it without any file.
    names.insert(access::principal::OWNER);
    if let Some(role) = roles.iter().find(|role| !names.contains(role.as_str())) {
        let names: Vec<_> = names.into_iter().collect();
        let hint = format!("there are {}; claims begin with `{{`, a file of them with `@`", names.join(", "));
        return Err(Stop::new(USAGE, format!("--as: no role is called `{}`", visible(role)), hint).into());
    }
    let known = Known { subject: "somebody".to_owned(), tenant: None, roles };
    Ok(Caller::Known(Box::new(Principal::of_key("policy-explain", known, None))))
}

/// Claims of a token, and who judges tokens of their issuer.
fn claims<'a>(word: &str, verifiers: &'a [Verifier]) -> anyhow::Result<Caller<'a>> {
    let text = given("--as", word)?;
    let claims = json::parse(text.as_bytes())
        .map_err(|error| Stop::new(USAGE, format!("--as: {error}"), error.hint()))?;
    let Value::Object(mut claims) = claims else {
        return Err(Stop::new(USAGE, "--as: claims are a JSON object", "").into());
    };
    let issuers: Vec<_> = verifiers.iter().map(|verifier| verifier.provider().issuer()).collect();
    let issuer = match (claims.get("iss").and_then(Value::as_str), issuers.as_slice()) {
        (Some(issuer), _) => issuer.to_owned(),
        (None, [only]) => (*only).to_owned(),
        (None, _) => String::new(),
    };
    let Some(verifier) = verifiers.iter().find(|verifier| verifier.provider().issuer() == issuer) else {
        let hint = if issuers.is_empty() {
            "no `[identity]` is declared; `key:NAME`, `peer:NAME` and roles need none".to_owned()
        } else {
            format!("write `iss`; there are {}", issuers.join(", "))
        };
        return Err(Stop::new(USAGE, "--as: tokens of this issuer are not taken", hint).into());
    };
    claims.insert("iss".to_owned(), issuer.into());
    Ok(Caller::Claims(verifier, Value::Object(claims)))
}

/// A text, or that of the file named behind an `@`.
fn given(flag: &str, word: &str) -> anyhow::Result<String> {
    match word.strip_prefix('@') {
        None => Ok(word.to_owned()),
        Some(path) => fs::read_to_string(path).with_context(|| format!("{flag}: reading `{path}`")),
    }
}

fn in_words(explanation: &Explanation) -> String {
    let Explanation { server, tool, tier, permitted, code, stages, arguments, rule, .. } = explanation;
    let what = visible(&format!("{server}/{tool}"));
    let mut text = match (permitted, code) {
        (true, _) => format!("{what} would be called (tier {tier})\n"),
        (false, Some(code)) => format!("{what} would not be called (tier {tier}): {code}\n"),
        (false, None) => format!("{what} would not be called (tier {tier})\n"),
    };
    if let Some(rule) = rule {
        text.extend(["decided by ", &visible(rule), "\n"]);
    }
    text += "\n";
    for stage in stages {
        let outcome = match stage.outcome {
            Outcome::Passed => "passed",
            Outcome::Refused => "REFUSED",
            Outcome::NotReached => "-",
        };
        let rule = stage.rule.as_ref().map(|rule| format!(" [{rule}]")).unwrap_or_default();
        let line = format!("{:<9} {outcome:<8} {}{rule}", stage.name, stage.detail);
        text.extend([visible(line.trim_end()).as_str(), "\n"]);
    }
    if let Some(arguments) = arguments {
        let arguments = serde_json::to_string(arguments).unwrap_or_default();
        text.extend(["\nthe tool would be given ", &visible(&arguments), "\n"]);
    }
    text
}
