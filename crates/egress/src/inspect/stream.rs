//! One request of HTTP/2 and its answer.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use h2::client::ResponseFuture;
use h2::server::SendResponse;
use h2::{Reason, RecvStream};
use http::header::{HOST, HeaderValue, TE};
use http::{Method, Request, Response, StatusCode, Uri, Version, request};
use http_body::Body;

use super::host::{self, Host};
use super::pump::{Pump, PumpError, Received};
use crate::credential::body::Rewritten;
use crate::credential::response::Scrub;
use crate::event::Event;
use crate::http::carried::Carried;
use crate::http::crossing::{self, Crossing};
use crate::http::{agree, headers};
use crate::passage::Passage;
use crate::refusal::{Code, Refusal};
use crate::registry::Stop;
use crate::ticket::Party;

/// Longest a cut request waits until the system has taken what was on its way when it was cut. A connection over which
/// nothing moves is cut whole then: nobody could tell when the rest of it would leave.
const TAKEN: Duration = Duration::from_millis(40);

/// Why a request did not get its whole answer.
enum Failed {
    /// Before an answer began: it can be told.
    Stop(Stop),
    /// It was for another host.
    Misdirected(Box<Refusal>),
    /// One side gave up.
    Reset(Reason),
    /// It was cut.
    Cut,
}

impl From<Stop> for Failed {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

impl From<Refusal> for Failed {
    fn from(refusal: Refusal) -> Self {
        Self::Stop(refusal.into())
    }
}

/// Judges a request, passes it on, and passes its answer back.
pub(super) async fn run(host: Arc<Host>, request: Request<RecvStream>, mut respond: SendResponse<Bytes>) {
    let (refusal, status) = match exchange(&host, request, &mut respond).await {
        Ok(()) => return,
        Err(Failed::Stop(Stop::Refused(refusal))) => (refusal, None),
        Err(Failed::Misdirected(refusal)) => (refusal, Some(StatusCode::MISDIRECTED_REQUEST)),
        Err(Failed::Reset(reason)) => {
            respond.send_reset(reason);
            return;
        }
        Err(Failed::Cut | Failed::Stop(Stop::Cut)) => {
            respond.send_reset(Reason::CANCEL);
            return;
        }
    };
    host.core.log.record(Event::Refused(Refusal::clone(&refusal)));
    host::say(&mut respond, &refusal, status);
}

async fn exchange(
    host: &Host,
    request: Request<RecvStream>,
    respond: &mut SendResponse<Bytes>,
) -> Result<(), Failed> {
    let (from, body) = request.into_parts();
    let (mut parts, target) = checked(host, &from)?;
    let crossing = Crossing::begin(&host.core, &host.flow, &host.permit, false, &mut parts, &target)?;
    let Crossing { passage, body: plan, scrub, .. } = crossing;
    parts.uri = absolute(host, &from, &parts.uri)?;
    parts.version = Version::HTTP_2;
    let body = plan.wrap(Carried::up(Received::new(body), Arc::clone(&passage), None));
    let mut sender = host.ready(&passage).await?;
    let _slot = Slot(host);
    let ended = body.is_end_stream();
    let sent = sender.send_request(Request::from_parts(parts, ()), ended);
    let (answer, to) = sent.map_err(|error| host.lost(&error))?;
    let up = Pump::new(body, to);
    let mut going = Going { passage, scrub, up, uploaded: ended, answer, down: None };
    let done = poll_fn(|cx| going.poll(cx, respond, host)).await;
    let Err(failed) = done else {
        if !going.uploaded {
            going.up.reset(Reason::CANCEL);
        }
        return Ok(());
    };
    going.up.reset(Reason::CANCEL);
    if let Some(down) = &mut going.down {
        down.reset(if let Failed::Reset(reason) = failed { reason } else { Reason::CANCEL });
    }
    if matches!(failed, Failed::Cut) {
        // What was cut is not over before nothing of it can leave any more.
        respond.send_reset(Reason::CANCEL);
        if tokio::time::timeout(TAKEN, host.written.taken()).await.is_err() {
            host.flow.abort();
        }
    }
    Err(failed)
}

/// One of the requests the host takes at once.
struct Slot<'a>(&'a Host);

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.0.over();
    }
}

