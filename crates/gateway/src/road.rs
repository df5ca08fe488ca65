//! The stages of a call, each of which consumes what the one before it has earned.
//!
//! received → identified → looked up as this caller sees it → arguments bound and validated → facts → judged → approved →
//! recorded → performed → concluded. There is no other way to have something done: what performs a call takes a
//! [`Recorded`], which only [`Approved::record`] makes, and so on back to the [`Received`] of a face, whose principal only
//! the `access` crate makes. A check that is skipped does not compile.
//!
//! ```
//! // The twin of the example below.
//! async fn done(call: gateway::road::Approved, audit: &store::audit::Audit) {
//!     let recorded = call.record(audit).await.unwrap();
//!     let _ = recorded.begin();
//! }
//! ```
//!
//! ```compile_fail,E0599
//! async fn unrecorded(call: gateway::road::Approved) {
//!     let _ = call.begin();
//! }
//! ```
//!
//! ```compile_fail,E0599
//! fn unjudged(call: gateway::road::Known) -> gateway::road::Approved {
//!     call.approve().unwrap()
//! }
//! ```
//!
//! ```compile_fail,E0599
//! fn unbound(call: gateway::road::Found) -> gateway::road::Known {
//!     call.facts()
//! }
//! ```
//!
//! ```compile_fail,E0382
//! fn twice(call: gateway::road::Recorded) {
//!     let _ = call.begin();
//!     let _ = call.begin();
//! }
//! ```

use std::{sync::Arc, time::Instant};

use access::{
    Completes, Object, Verb,
    gate::{Bound, looked_through, screened},
    judge::{Authorizer, Facts, Permit, judge},
    limits::{Allowance, Limits, Turn},
    refusal::{Code, Refusal},
    screen::Screen,
};
use model::{config::ToolRule, digest::Digest, tier::Tier};
use serde_json::Value;
use store::audit::{Audit, Outcome};
use tools::surface::Kind;

use self::about::About;
use crate::{
    call::{Concluded, End, Received, Scope},
    guard, metering, names,
    shelf::{Entry, Offer, Stock},
    view::{in_scope, sees},
};

mod about;
mod ending;
mod wording;

pub use ending::{Performed, Underway};

/// A call that goes no further. What is known of it goes into the record, and its refusal to the caller.
#[derive(Debug)]
#[must_use = "a refusal is recorded, and told"]
pub struct Turned {
    about: Box<About>,
    refusal: Box<Refusal>,
}

/// A call of a caller who is known.
#[derive(Debug)]
pub struct Identified {
    received: Received,
    about: About,
}

/// A call of something that this caller sees.
#[derive(Debug)]
pub struct Found {
    received: Received,
    about: About,
    object: Object,
    /// The server's own name or address of it.
    plain: String,
    offer: Arc<Offer>,
    entry: Option<Arc<Entry>>,
}

/// A call whose arguments are what the tool takes, and the caller's own where they are bound.
#[derive(Debug)]
pub struct Checked {
    found: Found,
    bound: Bound,
}

/// A call of which everything is known that its decision needs.
#[derive(Debug)]
pub struct Known {
    checked: Checked,
    facts: Facts,
}

/// A call that is permitted.
#[derive(Debug)]
pub struct Judged {
    found: Found,
    permit: Permit,
}

/// A call that a person has approved, where one has to.
#[derive(Debug)]
pub struct Approved {
    found: Found,
    permit: Permit,
    turn: Option<Turn>,
}

/// A call that may be performed, once.
#[derive(Debug)]
#[must_use = "it is recorded as about to be done"]
pub struct Recorded {
    found: Found,
    permit: Permit,
    turn: Option<Turn>,
    has_intent: bool,
}

impl Identified {
    /// Of a request as a face hands it over: its principal was verified, or there would be none.
    pub fn of(received: Received, policy: Option<Digest>) -> Self {
        let about = About::of(&received, policy);
        Self { received, about }
    }

    /// It is for nothing that was offered.
    pub fn not_offered(self) -> Turned {
        self.about.turned(Refusal::unknown(self.received.verb))
    }

