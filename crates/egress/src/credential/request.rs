//! Requests: placeholders where they may stand become values, and nothing else of a key or of anybody's leaves.

use std::sync::Arc;

use http::HeaderMap;
use http::header::{self, HeaderName, HeaderValue};
use http::request::Parts;
use model::secret::{Place, SecretName};

use self::url::Target;
use super::body::{BodyPlan, Tool, Work, Written};
use super::coding::Coding;
use super::foreign::{self, Basic, Own};
use super::key::{Key, Unbound};
use super::needle;
use super::response::Scrub;
use super::ring::Keyring;
use super::search::{Found, Needles};
use super::stream::Stream;
use crate::path::CanonicalPath;
use crate::permit::Permit;
use crate::refusal::{Code, Refusal};
use crate::rule::Kind;

mod url;

/// What became of the head of a request, and what is still to be done.
#[derive(Debug)]
pub struct Substituted {
    /// The keys whose values were written into the head, each once.
    pub used: Vec<SecretName>,
    /// What to do with the body.
    pub body: BodyPlan,
    /// What to do with the answer.
    pub scrub: Scrub,
    /// What to write into text messages to the host, if the request becomes a WebSocket.
    pub messages: Option<Messages>,
}

/// The keys that are written into messages of a WebSocket.
#[derive(Debug, Clone)]
pub struct Messages {
    pub(crate) needles: Arc<Needles>,
    /// What the keys are called.
    pub names: Vec<SecretName>,
}

/// Writes values into the head of a request, and refuses what must not leave.
///
/// `parts` are as the cell sent them, its target in origin or absolute form. On a host without a key, or in the clear, no
/// value is ever written; a placeholder in the head is refused all the same. Of a host with a key, on whichever port, the
/// answer must be readable: `Accept-Encoding: identity`, no `Range`, no extensions of WebSocket.
///
/// # Errors
/// `FH-SECRET-PLACE`, `FH-CREDENTIAL-FOREIGN`.
pub fn substitute(parts: &mut Parts, to: &Permit, ring: &Keyring) -> Result<Substituted, Refusal> {
    let encrypted = to.kind() == Kind::Tls || crate::guard::off("secret-host");
    let bound = if encrypted { ring.bound_at(to.name(), to.port()) } else { Vec::new() };
    let path = CanonicalPath::of(parts.uri.path_and_query().map_or("/", |target| target.as_str()));
    let standing = ring.keys().iter().map(|key| Standing::of(key, &bound, parts, &path)).collect();
    let mut asked = Asked { to, ring, standing, used: Vec::new() };
    let mut changed: Vec<(HeaderName, HeaderValue)> = Vec::new();
    let mut target = None;
    if let Some(watch) = ring.watch() {
        for name in parts.headers.keys() {
            asked.header(name, &parts.headers, watch, &mut changed)?;
        }
        target = asked.target(parts, watch)?;
    }
    asked.no_foreign(parts, &bound)?;
    asked.no_disguise(&parts.headers)?;
    for (name, value) in changed {
        parts.headers.insert(name, value);
    }
    if let Some(target) = target {
        parts.uri = target;
    }
    let usable: Vec<Arc<Key>> = asked.usable().map(Arc::clone).collect();
    let body = asked.body(&mut parts.headers, &usable)?;
    let told = ring.told_to(to.name());
    if !told.is_empty() {
        make_readable(&mut parts.headers);
    }
    let used = asked.used.iter().filter_map(|owner| ring.keys().get(*owner)).map(|key| key.name().clone());
    Ok(Substituted {
        used: used.collect(),
        body,
        scrub: Scrub::new(ring, &told),
        messages: messages(&usable),
    })
}

/// How a text is written as a whole in some place.
type Escape = fn(&[u8]) -> Vec<u8>;

/// What a key is to one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Usable,
    Elsewhere,
    Unbound(Unbound),
}

