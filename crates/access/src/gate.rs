//! The way into a tool: what a caller gives is bounded, looked through, bound to the caller, completed and held against the
//! tool's schema. What comes out is [`Bound`].

use std::collections::BTreeMap;

use model::config::{BindSource, ToolRule};
use model::digest::Digest;
use model::json;
use model::name::ServerName;
use model::tier::Tier;
use model::visible::excerpt;
use serde_json::{Map, Value};

use crate::arguments::{self, Bounded};
use crate::guard;
use crate::object::{Object, Verb};
use crate::principal::Principal;
use crate::refusal::{Code, Refusal};
use crate::screen::{Finding, Screen};

mod binding;
mod error;
mod schema;
mod shown;
mod wrong;

pub use error::GateError;

/// One tool, with what holds for its calls. Made once, used for every call.
#[derive(Debug)]
pub struct ToolGate {
    object: Object,
    rule: ToolRule,
    bound: Vec<BoundParameter>,
    schema: schema::Schema,
    shown: Value,
}

#[derive(Debug)]
struct BoundParameter {
    name: String,
    source: BindSource,
    wanted: std::collections::BTreeSet<String>,
}

/// Arguments that a tool may be given: within the bounds, without secrets, bound to the caller, complete, and fitting the
/// tool's schema. Only [`ToolGate::bind`] and [`screened`] make one. Each example that must not compile has a twin that does, and
/// differs from it in that step only.
///
/// They are made by binding, and by nothing else:
///
/// ```
/// use access::{Bound, Object, Refusal, Screen, screened};
/// fn earned(object: Object, arguments: serde_json::Map<String, serde_json::Value>) -> Result<Bound, Refusal> {
///     screened(object, arguments.into(), &Screen::none())
/// }
/// ```
///
/// ```compile_fail,E0451
/// use access::{Bound, Object, Refusal, Screen, screened};
/// fn earned(object: Object, arguments: serde_json::Map<String, serde_json::Value>) -> Result<Bound, Refusal> {
///     Ok(Bound { object, arguments, digest: model::digest::Digest::of(b""), names: Vec::new() })
/// }
/// ```
///
/// They are read and used, and not changed:
///
/// ```
/// fn read(bound: &mut access::Bound) -> usize {
///     bound.arguments().len()
/// }
/// ```
///
/// ```compile_fail,E0616
/// fn read(bound: &mut access::Bound) -> usize {
///     bound.arguments.clear();
///     bound.arguments().len()
/// }
/// ```
///
/// They are neither copied, nor written down, nor read from anywhere:
///
/// ```
/// fn can<T: std::fmt::Debug>() {}
/// can::<access::Bound>();
/// ```
///
/// ```compile_fail,E0277
/// fn can<T: Clone>() {}
/// can::<access::Bound>();
/// ```
///
/// ```compile_fail,E0277
/// fn can<T: serde::Serialize>() {}
/// can::<access::Bound>();
/// ```
///
/// ```compile_fail,E0277
/// fn can<T: serde::de::DeserializeOwned>() {}
/// can::<access::Bound>();
/// ```
#[must_use = "arguments are bound to be judged"]
pub struct Bound {
    object: Object,
    arguments: Map<String, Value>,
    digest: Digest,
    names: Vec<String>,
}

impl ToolGate {
    /// For this tool of this server (its entry of `tools/list`), under this rule.
    ///
    /// # Errors
    ///
    /// [`GateError`] where the schema cannot be judged within bounds, refers to something outside of it, or has not what the
    /// rule speaks of. Whoever gets one leaves this tool out, and no other.
    pub fn new(
        server: &ServerName,
        tool: &Value,
        rule: &ToolRule,
        pass_through: bool,
    ) -> Result<Self, GateError> {
        let name = tool.get("name").and_then(Value::as_str).ok_or(GateError::Nameless)?;
        let object = Object { verb: Verb::CallTool, server: server.clone(), name: name.to_owned() };
        let input = tool.get("inputSchema").filter(|schema| schema.is_object()).ok_or(GateError::NoSchema)?;
        let schema = schema::Schema::new(input)?;
        let names: Vec<&str> = rule.bind().keys().map(String::as_str).collect();
        let shown = shown::tool(tool, input, &names, rule.defaults(), pass_through)?;
        let bound = rule.bind().iter().map(|(name, source)| BoundParameter {
            name: name.clone(),
            source: source.clone(),
            wanted: binding::wanted(input, name),
        });
        Ok(Self { object, rule: rule.clone(), bound: bound.collect(), schema, shown })
    }