    /// Finds what is asked for among what this caller sees. What it does not see is not there, to the last byte.
    ///
    /// # Errors
    ///
    /// [`Turned`]: there is nothing of the name for this caller, or it may not be used now.
    pub fn look_up(self, stock: &Stock, authorizer: &dyn Authorizer) -> Result<Found, Turned> {
        let Self { received, mut about } = self;
        let Some((offer, entry, plain)) = locate(&received, stock) else {
            return Err(about.turned(Refusal::unknown(received.verb)));
        };
        about.server = Some(offer.name().to_string());
        about.name.clone_from(&plain);
        let server = offer.name().clone();
        let object = match received.verb {
            Verb::Complete if received.is_of_prompt() => {
                Object::completion(server, Completes::Prompt(&plain))
            }
            Verb::Complete => Object::completion(server, Completes::Template(&plain)),
            verb => Object { verb, server, name: plain.clone() },
        };
        let who = &received.principal;
        let is_seen = in_scope(&offer, who, &received.scope)
            && match &entry {
                Some(entry) => sees(authorizer, who, entry),
                // An address need not be in a list: a template or a result may have named it.
                None => authorizer.sees(who, &object),
            };
        if !is_seen && !guard::off("road-visible") {
            return Err(about.turned(Refusal::unknown(received.verb)));
        }
        if let Some(notice) = offer.notice() {
            let refusal = Refusal::new(Code::new(notice.code), notice.reason.clone());
            return Err(about.turned(refusal.remedy(notice.remedy.clone())));
        }
        if let Some(entry) = &entry
            && offer.is_held(entry.kind(), entry.plain())
            && !guard::off("road-held")
        {
            let reason = "it is not what was accepted any more, and a person has to look at the change";
            let refusal = Refusal::new(Code::CHANGED, reason);
            return Err(about.turned(refusal.remedy(format!("`fumehood review {}`", offer.name()))));
        }
        about.tier = Some(entry.as_ref().map_or(Tier::default(), |entry| tier_of(&offer, entry)));
        Ok(Found { received, about, object, plain, offer, entry })
    }
}

impl Found {
    /// Takes its arguments through the gate of the tool: once, and what comes out is what is judged and done.
    ///
    /// # Errors
    ///
    /// [`Turned`]: they do not fit, are not the caller's, or hold what must not leave.
    pub fn bind(mut self, screen: &Screen) -> Result<Checked, Turned> {
        let gate = self.entry.as_ref().and_then(|entry| entry.gate()).cloned();
        let who = &self.received.principal;
        let arguments = match &gate {
            Some(_) => self.received.params.remove("arguments").unwrap_or_default(),
            None => Value::Object(std::mem::take(&mut self.received.params)),
        };
        let beside = [&self.received.params, &self.received.meta];
        let beside = beside.into_iter().try_for_each(|members| looked_through(members, screen));
        let bound = beside.and_then(|()| match gate {
            Some(gate) => gate.bind(arguments, who, screen),
            None => screened(self.object.clone(), arguments, screen),
        });
        match bound {
            Ok(bound) => {
                self.about.arguments = Some(*bound.digest());
                self.about.bound = bound.bound_names().to_vec();
                Ok(Checked { found: self, bound })
            }
            Err(refusal) => Err(self.about.turned(refusal)),
        }
    }

    fn rule(&self) -> Option<&ToolRule> {
        let entry = self.entry.as_ref().filter(|entry| entry.kind() == Kind::Tool)?;
        self.offer.terms().tools.get(entry.plain())
    }
}

impl Checked {
    /// What is looked up for the decision.
    pub fn facts(self) -> Known {
        Known { checked: self, facts: Facts::default() }
    }
}

impl Known {
    /// Whether it is permitted.
    ///
    /// # Errors
    ///
    /// [`Turned`]: it is not.
    pub fn judge(self, authorizer: &dyn Authorizer) -> Result<Judged, Turned> {
        let Self { checked: Checked { mut found, bound }, facts } = self;
        let tier = found.about.tier.unwrap_or_default();
        let who = Arc::clone(&found.received.principal);
        match judge(authorizer, &who, found.object.clone(), bound, tier, &facts) {
            Ok(permit) => {
                found.about.rule = Some(permit.rule().to_owned());
                Ok(Judged { found, permit })
            }
            Err(refusal) => Err(found.about.turned(refusal)),
        }
    }
}

impl Judged {
    /// Whether a person has said yes, where one has to. Nobody can be asked yet, so that a call of tier 3 ends here.
    ///
    /// # Errors
    ///
    /// [`Turned`]: a person would have to.
    pub fn approve(self) -> Result<Approved, Turned> {
        if self.found.about.tier == Some(Tier::Three) && !guard::off("tier-3") {
            let refusal =
                Refusal::new(Code::TIER_3, "a person has to approve this call, and nobody can be asked yet");
            let refusal =
                refusal.rule("tier").remedy("do without it, or ask the person you work for to do it");
            return Err(self.found.about.turned(refusal));
        }
        Ok(Approved { found: self.found, permit: self.permit, turn: None })
    }
}

impl Approved {
    /// Takes a turn, where there is one for this caller now.
    ///
    /// # Errors
    ///
    /// [`Turned`]: too many, or too often.
    pub fn enter(mut self, limits: &Limits) -> Result<Self, Turned> {
        let allowance = self.found.rule().map(Allowance::of).unwrap_or_default();
        let who = &self.found.received.principal;
        match limits.enter(who, &self.found.object, Instant::now(), &allowance) {
            Ok(turn) => {
                self.turn = Some(turn);
                Ok(self)
            }
            Err(refusal) => Err(self.found.about.turned(refusal)),
        }
    }