impl Standing {
    fn of(key: &Arc<Key>, bound: &[Arc<Key>], parts: &Parts, path: &CanonicalPath) -> Self {
        if !bound.iter().any(|own| Arc::ptr_eq(own, key)) {
            return Self::Elsewhere;
        }
        key.takes(parts.method.as_str(), path).map_or_else(Self::Unbound, |()| Self::Usable)
    }
}

struct Asked<'a> {
    to: &'a Permit,
    ring: &'a Keyring,
    /// One for each key of the ring.
    standing: Vec<Standing>,
    used: Vec<usize>,
}

impl Asked<'_> {
    /// The key at `owner`, if its value may be written at `place` of this request.
    fn may(&self, owner: usize, place: &Place) -> Option<&Arc<Key>> {
        let key = self.ring.keys().get(owner)?;
        let usable = self.standing.get(owner) == Some(&Standing::Usable);
        (usable && (key.has_place(place) || crate::guard::off("secret-place"))).then_some(key)
    }

    fn usable(&self) -> impl Iterator<Item = &Arc<Key>> {
        let pairs = self.ring.keys().iter().zip(&self.standing);
        pairs.filter(|(_, standing)| **standing == Standing::Usable).map(|(key, _)| key)
    }

    fn using(&mut self, owner: usize) {
        if !self.used.contains(&owner) {
            self.used.push(owner);
        }
    }

    fn misplaced(&self, owner: usize, place: &str) -> Refusal {
        let name = self.ring.keys().get(owner).map(|key| key.name().as_str()).unwrap_or_default();
        let why = match self.standing.get(owner) {
            Some(Standing::Elsewhere) | None => "which is not bound to this host",
            Some(Standing::Unbound(Unbound::Method)) => "which is not bound to this method",
            Some(Standing::Unbound(Unbound::Path)) => "which is not bound to this path",
            Some(Standing::Usable) => "which is not written there",
        };
        self.to.refuse(Code::SecretPlace, &format!("`{name}`, {why}, in {place}"))
    }

    /// Looks at all values of one header.
    fn header(
        &mut self,
        name: &HeaderName,
        headers: &HeaderMap,
        watch: &Needles,
        changed: &mut Vec<(HeaderName, HeaderValue)>,
    ) -> Result<(), Refusal> {
        let mut values = headers.get_all(name).iter();
        let alone = headers.get_all(name).iter().nth(1).is_none();
        let place = || format!("the header `{name}`");
        values.try_for_each(|value| {
            if let Some(new) = self.basic(name, value, alone)? {
                changed.push((name.clone(), new));
                return Ok(());
            }
            let look = watch.look(value.as_bytes(), true);
            let Some(first) = look.found.first() else { return Ok(()) };
            if !alone {
                return Err(self.misplaced(first.owner, &format!("{}, which stands there twice", place())));
            }
            let wanted = Place::Header(name.as_str().to_owned());
            let mut out = zeroize::Zeroizing::new(Vec::new());
            let mut at = 0;
            for found in &look.found {
                let key = self.may(found.owner, &wanted).filter(|_| found.plain);
                let key = key.ok_or_else(|| self.misplaced(found.owner, &place()))?;
                out.extend_from_slice(value.as_bytes().get(at..found.range.start).unwrap_or_default());
                out.extend_from_slice(written(key));
                at = found.range.end;
            }
            out.extend_from_slice(value.as_bytes().get(at..).unwrap_or_default());
            look.found.iter().for_each(|found| self.using(found.owner));
            changed.push((name.clone(), self.sensitive(&out, first)?));
            Ok(())
        })
    }

    /// `Basic` with a placeholder as the user name or the password, put together again; none if it is something else.
    fn basic(
        &mut self,
        name: &HeaderName,
        value: &HeaderValue,
        alone: bool,
    ) -> Result<Option<HeaderValue>, Refusal> {
        if *name != header::AUTHORIZATION {
            return Ok(None);
        }
        let Some((scheme, rest)) =
            std::str::from_utf8(value.as_bytes()).ok().and_then(|text| text.split_once(' '))
        else {
            return Ok(None);
        };
        let Some(mut basic) =
            Some(rest).filter(|_| scheme.eq_ignore_ascii_case("basic")).and_then(Basic::decode)
        else {
            return Ok(None);
        };
        let mut first = None;
        for half in [&mut basic.user, &mut basic.password] {
            let is = |key: &Arc<Key>| key.placeholder().as_str().as_bytes() == half.as_slice();
            let Some(owner) = self.ring.keys().iter().position(is) else { continue };
            let key = self.may(owner, &Place::Basic).filter(|_| alone);
            let key = key.ok_or_else(|| self.misplaced(owner, "the user or password of `Basic`"))?;
            *half = zeroize::Zeroizing::new(key.value().to_vec());
            first.get_or_insert(owner);
            self.using(owner);
        }
        let Some(first) = first else { return Ok(None) };
        let mut text = zeroize::Zeroizing::new(format!("{scheme} ").into_bytes());
        text.extend_from_slice(basic.encode().as_bytes());
        let mut value = HeaderValue::from_bytes(&text)
            .map_err(|_| self.misplaced(first, "the user or password of `Basic`"))?;
        value.set_sensitive(true);
        Ok(Some(value))
    }

    fn sensitive(&self, bytes: &[u8], about: &Found) -> Result<HeaderValue, Refusal> {
        let mut value =
            HeaderValue::from_bytes(bytes).map_err(|_| self.misplaced(about.owner, "a header"))?;
        value.set_sensitive(true);
        Ok(value)
    }

    /// The target with values in it; none if it stays.
    fn target(&mut self, parts: &Parts, watch: &Needles) -> Result<Option<http::Uri>, Refusal> {
        if let Some(authority) = parts.uri.authority()
            && let Some(found) = watch.look(authority.as_str().as_bytes(), true).found.first()
        {
            return Err(self.misplaced(found.owner, "the host of the URL"));
        }
        let Some(target) = parts.uri.path_and_query() else { return Ok(None) };
        if watch.look(target.as_str().as_bytes(), true).found.is_empty() {
            return Ok(None);
        }
        let mut used = Vec::new();
        let written = Target::of(target.as_str()).written(watch, |owner, place| {
            let key = self.may(owner, &place)?;
            used.push(owner);
            Some(Arc::clone(key))
        });
        let written = written.map_err(|(owner, place)| self.misplaced(owner, &place))?;
        for owner in &used {
            self.using(*owner);
        }
        let first = used.first().copied().unwrap_or_default();
        let mut uri = parts.uri.clone().into_parts();
        let target = http::uri::PathAndQuery::try_from(written.as_slice());
        uri.path_and_query = Some(target.map_err(|_| self.misplaced(first, "the URL"))?);
        http::Uri::from_parts(uri).map(Some).map_err(|_| self.misplaced(first, "the URL"))
    }

    fn no_foreign(&self, parts: &Parts, bound: &[Arc<Key>]) -> Result<(), Refusal> {
        if !bound.iter().any(|key| key.refuses_foreign()) || crate::guard::off("foreign") {
            return Ok(());
        }
        let places = || bound.iter().flat_map(|key| key.places());
        let own = Own {
            placeholders: bound.iter().map(|key| key.placeholder().as_str()).collect(),
            headers: places()
                .filter_map(|place| if let Place::Header(name) = place { Some(name.as_str()) } else { None })
                .collect(),
            parameters: places()
                .filter_map(|place| if let Place::Query(name) = place { Some(name.as_str()) } else { None })
                .collect(),
        };
        match foreign::place_of_foreign(parts, &own) {
            Some(place) => Err(self.to.refuse(Code::CredentialForeign, &format!("in {place}"))),
            None => Ok(()),
        }
    }

    /// Headers by which a server takes a request for one with another method or path than it has: not with a key that is
    /// bound to some.
    fn no_disguise(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        const METHOD: [&str; 3] = ["x-http-method-override", "x-http-method", "x-method-override"];
        const PATH: [&str; 4] = ["x-original-url", "x-rewrite-url", "x-original-uri", "x-forwarded-prefix"];
        for name in headers.keys() {
            let dashed = name.as_str().replace('_', "-");
            let method = METHOD.contains(&dashed.as_str()) && !crate::guard::off("secret-method");
            let path = PATH.contains(&dashed.as_str()) && !crate::guard::off("secret-path");
            let limited = self.used.iter().find(|owner| {
                self.ring.keys().get(**owner).is_some_and(|key| {
                    let binding = key.binding();
                    (method && !binding.methods.is_empty()) || (path && !binding.paths.is_empty())
                })
            });
            if let Some(owner) = limited {
                return Err(self.misplaced(*owner, &format!("a request with the header `{name}`")));
            }
        }
        Ok(())
    }

    fn body(&self, headers: &mut HeaderMap, usable: &[Arc<Key>]) -> Result<BodyPlan, Refusal> {
        let essence =
            headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let essence = essence.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let (place, escaped): (_, Escape) = match essence.as_str() {
            "application/x-www-form-urlencoded" => (Place::Form, url::escaped),
            "application/json" => (Place::Json, json_escaped),
            other if other.starts_with("application/") && other.ends_with("+json") => {
                (Place::Json, json_escaped)
            }
            _ => return Ok(BodyPlan::default()),
        };
        let keys: Vec<Arc<Key>> = usable.iter().filter(|key| key.has_place(&place)).map(Arc::clone).collect();
        if keys.is_empty() {
            return Ok(BodyPlan::default());
        }
        let coding = Coding::of(headers).map_err(|error| {
            self.to.refuse(Code::SecretPlace, &format!("the body may hold a placeholder, and {error}"))
        })?;
        let keeps_length = keys.iter().all(|key| key.same_shape());
        if coding.is_some() {
            headers.remove(header::CONTENT_ENCODING);
        }
        if coding.is_some() || !keeps_length {
            headers.remove(header::CONTENT_LENGTH);
        }
        let stream = Stream::new(Arc::new(Needles::new(needle::writing(&keys, escaped))));
        let regions = match place {
            Place::Form => super::body::region::Regions::form(stream),
            _ => super::body::region::Regions::json(stream),
        };
        let owners = keys.iter().map(|key| key.name().clone()).collect();
        let work = Work { coding, tool: Tool::Regions(regions), trailers: None, owners, keeps_length };
        Ok(BodyPlan { work: Some(work), written: Written::default() })
    }
}

