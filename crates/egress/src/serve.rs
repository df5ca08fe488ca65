//! A connection from the cell, from its acceptance to its end.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;

use crate::edge::Core;
use crate::event::{End, Event};
use crate::flow;
use crate::half::Half;
use crate::http::conversation;
use crate::http::session::{Authority, Outcome};
use crate::http::upstream::{Road, Upstream};
use crate::inspect::{self, Opened, two};
use crate::name::HostName;
use crate::policy::Permit;
use crate::refusal::{Code, Refusal, Subject};
use crate::registry::{Entry, Stop};
use crate::rule::Kind;
use crate::tls::greeting::{self, GreetingError};
use crate::tls::hello::Hello;
use crate::tunnel;
use crate::wire::Wire;

/// Longest time, and most bytes, that a connection is read on after its last answer.
const LINGER: Duration = Duration::from_secs(2);
const LINGER_BYTES: usize = 4 * 1024 * 1024;

/// Where a connection from the cell came in.
#[derive(Debug, Clone)]
pub(crate) enum Door {
    /// At the address of a host, and a port of it.
    Host {
        /// The host.
        name: HostName,
        /// The port.
        port: u16,
        /// What a rule said is spoken there: how to answer when none does any more.
        kind: Kind,
    },
    /// At the explicit proxy.
    Proxy,
}

/// Serves a connection to its end, its cut, or its falling silent.
pub(crate) async fn run(core: Arc<Core>, door: Door, stream: TcpStream) {
    // Small messages are not held back; without this option they are only slower.
    drop(stream.set_nodelay(true));
    let stream = Arc::new(stream);
    let Some(mut entry) = core.registry.open(Arc::clone(&stream)) else {
        refuse_more(&core, &door);
        flow::reset(&stream);
        return;
    };
    entry.sink = core.sinks.take(&stream);
    let flow = Arc::clone(&entry.flow);
    let half = Half::inner(stream, Arc::clone(&flow.meter));
    let end = tokio::select! {
        biased;
        () = flow.until_cut() => End::Cut,
        end = speak(&core, &entry, door, half) => end,
        () = flow.meter.idle(core.limits.idle) => End::Idle,
    };
    // What was cut was reset then.
    if !matches!(end, End::Finished | End::Cut) {
        flow.abort();
    }
    entry.close(if flow.is_cut() { core.cut_end() } else { end });
}

/// Puts down that there are too many connections. One event, however many.
fn refuse_more(core: &Core, door: &Door) {
    let policy = core.registry.policy();
    let (host, port) = match door {
        Door::Host { name, port, .. } => (name.as_str(), Some(*port)),
        Door::Proxy => ("proxy", None),
    };
    let subject = Subject { server: policy.server(), host, port, rule: None };
    core.log.record(Event::Refused(Refusal::new(Code::Limit, subject, "too many connections at once")));
}

async fn speak(core: &Arc<Core>, entry: &Entry, door: Door, half: Half) -> End {
    let spoken = match door {
        Door::Proxy => http(core, entry, Authority::Proxy, Wire::Plain(half), None).await,
        Door::Host { name, port, kind } => match entry.enter(&name, port) {
            Ok(permit) => pass(core, entry, permit, half).await,
            // Over HTTP a refusal can be read; elsewhere a reset is all there is.
            Err(Stop::Refused(refusal)) if kind == Kind::Http => {
                http(core, entry, Authority::Refused(refusal), Wire::Plain(half), None).await
            }
            Err(stop) => Err(stop.into()),
        },
    };
    match spoken {
        Ok(()) => End::Finished,
        Err(Broken::Lost) => End::Lost,
        Err(Broken::Refused(refusal)) => {
            core.log.record(Event::Refused(*refusal));
            End::Lost
        }
    }
}

/// Why a connection did not end well.
enum Broken {
    Lost,
    Refused(Box<Refusal>),
}

impl From<Stop> for Broken {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Refused(refusal) => Self::Refused(refusal),
            Stop::Cut => Self::Lost,
        }
    }
}