    /// The tool as callers see it: without the bound parameters, and without icons unless it passes through.
    pub fn shown(&self) -> &Value {
        &self.shown
    }

    /// The server and the tool's own name.
    pub fn object(&self) -> &Object {
        &self.object
    }

    /// How much it can do.
    pub fn tier(&self) -> Tier {
        self.rule.tier()
    }

    /// What holds for its calls.
    pub fn rule(&self) -> &ToolRule {
        &self.rule
    }

    /// Makes of what a caller gives what the tool may be given. `arguments` was read by [`model::json::parse`]; absent ones
    /// are `null`.
    ///
    /// # Errors
    ///
    /// In this order: [`Code::ARGUMENTS_MALFORMED`], [`Code::ARGUMENTS_SIZE`], [`Code::SECRET_ARGUMENT`],
    /// [`Code::BINDING_CONFLICT`], [`Code::BINDING_MISSING`], [`Code::ARGUMENTS_SCHEMA`]. No reason has a bound value or the value of
    /// an argument in it.
    pub fn bind(&self, arguments: Value, who: &Principal, screen: &Screen) -> Result<Bound, Refusal> {
        let max_bytes = self.rule.max_bytes().unwrap_or(arguments::MAX_BYTES);
        let Bounded { mut members, size } = arguments::bounded(arguments, max_bytes)?;
        // Before anything else is said of them: a secret gets into no reason and no record.
        refuse_secret(screen.find_in(&members))?;
        self.refuse_look_alikes(&members)?;
        for parameter in &self.bound {
            self.bind_one(parameter, who, &mut members)?;
        }
        for (name, value) in self.rule.defaults() {
            if !members.contains_key(name) {
                members.insert(name.clone(), value.clone());
            }
        }
        if !guard::off("schema") {
            self.schema.check(&mut members, size).map_err(|wrong| self.refuse(&wrong))?;
        }
        let names = self.bound.iter().map(|parameter| parameter.name.clone()).collect();
        Bound::new(self.object.clone(), members, names)
    }

    fn bind_one(
        &self,
        parameter: &BoundParameter,
        who: &Principal,
        members: &mut Map<String, Value>,
    ) -> Result<(), Refusal> {
        let BoundParameter { name, source, wanted } = parameter;
        if guard::off("binding") && members.contains_key(name) {
            return Ok(());
        }
        let rule = || format!("servers.{}.tools.{}.bind.{name}", self.object.server, self.object.name);
        let shown = excerpt(name, 60);
        let Some(value) = binding::value(source, who) else {
            let reason = format!("`{shown}` comes from your identity, which has no {source}");
            return Err(Refusal::new(Code::BINDING_MISSING, reason)
                .rule(rule())
                .remedy("ask whoever gave you access; the arguments cannot change it"));
        };
        let value = binding::fitted(value, wanted);
        if members.get(name).is_some_and(|given| *given != value) {
            let reason = format!("`{shown}` comes from your identity, and the value given is another one");
            return Err(Refusal::new(Code::BINDING_CONFLICT, reason)
                .rule(rule())
                .remedy(format!("leave `{shown}` out")));
        }
        members.insert(name.clone(), value);
        Ok(())
    }

    /// A member that the tool does not declare, and that it may read as one of those that come from the caller's identity.
    fn refuse_look_alikes(&self, members: &Map<String, Value>) -> Result<(), Refusal> {
        if self.bound.is_empty() || guard::off("binding-look-alikes") {
            return Ok(());
        }
        let declared = self.shown.get("inputSchema").and_then(|input| input.get("properties"));
        for given in members.keys().filter(|key| declared.and_then(|all| all.get(key.as_str())).is_none()) {
            let alike = |one: &&BoundParameter| one.name != *given && binding::is_alike(&one.name, given);
            if let Some(BoundParameter { name, .. }) = self.bound.iter().find(alike) {
                let (given, shown) = (excerpt(given, 60), excerpt(name, 60));
                let reason = format!("`{given}` reads like `{shown}`, which comes from your identity");
                let rule = format!("servers.{}.tools.{}.bind.{name}", self.object.server, self.object.name);
                return Err(Refusal::new(Code::BINDING_CONFLICT, reason)
                    .rule(rule)
                    .remedy(format!("leave `{given}` out")));
            }
        }
        Ok(())
    }