    /// Writes down that it is about to be done, before it is, where it can do anything (tier 2 and 3).
    ///
    /// # Errors
    ///
    /// [`Turned`]: it cannot be written down, so it is not done.
    pub async fn record(self, audit: &Audit) -> Result<Recorded, Turned> {
        let Self { mut found, permit, turn } = self;
        if audit.keeps_bodies() {
            found.about.body = Some(Value::Object(permit.bound().arguments().clone()));
        }
        let has_intent = found.about.tier != Some(Tier::One);
        if has_intent && !guard::off("road-intent") {
            let (intent, left) = (found.about.intent(), found.about.ended(true, Outcome::Cancelled, 0));
            if let Err(error) = audit.commit_or_leave(intent, left).await {
                let reason = format!("what would be done cannot be recorded ({error})");
                let refusal = Refusal::new(Code::AUDIT_UNAVAILABLE, reason);
                let refusal = refusal.remedy("whoever runs this service has to make room for its record");
                return Err(found.about.turned(refusal));
            }
        }
        Ok(Recorded { found, permit, turn, has_intent })
    }
}

impl Recorded {
    /// Begins it: what the server is to be asked, and what has to be told of how that ends.
    pub fn begin(self) -> Underway {
        let Self { found, permit, turn, has_intent } = self;
        let Found { received, about, object, plain, offer, entry } = found;
        let bound = permit.into_bound();
        let arguments = bound.into_arguments();
        let params = match object.verb {
            Verb::CallTool => wording::of_tool(received.params, arguments, &plain),
            verb => wording::of_other(verb, arguments, &plain),
        };
        let time =
            entry.as_ref().and_then(|entry| offer.terms().tools.get(entry.plain())).and_then(ToolRule::time);
        let method = wording::method(object.verb);
        Underway::new(
            about,
            turn,
            has_intent,
            ending::Asked {
                principal: received.principal,
                object,
                method,
                params,
                meta: received.meta,
                progress: received.progress,
                questions: received.questions,
                modern: received.modern,
                time,
                offer,
            },
        )
    }
}

impl Turned {
    /// Records it, and says what the caller is told.
    pub async fn conclude(self, audit: &Audit) -> Concluded {
        let event = self.about.denied(&self.refusal);
        metering::recorded(&event);
        audit.note(event).await;
        Concluded { call: self.about.call, end: End::Refused(self.refusal), subscription: None }
    }

    /// The same, without what must not be said in a record.
    pub fn without_secrets(mut self, screen: &Screen) -> Self {
        self.about.leave_out(screen);
        self
    }

    /// Why.
    pub fn refusal(&self) -> &Refusal {
        &self.refusal
    }
}

/// Server, entry and the server's own name for what is asked for; whoever asks.
fn locate(received: &Received, stock: &Stock) -> Option<(Arc<Offer>, Option<Arc<Entry>>, String)> {
    let kinds: &[Kind] = match received.verb {
        Verb::CallTool => &[Kind::Tool],
        Verb::GetPrompt => &[Kind::Prompt],
        Verb::ReadResource | Verb::Subscribe => &[Kind::Resource],
        Verb::Complete if received.is_of_prompt() => &[Kind::Prompt],
        Verb::Complete => &[Kind::ResourceTemplate, Kind::Resource],
    };
    let is_address = matches!(received.verb, Verb::ReadResource | Verb::Subscribe);
    match &received.scope {
        Scope::Server(server) => {
            let offer = stock.offer(server)?;
            let entry = kinds.iter().find_map(|kind| offer.entry(*kind, &received.name)).cloned();
            if entry.is_none() && !(is_address && offer.can("resources")) {
                return None;
            }
            Some((Arc::clone(offer), entry, received.name.clone()))
        }
        Scope::All => {
            if let Some(entry) = kinds.iter().find_map(|kind| stock.public(*kind, &received.name)) {
                let offer = stock.offer(entry.server())?;
                return Some((Arc::clone(offer), Some(Arc::clone(entry)), entry.plain().to_owned()));
            }
            let (server, plain) = names::plain_uri(&received.name).filter(|_| is_address)?;
            let offer = stock.offer(&server).filter(|offer| offer.can("resources"))?;
            Some((Arc::clone(offer), None, plain.to_owned()))
        }
    }
}

/// What is known of how much a call can do: a tool's tier from configuration; anything else is read, and leaves a row.
fn tier_of(offer: &Offer, entry: &Entry) -> Tier {
    match entry.kind() {
        Kind::Tool => offer.terms().tools.get(entry.plain()).map(ToolRule::tier).unwrap_or_default(),
        Kind::Prompt | Kind::Resource | Kind::ResourceTemplate => Tier::One,
    }
}
