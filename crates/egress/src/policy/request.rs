//! The judgement of one request.

use std::sync::Arc;

use model::secret::{Place, SecretName};

use super::Policy;
use crate::credential::Keyring;
use crate::path::CanonicalPath;
use crate::permit::Permit;
use crate::refusal::remedy::{self, allow_request};
use crate::refusal::{Code, Refusal, Subject};
use crate::rule::HostRule;
use crate::rule::terms::Terms;

/// The proof that the rules let a request through. Kept with the request while it is under way, so that a change of the
/// rules can judge it again. Made by [`Policy::judge_request`] only.
#[derive(Debug)]
pub struct Allowed {
    rule: Arc<HostRule>,
    method: Box<str>,
    path: CanonicalPath,
    canonical: bool,
    used: Vec<(SecretName, Vec<Place>)>,
}

impl Policy {
    /// Whether a request may be made over what `permit` let through. The permit may be of an older policy.
    ///
    /// A rule without terms takes every request. A path that can be read in two ways is taken by no rule that has a path. One
    /// rule more never refuses a request that was let through.
    ///
    /// # Errors
    /// The refusal, with the line that would allow exactly this request.
    pub fn judge_request(
        &self,
        permit: &Permit,
        method: &str,
        path: &CanonicalPath,
    ) -> Result<Allowed, Refusal> {
        let rules = match self.at(permit.name(), permit.port()) {
            Some((kind, rules)) if kind == permit.kind() => rules,
            _ => return Err(permit.refuse(Code::Removed, "")),
        };
        let by_path = rules.iter().any(|rule| rule.terms().is_some_and(|terms| terms.path().is_some()));
        let allowed = |rule: &Arc<HostRule>| Allowed {
            rule: Arc::clone(rule),
            method: method.into(),
            path: path.clone(),
            canonical: by_path && path.canonical().is_ok(),
            used: Vec::new(),
        };
        if let Some(rule) = rules.iter().find(|rule| rule.terms().is_none()) {
            return Ok(allowed(rule));
        }
        let fits = |terms: &Terms| terms.take_method(method) || crate::guard::off("request-method");
        let with_terms = || rules.iter().filter_map(|rule| rule.terms().map(|terms| (*rule, terms)));
        match with_terms().find(|(_, terms)| fits(terms) && leads(terms, path)) {
            Some((rule, _)) => Ok(allowed(rule)),
            None => Err(self.refuse_request(permit, method, path, &rules)),
        }
    }

    /// Why none of `rules`, which all have terms, takes a request, and the line that would.
    fn refuse_request(
        &self,
        permit: &Permit,
        method: &str,
        path: &CanonicalPath,
        rules: &[&Arc<HostRule>],
    ) -> Refusal {
        let first = |wanted: &dyn Fn(&Terms) -> bool| {
            let found = rules.iter().find(|rule| rule.terms().is_some_and(wanted));
            found.map(AsRef::as_ref)
        };
        if let Err(fault) = path.canonical()
            && let Some(rule) = first(&|terms| terms.take_method(method) && terms.path().is_some())
        {
            let refusal = refuse(permit, Code::RequestPath, Some(rule), &format!("`{path}`: {fault}"));
            return refusal.with_remedy(remedy::READ_ONE_WAY.to_owned());
        }
        let refusal = match first(&|terms| leads(terms, path)) {
            Some(rule) => refuse(permit, Code::RequestMethod, Some(rule), &format!("`{method}`")),
            None => refuse(permit, Code::RequestPath, first(&|_| true), &format!("`{method} {path}`")),
        };
        let form = path.canonical().unwrap_or_default();
        let line = HostRule::exactly(permit.name(), permit.port(), permit.kind())
            .and_then(|place| allow_request(&self.server, &place, method, form));
        match line {
            Some(line) => refusal.with_remedy(line),
            None => refusal,
        }
    }
}

/// Whether the terms take a path. One that can be read in two ways is compared with nothing: only where any path is taken,
/// it is too.
fn leads(terms: &Terms, path: &CanonicalPath) -> bool {
    let taken = match path.canonical() {
        Ok(form) => terms.take_path(form),
        Err(_) => terms.path().is_none(),
    };
    taken || crate::guard::off("request-path")
}

impl Allowed {
    /// The rule that let it through.
    pub fn rule(&self) -> &Arc<HostRule> {
        &self.rule
    }

    /// The method that was judged.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The path that was judged.
    pub fn path(&self) -> &CanonicalPath {
        &self.path
    }

    /// The target of the request that is sent: in the form that was judged where a rule has a path, else as it came.
    pub fn target(&self) -> String {
        self.path.target(self.canonical)
    }

    /// The same, for a request that the values of these keys of `ring` were written into: it goes on only as long as they
    /// are for such requests.
    #[must_use]
    pub fn using(mut self, names: &[SecretName], ring: &Keyring) -> Self {
        let places = |name| ring.key(name).map(|key| key.places().to_vec()).unwrap_or_default();
        self.used = names.iter().map(|name| (name.clone(), places(name))).collect();
        self
    }

    /// The keys that were written into it.
    pub fn used(&self) -> impl Iterator<Item = &SecretName> {
        self.used.iter().map(|(name, _)| name)
    }

    /// Whether the request may go on under other rules and keys, over what `permit` let through. A key with another value
    /// is the same key.
    ///
    /// # Errors
    /// The refusal, if the request may not be made any more, or a key in it was removed or bound to other requests.
    pub fn still(&self, policy: &Policy, permit: &Permit) -> Result<Self, Refusal> {
        let again = policy.judge_request(permit, &self.method, &self.path)?;
        for (name, places) in &self.used {
            let key = policy.keys().key(name).filter(|key| {
                key.covers(permit.name(), permit.port())
                    && key.takes(&self.method, &self.path).is_ok()
                    && places.iter().all(|place| key.places().contains(place))
            });
            if key.is_none() {
                return Err(refuse(permit, Code::SecretRemoved, Some(&self.rule), &format!("`{name}`")));
            }
        }
        Ok(Self { used: self.used.clone(), ..again })
    }
}

fn refuse(permit: &Permit, code: Code, rule: Option<&HostRule>, detail: &str) -> Refusal {
    let subject = Subject { rule, ..permit.subject() };
    Refusal::new(code, subject, detail)
}
