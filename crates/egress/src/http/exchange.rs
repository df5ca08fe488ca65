//! One request and its answer.

use std::sync::Arc;

use http::request;
use http_body::Body as _;
use http_body_util::Either;
use hyper::body::Incoming;
use hyper::header::{EXPECT, HOST, HeaderMap, HeaderValue, UPGRADE};
use hyper::{Method, Request, Response, StatusCode, Uri};

use super::answer::{self, Body};
use super::carried::Carried;
use super::crossing::{self, Crossing};
use super::go::{Go, Word};
use super::head::{Framing, Head, HeadError, Target};
use super::session::{Authority, Session, Switch};
use super::upstream::Upstream;
use super::websocket::Talk;
use super::{agree, headers};
use crate::credential::response::Scrub;
use crate::passage::Passage;
use crate::policy::Permit;
use crate::refusal::{Code, Refusal, Subject};
use crate::registry::Stop;
use crate::rule::Kind;

/// Judges a request, passes it on, and returns the host's answer.
pub(super) async fn run(session: &Session<'_>, request: Request<Incoming>) -> Result<Response<Body>, Stop> {
    let head = strict_head(session, &request)?;
    if let Authority::Refused(refusal) = &session.authority {
        return Err(Stop::Refused(refusal.clone()));
    }
    if let Target::Authority(authority) = &head.target {
        return connect(session, authority, &head, request);
    }
    let permit = permit(session, &head)?;
    if let Err(named) = agree::check(&head, &permit)
        && !crate::guard::off("http-host")
    {
        return Err(permit.refuse(Code::HostHeader, &format!("`{named}`")).into());
    }
    pass_on(session, &permit, head, request).await
}

/// What the gate read. It must be the request hyper read: if they differ, one of the two was misled.
fn strict_head(session: &Session<'_>, request: &Request<Incoming>) -> Result<Head, Stop> {
    match session.keeper.next_head() {
        Some(Ok(head)) if head.method == request.method().as_str() => Ok(head),
        Some(Ok(_)) => Err(session.refuse(Code::NotHttp, "two readings of one request").into()),
        Some(Err(error)) => Err(session.refuse(answer::code(error), &error.to_string()).into()),
        None if crate::guard::off("http-head") => Ok(lenient_head(request)),
        None => Err(session.refuse(Code::NotHttp, &HeadError::RequestLine.to_string()).into()),
    }
}

/// A head as hyper alone reads it, for the controls of the tests.
fn lenient_head(request: &Request<Incoming>) -> Head {
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default().to_owned();
    let path = path_of(request.uri());
    let target = match request.uri().authority().map(ToString::to_string) {
        Some(authority) if request.method() == Method::CONNECT => Target::Authority(authority),
        Some(authority) => Target::Absolute { authority, path },
        None => Target::Origin(path),
    };
    Head {
        method: request.method().to_string(),
        target,
        host,
        framing: Framing::None,
        websocket: request.headers().contains_key(UPGRADE),
    }
}

fn path_of(uri: &Uri) -> String {
    uri.path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string)
}

/// The permit of a request: the connection's, or for an explicit proxy that of the host the request names.
fn permit(session: &Session<'_>, head: &Head) -> Result<Arc<Permit>, Stop> {
    let named = match (&session.authority, &head.target) {
        (Authority::Fixed(permit), _) => return Ok(Arc::clone(permit)),
        (_, Target::Absolute { authority, .. }) => authority,
        _ => {
            return Err(session
                .refuse(Code::NotHttp, "a proxy needs the whole URL in the request line")
                .into());
        }
    };
    let permit = session.enter(named, 80)?;
    if permit.kind() == Kind::Http {
        return Ok(permit);
    }
    Err(permit.refuse(Code::NotTls, "a request in the clear to a port for TLS or raw TCP").into())
}

/// CONNECT to an explicit proxy: judged now; what is spoken afterwards is held to the rule's protocol.
fn connect(
    session: &Session<'_>,
    authority: &str,
    head: &Head,
    mut request: Request<Incoming>,
) -> Result<Response<Body>, Stop> {
    if !matches!(session.authority, Authority::Proxy) {
        return Err(session.refuse(Code::Method, "CONNECT").into());
    }
    // RFC 9110 §9.3.6: there is no usual port; `Host` is the same authority.
    let port = authority.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).unwrap_or_default();
    let permit = session.enter(authority, port)?;
    let same = agree::split(&head.host, port)
        .is_some_and(|(name, at)| name == *permit.name() && at == permit.port());
    if !same && !crate::guard::off("http-host") {
        return Err(permit.refuse(Code::HostHeader, &format!("`{}`", head.host)).into());
    }
    session.switch(Switch::Connect { inner: hyper::upgrade::on(&mut request), permit });
    Ok(answer::empty(StatusCode::OK))
}

