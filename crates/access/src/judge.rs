//! The decision, and the permit that comes of it.

use model::tier::Tier;

use crate::gate::Bound;
use crate::guard;
use crate::object::Object;
use crate::principal::Principal;
use crate::refusal::{Code, Refusal};

/// Whoever decides. One answer for lists and for calls: what is not seen cannot be called, and the other way round.
pub trait Authorizer: Send + Sync {
    /// Whether this caller sees the object at all. What depends on arguments is left out.
    fn sees(&self, who: &Principal, object: &Object) -> bool;

    /// Whether this call may be done.
    fn judge(&self, question: &Question<'_>) -> Verdict;
}

/// What is asked of an [`Authorizer`].
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// Who asks.
    pub who: &'a Principal,
    /// For what.
    pub object: &'a Object,
    /// With which arguments, bound and checked.
    pub bound: &'a Bound,
    /// How much it can do.
    pub tier: Tier,
    /// What was looked up for the decision.
    pub facts: &'a Facts,
}

/// What was looked up for a decision. Nothing is looked up yet that a decision could use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {}

/// A decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Whether it may be done.
    pub permitted: bool,
    /// The rule that decided, such as `roles.support.tools[1]`.
    pub rule: String,
    /// Why, for the record.
    pub reason: String,
}

/// The right to do one call once. Only [`judge`] makes one, of a [`Bound`] that it uses up; it cannot be copied, kept in a
/// file or sent anywhere. Each example that must not compile has a twin that does, and differs from it in that step only.
///
/// It is made by judging, and by nothing else:
///
/// ```
/// use access::{Authorizer, Bound, Facts, Object, Permit, Refusal, judge, principal::Principal};
/// fn earned(all: &dyn Authorizer, who: &Principal, object: Object, bound: Bound) -> Result<Permit, Refusal> {
///     judge(all, who, object, bound, model::tier::Tier::One, &Facts::default())
/// }
/// ```
///
/// ```compile_fail,E0451
/// use access::{Authorizer, Bound, Facts, Object, Permit, Refusal, judge, principal::Principal};
/// fn earned(all: &dyn Authorizer, who: &Principal, object: Object, bound: Bound) -> Result<Permit, Refusal> {
///     Ok(Permit { object, bound, rule: String::new() })
/// }
/// ```
///
/// It is used once:
///
/// ```
/// fn used(permit: access::Permit) -> [access::Bound; 1] {
///     [permit.into_bound()]
/// }
/// ```
///
/// ```compile_fail,E0382
/// fn used(permit: access::Permit) -> [access::Bound; 2] {
///     [permit.into_bound(), permit.into_bound()]
/// }
/// ```
///
/// It can be looked at, and neither copied, nor written down, nor read:
///
/// ```
/// fn can<T: std::fmt::Debug>() {}
/// can::<access::Permit>();
/// ```
///
/// ```compile_fail,E0277
/// fn can<T: Clone>() {}
/// can::<access::Permit>();
/// ```
///
/// ```compile_fail,E0277
/// fn can<T: serde::Serialize>() {}
/// can::<access::Permit>();
/// ```
///
/// ```compile_fail,E0277
/// fn can<T: serde::de::DeserializeOwned>() {}
/// can::<access::Permit>();
/// ```
#[derive(Debug)]
#[must_use = "a permit is there to be used"]
pub struct Permit {
    object: Object,
    bound: Bound,
    rule: String,
}

impl Permit {
    /// What may be done.
    pub fn object(&self) -> &Object {
        &self.object
    }

    /// With what.
    pub fn bound(&self) -> &Bound {
        &self.bound
    }

    /// The rule that permitted it.
    pub fn rule(&self) -> &str {
        &self.rule
    }

    /// Uses it up.
    pub fn into_bound(self) -> Bound {
        self.bound
    }
}

/// Decides about one call.
///
/// # Errors
///
/// [`Refusal::unknown`] where this caller may not, or `bound` was earned for another object; [`Code::TIER_3`] where only a
/// person may let it happen.
pub fn judge(
    authorizer: &dyn Authorizer,
    who: &Principal,
    object: Object,
    bound: Bound,
    tier: Tier,
    facts: &Facts,
) -> Result<Permit, Refusal> {
    let unknown = || Err(Refusal::unknown(object.verb));
    // Bound to one server means: there are no others, whatever the roles say.
    let elsewhere = who.server().is_some_and(|only| *only != object.server);
    let guarded = !guard::off("roles");
    if bound.object() != &object || (guarded && (elsewhere || !authorizer.sees(who, &object))) {
        return unknown();
    }
    let verdict = authorizer.judge(&Question { who, object: &object, bound: &bound, tier, facts });
    if guarded && !verdict.permitted {
        return unknown();
    }
    if tier == Tier::Three && !guard::off("tier-3") {
        return Err(Refusal::new(
            Code::TIER_3,
            "a person has to approve this call, and nobody can be asked yet",
        )
        .rule("tier")
        .remedy("do without it, or ask the person you work for to do it"));
    }
    Ok(Permit { object, bound, rule: verdict.rule })
}