/// What is written in the placeholder's stead.
fn written(key: &Key) -> &[u8] {
    if crate::guard::off("substitution") { key.placeholder().as_str().as_bytes() } else { key.value() }
}

/// A text as it stands in JSON.
fn json_escaped(text: &[u8]) -> Vec<u8> {
    let escape = |byte: &u8| matches!(byte, b'"' | b'\\').then_some(b'\\').into_iter().chain([*byte]);
    text.iter().flat_map(escape).collect()
}

/// Asks for an answer in which a value can be found.
fn make_readable(headers: &mut HeaderMap) {
    headers.remove(header::SEC_WEBSOCKET_EXTENSIONS);
    if crate::guard::off("accept-encoding") {
        return;
    }
    headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    for name in ["grpc-accept-encoding", "connect-accept-encoding"] {
        if headers.contains_key(name) {
            headers.insert(name, HeaderValue::from_static("identity"));
        }
    }
    // A value cut in two by ranges would be found in neither part; A-IM asks for differences (RFC 3229).
    for name in [header::RANGE, header::IF_RANGE, HeaderName::from_static("a-im")] {
        headers.remove(name);
    }
}

fn messages(usable: &[Arc<Key>]) -> Option<Messages> {
    let keys: Vec<Arc<Key>> =
        usable.iter().filter(|key| key.has_place(&Place::WebSocket)).map(Arc::clone).collect();
    let names = keys.iter().map(|key| key.name().clone()).collect();
    let needles = || Arc::new(Needles::new(needle::writing(&keys, json_escaped)));
    (!keys.is_empty()).then(|| Messages { needles: needles(), names })
}

#[cfg(test)]
mod tests;