impl From<GreetingError> for Broken {
    fn from(error: GreetingError) -> Self {
        match error {
            GreetingError::Refused(refusal) => Self::Refused(refusal),
            GreetingError::Lost => Self::Lost,
        }
    }
}

impl From<io::Error> for Broken {
    fn from(_: io::Error) -> Self {
        Self::Lost
    }
}

/// Serves HTTP/1.1, over TLS to the host where there is a road and a first connection already.
async fn http(
    core: &Arc<Core>,
    entry: &Entry,
    authority: Authority,
    wire: Wire,
    host: Option<(Road, Option<Upstream>)>,
) -> Result<(), Broken> {
    let outcome =
        conversation::run(core, entry, authority, wire, host.unwrap_or((Road::Plain, None))).await?;
    match outcome {
        Outcome::Over => {
            let inner = Arc::clone(&entry.flow.seat().inner);
            // Whoever takes longer only loses an answer.
            drop(tokio::time::timeout(LINGER, leave_off(&inner)).await);
            Ok(())
        }
        Outcome::WebSocket { inner: Wire::Plain(inner), outer: Wire::Plain(outer), mut talk }
            if talk.unread =>
        {
            let (said, heard) = talk.early();
            Ok(between(core, entry, inner.with_early(&said), outer.with_early(&heard)).await?)
        }
        Outcome::WebSocket { inner, outer, talk } => Ok(talk.run(inner, outer).await?),
        Outcome::Connect { inner: Wire::Plain(inner), permit } => {
            Box::pin(pass(core, entry, permit, inner)).await
        }
        // CONNECT is taken by the explicit proxy only, which is spoken to in the clear.
        Outcome::Connect { .. } => Err(Broken::Lost),
    }
}

/// Reads what is still on its way and throws it away: closed before that, the connection would be reset and an answer
/// lost that has not been read yet (RFC 9112 §9.6).
async fn leave_off(stream: &TcpStream) {
    let mut space = [0; 4096];
    let mut left = LINGER_BYTES;
    while left > 0 && stream.readable().await.is_ok() {
        match stream.try_read(&mut space) {
            Ok(0) => return,
            Ok(count) => left = left.saturating_sub(count),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => return,
        }
    }
}

/// Speaks what the rule says is spoken.
async fn pass(core: &Arc<Core>, entry: &Entry, permit: Arc<Permit>, half: Half) -> Result<(), Broken> {
    let half = match permit.kind() {
        Kind::Http => {
            return http(core, entry, Authority::Fixed(permit), Wire::Plain(half), None).await;
        }
        Kind::Tls => {
            let answered = core.authority.is_some();
            let (half, hello) = greeting::read(half, &permit, core.limits.hello_time, answered).await?;
            match hello {
                Some(hello) if permit.inspect() || (hello.ech && answered && !crate::guard::off("ech")) => {
                    return look_into(core, entry, &permit, half, &hello).await;
                }
                None if permit.inspect() => return Err(Broken::Lost),
                _ => half,
            }
        }
        Kind::Tcp => half,
    };
    let stream = core.connect(entry, &permit).await?;
    let outer = Half::outer(stream, Arc::clone(&entry.flow.meter));
    Ok(between(core, entry, half, outer).await?)
}

/// Takes TLS off, towards both sides.
async fn look_into(
    core: &Arc<Core>,
    entry: &Entry,
    permit: &Arc<Permit>,
    half: Half,
    hello: &Hello,
) -> Result<(), Broken> {
    match inspect::open(core, entry, permit, half, hello).await? {
        Opened::Two { inner, outer } => Ok(two::run(core, entry, permit, inner, outer).await?),
        Opened::TwoRefused { inner, refusal } => Ok(two::refuse(core, inner, &refusal).await?),
        Opened::One { inner, authority, road, upstream } => {
            http(core, entry, authority, inner, Some((road, upstream))).await
        }
    }
}

async fn between(core: &Core, entry: &Entry, inner: Half, outer: Half) -> io::Result<()> {
    let (inner, inner_early) = inner.into_parts();
    let (outer, outer_early) = outer.into_parts();
    tunnel::run((&inner, inner_early), (&outer, outer_early), &entry.flow.meter, &core.pipes).await
}