    fn refuse(&self, wrong: &schema::Wrong) -> Refusal {
        let of_identity = |name: &String| self.bound.iter().any(|parameter| parameter.name == *name);
        let tool = format!("servers.{}.tools.{}", self.object.server, self.object.name);
        match wrong {
            schema::Wrong::TooMuch(reason) => Refusal::new(Code::ARGUMENTS_SIZE, *reason)
                .rule("inputSchema")
                .remedy("give smaller or flatter arguments"),
            schema::Wrong::Unfit { first: Some(name), .. } if of_identity(name) => {
                let name = excerpt(name, 60);
                let reason =
                    format!("`{name}` comes from your identity, and what it has does not fit the tool");
                Refusal::new(Code::BINDING_MISSING, reason)
                    .rule(format!("{tool}.bind.{name}"))
                    .remedy("ask whoever gave you access; the arguments cannot change it")
            }
            schema::Wrong::Unfit { text, .. } => Refusal::new(Code::ARGUMENTS_SCHEMA, text.clone())
                .rule("inputSchema")
                .remedy("correct the arguments and call again"),
        }
    }
}

/// What is asked of something that has no schema (prompts, resources, completions), within its bounds and without secrets.
/// `arguments` are the request's parameters, read by [`model::json::parse`].
///
/// # Errors
///
/// [`Code::ARGUMENTS_MALFORMED`], [`Code::ARGUMENTS_SIZE`], [`Code::SECRET_ARGUMENT`].
pub fn screened(object: Object, arguments: Value, screen: &Screen) -> Result<Bound, Refusal> {
    let Bounded { members, .. } = arguments::bounded(arguments, arguments::MAX_BYTES)?;
    refuse_secret(screen.find_in(&members))?;
    Bound::new(object, members, Vec::new())
}

/// Looks through what goes to a server beside the arguments of a call: what else its parameters hold, and their `_meta`.
///
/// # Errors
///
/// [`Code::SECRET_ARGUMENT`].
pub fn looked_through(members: &Map<String, Value>, screen: &Screen) -> Result<(), Refusal> {
    refuse_secret(screen.find_in(members))
}

impl Bound {
    fn new(object: Object, arguments: Map<String, Value>, names: Vec<String>) -> Result<Self, Refusal> {
        let mut whole = BTreeMap::from([
            ("arguments".to_owned(), Value::Object(arguments)),
            ("server".to_owned(), object.server.as_str().into()),
        ]);
        if object.verb == Verb::CallTool {
            whole.insert("tool".to_owned(), object.name.clone().into());
        } else {
            whole.insert("verb".to_owned(), object.verb.as_str().into());
            whole.insert("name".to_owned(), object.name.clone().into());
        }
        let mut whole = Value::Object(whole.into_iter().collect());
        let bytes = json::canonical(&whole).map_err(|error| {
            Refusal::new(Code::ARGUMENTS_MALFORMED, error.to_string()).remedy(error.hint())
        })?;
        let arguments = match whole.get_mut("arguments").map(Value::take) {
            Some(Value::Object(arguments)) => arguments,
            _ => Map::new(),
        };
        Ok(Self { object, arguments, digest: Digest::of(&bytes), names })
    }

    /// What they are for.
    pub fn object(&self) -> &Object {
        &self.object
    }

    /// The arguments, complete.
    pub fn arguments(&self) -> &Map<String, Value> {
        &self.arguments
    }

    /// The arguments, to be sent.
    pub fn into_arguments(self) -> Map<String, Value> {
        self.arguments
    }

    /// SHA-256 over the RFC 8785 text of `{arguments, server, tool}`, or of `{arguments, name, server, verb}` where it is no tool
    /// that is called. `true` and `1` differ, and so do equal arguments of two servers' tools of one name.
    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    /// The parameters whose value came from the caller's identity.
    pub fn bound_names(&self) -> &[String] {
        &self.names
    }
}

impl std::fmt::Debug for Bound {
    /// Without the values: this gets into logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { object, digest, names, .. } = self;
        f.debug_struct("Bound")
            .field("object", object)
            .field("digest", digest)
            .field("names", names)
            .finish_non_exhaustive()
    }
}

fn refuse_secret(found: Option<Finding>) -> Result<(), Refusal> {
    let Some(Finding { path, what }) = found else { return Ok(()) };
    Err(Refusal::new(Code::SECRET_ARGUMENT, format!("`{path}` holds {what}"))
        .rule("screening")
        .remedy("leave it out: a server that needs a key has its own, and no key is passed on in arguments"))
}

#[cfg(test)]
mod tests;