/// A request under way.
struct Going {
    passage: Arc<Passage>,
    scrub: Scrub,
    up: Pump<Rewritten<Carried<Received>>>,
    uploaded: bool,
    answer: ResponseFuture,
    down: Option<Pump<Rewritten<Carried<Received>>>>,
}

impl Going {
    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        respond: &mut SendResponse<Bytes>,
        host: &Host,
    ) -> Poll<Result<(), Failed>> {
        if self.passage.ticket.poll_cut(Party::Head, cx).is_ready() {
            return Poll::Ready(Err(Failed::Cut));
        }
        if !self.uploaded
            && let Poll::Ready(uploaded) = self.up.poll(cx)
        {
            self.uploaded = self.up.is_done();
            match uploaded {
                Ok(()) => {}
                // A host may answer before it has all, and not want the rest; the answer then says the rest.
                Err(PumpError::Unwanted(_)) => self.uploaded = true,
                Err(PumpError::Ended(reason)) => return Poll::Ready(Err(self.why(reason))),
            }
        }
        if self.down.is_none() {
            match self.poll_head(cx, respond, host) {
                Poll::Ready(Ok(true)) => return Poll::Ready(Ok(())),
                Poll::Ready(Ok(false)) => {}
                Poll::Ready(Err(failed)) => return Poll::Ready(Err(failed)),
                Poll::Pending => return Poll::Pending,
            }
        }
        let Some(down) = &mut self.down else { return Poll::Pending };
        down.poll(cx).map_err(|error| match error {
            PumpError::Unwanted(reason) | PumpError::Ended(reason) => self.why(reason),
        })
    }

    /// Ready when the head of the answer was passed on; true if there is nothing more.
    fn poll_head(
        &mut self,
        cx: &mut Context<'_>,
        respond: &mut SendResponse<Bytes>,
        host: &Host,
    ) -> Poll<Result<bool, Failed>> {
        if let Poll::Ready(gone) = respond.poll_reset(cx) {
            return Poll::Ready(Err(Failed::Reset(gone.unwrap_or(Reason::CANCEL))));
        }
        while let Poll::Ready(Some(Ok(early))) = self.answer.poll_informational(cx) {
            let (from, ()) = early.into_parts();
            let (mut parts, ()) = Response::new(()).into_parts();
            parts.status = from.status;
            parts.headers = headers::for_cell(&from.headers, false);
            crossing::answered(&self.passage, &self.scrub, &mut parts)?;
            // Whoever does not take it is told the rest all the same.
            let _unsent = respond.send_informational(Response::from_parts(parts, ())).is_err();
        }
        let answer = match Pin::new(&mut self.answer).poll(cx) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Ok(answer)) => answer,
            Poll::Ready(Err(error)) => {
                return Poll::Ready(Err(match error.reason() {
                    Some(reason) if error.is_reset() && error.is_remote() => Failed::Reset(reason),
                    _ => host.lost(&error).into(),
                }));
            }
        };
        let (from, body) = answer.into_parts();
        let (mut parts, ()) = Response::new(()).into_parts();
        parts.status = from.status;
        parts.headers = headers::for_cell(&from.headers, false);
        let plan = crossing::answered(&self.passage, &self.scrub, &mut parts)?;
        let body = plan.wrap(Carried::down(Received::new(body), Arc::clone(&self.passage)));
        let ended = body.is_end_stream();
        match respond.send_response(Response::from_parts(parts, ()), ended) {
            Ok(_) if ended => Poll::Ready(Ok(true)),
            Ok(to) => {
                self.down = Some(Pump::new(body, to));
                Poll::Ready(Ok(false))
            }
            Err(error) => Poll::Ready(Err(Failed::Reset(error.reason().unwrap_or(Reason::INTERNAL_ERROR)))),
        }
    }

    fn why(&self, reason: Reason) -> Failed {
        if self.passage.ticket.is_cut() { Failed::Cut } else { Failed::Reset(reason) }
    }
}