async fn pass_on(
    session: &Session<'_>,
    permit: &Arc<Permit>,
    head: Head,
    mut request: Request<Incoming>,
) -> Result<Response<Body>, Stop> {
    let websocket = head.websocket;
    let inner = websocket.then(|| hyper::upgrade::on(&mut request));
    let (from, body) = request.into_parts();
    let (mut parts, target) = outgoing(permit, head, &from.headers)?;
    let Session { core, entry, .. } = session;
    let crossing = Crossing::begin(core, &entry.flow, permit, true, &mut parts, &target)?;
    let Crossing { passage, body: plan, scrub, messages } = crossing;
    if entry.sink.is_some() {
        passage.is_a_test();
    }
    let go = waits(&parts.headers, &body).then(Arc::<Word>::default);
    let body = Carried::up(body, Arc::clone(&passage), go.clone().map(Go::on));
    let mut outgoing = Request::from_parts(parts, plan.wrap(body));
    if let Some(word) = go {
        hyper::ext::on_informational(&mut outgoing, move |answer| {
            if answer.status() == StatusCode::CONTINUE {
                word.give();
            }
        });
    }
    let kept = session.take_upstream();
    let (upstream, mut answer) =
        Upstream::send(core, entry, permit, &session.road, kept, outgoing).await.map_err(|stop| {
            // Whoever was cut has nobody to tell.
            if entry.flow.is_cut() { Stop::Cut } else { stop }
        })?;
    if answer.status() != StatusCode::SWITCHING_PROTOCOLS {
        let answer = incoming(answer, false, &passage, &scrub)?;
        session.keep_upstream(upstream);
        if websocket {
            session.keeper.go_on();
        }
        return Ok(answer);
    }
    let agreed =
        answer.headers().get(UPGRADE).is_some_and(|to| to.as_bytes().eq_ignore_ascii_case(b"websocket"));
    let Some(inner) = inner.filter(|_| agreed) else {
        return Err(permit.refuse(Code::Upgrade, "the host switched to what was not asked for").into());
    };
    let outer = hyper::upgrade::on(&mut answer);
    let answer = incoming(answer, true, &passage, &scrub)?;
    let talk = Talk::new(&passage, &scrub, messages);
    session.switch(Switch::WebSocket { inner, outer, upstream, talk });
    Ok(answer)
}

/// Whether the cell waits for the host's word before it sends the body.
fn waits(headers: &HeaderMap, body: &Incoming) -> bool {
    let expects =
        headers.get(EXPECT).is_some_and(|what| what.as_bytes().eq_ignore_ascii_case(b"100-continue"));
    expects && !body.is_end_stream()
}

/// The head of the request for the host, and its target as the cell wrote it.
fn outgoing(permit: &Permit, head: Head, headers: &HeaderMap) -> Result<(request::Parts, String), Stop> {
    let path = match head.target {
        Target::Origin(path) => path,
        Target::Absolute { path, .. } if permit.kind() == Kind::Http => path,
        Target::Absolute { .. } => {
            return Err(permit.refuse(Code::NotHttp, "a URL in the clear inside TLS").into());
        }
        Target::Asterisk => "*".to_owned(),
        Target::Authority(_) => return Err(permit.refuse(Code::Method, "CONNECT").into()),
    };
    let host = if crate::guard::off("http-host") { head.host } else { agree::authority(permit) };
    let host = HeaderValue::from_str(&host)
        .map_err(|_| Stop::from(permit.refuse(Code::HostHeader, "not printable")))?;
    let (mut parts, ()) = Request::new(()).into_parts();
    parts.method = Method::from_bytes(head.method.as_bytes())
        .map_err(|_| Stop::from(permit.refuse(Code::Method, "not a method")))?;
    parts.headers = headers::for_host(headers, host, head.websocket);
    Ok((parts, path))
}

fn incoming(
    answer: Response<Incoming>,
    websocket: bool,
    passage: &Arc<Passage>,
    scrub: &Scrub,
) -> Result<Response<Body>, Stop> {
    let (from, body) = answer.into_parts();
    let (mut parts, ()) = Response::new(()).into_parts();
    parts.status = from.status;
    parts.headers = headers::for_cell(&from.headers, websocket);
    let plan = crossing::answered(passage, scrub, &mut parts)?;
    let body = plan.wrap(Carried::down(body, Arc::clone(passage)));
    Ok(Response::from_parts(parts, Either::Right(body)))
}

impl Session<'_> {
    /// A refusal about the connection's host, or about nobody where none is known yet.
    pub(super) fn refuse(&self, code: Code, detail: &str) -> Refusal {
        match &self.authority {
            Authority::Fixed(permit) => permit.refuse(code, detail),
            Authority::Refused(refusal) => refusal.as_ref().clone(),
            Authority::Proxy => self.refuse_host(code, "proxy", None, detail),
        }
    }

    fn refuse_host(&self, code: Code, host: &str, port: Option<u16>, detail: &str) -> Refusal {
        let policy = self.entry.policy();
        Refusal::new(code, Subject { server: policy.server(), host, port, rule: None }, detail)
    }

    /// Judges the flow for the host an explicit proxy was asked for.
    fn enter(&self, authority: &str, usual: u16) -> Result<Arc<Permit>, Stop> {
        let Some((name, port)) = agree::split(authority, usual).filter(|(_, port)| *port != 0) else {
            let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
            return Err(self.refuse_host(Code::Name, host, None, "").into());
        };
        let same = self
            .entry
            .flow
            .seat()
            .permit
            .clone()
            .filter(|permit| *permit.name() == name && permit.port() == port);
        if let Some(permit) = same {
            return Ok(permit);
        }
        // What is connected is another host's.
        drop(self.take_upstream());
        self.entry.enter(&name, port)
    }
}