/// The head as it came, checked and taken over for the host; and the target as the cell wrote it.
fn checked(host: &Host, from: &request::Parts) -> Result<(request::Parts, String), Failed> {
    let permit = &host.permit;
    let method = from.method.as_str();
    let plain = |byte: u8| byte.is_ascii_uppercase() || matches!(byte, b'-' | b'_');
    if matches!(method, "CONNECT" | "TRACE" | "TRACK") && !crate::guard::off("http-method") {
        return Err(permit.refuse(Code::Method, &format!("`{method}`")).into());
    }
    if method.len() > 32 || !method.bytes().all(plain) {
        return Err(permit.refuse(Code::NotHttp, "a malformed method").into());
    }
    if from.headers.len() > host.core.limits.headers {
        return Err(permit.refuse(Code::Size, "more headings than the limit").into());
    }
    agrees(host, from)?;
    let target = from.uri.path_and_query().map_or("/", |target| target.as_str());
    let asterisk = target == "*" && from.method == Method::OPTIONS;
    let origin = target.starts_with('/');
    if !(asterisk || origin) || !target.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#') {
        return Err(permit.refuse(Code::NotHttp, "a malformed target").into());
    }
    let (mut parts, ()) = Request::new(()).into_parts();
    parts.method = from.method.clone();
    for (name, value) in &from.headers {
        if *name != HOST && !headers::is_hop_by_hop(name) {
            parts.headers.append(name, value.clone());
        }
    }
    // RFC 9113 §8.2.2: the one value that may stand; gRPC asks for it.
    if from.headers.get(TE).is_some_and(|te| te == "trailers") {
        parts.headers.insert(TE, HeaderValue::from_static("trailers"));
    }
    Ok((parts, target.to_owned()))
}

/// `:scheme`, `:authority` and `Host` must be the host's the connection is to.
fn agrees(host: &Host, from: &request::Parts) -> Result<(), Failed> {
    let permit = &host.permit;
    if crate::guard::off("http-host") {
        return Ok(());
    }
    let elsewhere =
        |named: &str| Failed::Misdirected(Box::new(permit.refuse(Code::HostHeader, &format!("`{named}`"))));
    if from.uri.scheme_str().is_some_and(|scheme| scheme != "https") {
        return Err(permit.refuse(Code::NotHttp, "a scheme other than https inside TLS").into());
    }
    let mut named = false;
    if let Some(authority) = from.uri.authority() {
        agree::names(authority.as_str(), permit).map_err(|other| elsewhere(&other))?;
        named = true;
    }
    for value in from.headers.get_all(HOST) {
        let value = value.to_str().map_err(|_| elsewhere("not printable"))?;
        agree::names(value, permit).map_err(|other| elsewhere(&other))?;
        named = true;
    }
    if named { Ok(()) } else { Err(elsewhere("")) }
}

/// The target with the host in front, the permit's own name whatever the spelling was.
fn absolute(host: &Host, from: &request::Parts, target: &Uri) -> Result<Uri, Failed> {
    let named = from.uri.authority().filter(|_| crate::guard::off("http-host"));
    let authority = named.map_or_else(|| agree::authority(&host.permit), ToString::to_string);
    let target = target.path_and_query().map_or("/", |target| target.as_str());
    Uri::builder()
        .scheme("https")
        .authority(authority)
        .path_and_query(target)
        .build()
        .map_err(|_| host.permit.refuse(Code::NotHttp, "a malformed target").into())
}
