//! What would happen to a request, without making it.

use serde::Serialize;

use crate::dial::{Dialer, Target, Way};
use crate::name::{HostName, spelled_address};
use crate::path::CanonicalPath;
use crate::permit::Permit;
use crate::policy::Policy;
use crate::refusal::{Code, Refusal, Subject};
use crate::rule::Kind;

/// What would happen to a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The host as it would be judged.
    pub host: String,
    /// The TCP port.
    pub port: u16,
    /// The rule that lets it through; none if it is refused by the rules.
    pub rule: Option<String>,
    /// What is spoken on the port.
    pub kind: Option<Kind>,
    /// Whether TLS is taken off there, and requests are looked at one by one.
    pub inspect: bool,
    /// The request that was judged, as `GET /path`; none where only the connection was.
    pub request: Option<String>,
    /// Where the connection would go, each place with its port; empty if it is refused.
    pub way: Vec<String>,
    /// Why it would be refused, with the remedy.
    pub refusal: Option<Refusal>,
}

/// A text that is no URL with a host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a URL such as `https://api.example.com/path` or `tcp://db.example.com:5432`")]
pub struct UrlError {
    /// The text, fit for a terminal.
    pub text: String,
}

/// What would happen to a request for `url` under these rules: which of them would decide, and where it would go. Looks
/// the name up if the rules allow it, and connects nowhere.
///
/// Without a method it is `GET`; without a method and a path only the connection is judged.
///
/// # Errors
/// If it is no URL.
pub async fn check(
    policy: &Policy,
    dialer: &Dialer,
    url: &str,
    method: Option<&str>,
) -> Result<Verdict, UrlError> {
    let asked = Asked::parse(url)?;
    let mut verdict = Verdict {
        host: crate::name::shown(&asked.host),
        port: asked.port,
        rule: None,
        kind: None,
        inspect: false,
        request: None,
        way: Vec::new(),
        refusal: None,
    };
    let permit = match asked.name(policy).and_then(|name| policy.judge(&name, asked.port)) {
        Ok(permit) => permit,
        Err(refusal) => return Ok(Verdict { refusal: Some(refusal), ..verdict }),
    };
    verdict.host = permit.name().to_string();
    verdict.rule = Some(permit.rule().to_string());
    verdict.kind = Some(permit.kind());
    verdict.inspect = permit.inspect();
    verdict.refusal = match (permit.kind(), asked.kind) {
        (Kind::Tls, Kind::Http | Kind::Tcp) => Some(permit.refuse(Code::NotTls, "")),
        (Kind::Http, Kind::Tls | Kind::Tcp) => Some(permit.refuse(Code::NotHttp, "")),
        (Kind::Tls | Kind::Http, _) => asked.judge(policy, &permit, method, &mut verdict).err(),
        (Kind::Tcp, _) => None,
    };
    if verdict.refusal.is_none() {
        match dialer.way(&permit).await {
            Ok(way) => verdict.way = places(&way),
            Err(refusal) => verdict.refusal = Some(refusal),
        }
    }
    Ok(verdict)
}

/// What a URL asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Asked {
    host: String,
    port: u16,
    kind: Kind,
    /// Path and query, as written.
    target: Option<String>,
}

impl Asked {
    /// Reads a URL, or a bare `host` or `host:port` (TLS).
    fn parse(text: &str) -> Result<Self, UrlError> {
        let fault = || UrlError { text: crate::name::shown(text) };
        let (scheme, rest) = text.split_once("://").unwrap_or(("https", text));
        let (kind, usual) = match scheme.to_ascii_lowercase().as_str() {
            "https" | "wss" | "tls" => (Kind::Tls, Some(443)),
            "http" | "ws" => (Kind::Http, Some(80)),
            "tcp" => (Kind::Tcp, None),
            _ => return Err(fault()),
        };
        let (authority, target) = rest.split_at(rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len()));
        let place = authority.rsplit_once('@').map_or(authority, |(_, place)| place);
        let bracket = place.rfind(']').map_or(0, |at| at + 1);
        let (front, tail) = place.split_at_checked(bracket).ok_or_else(fault)?;
        let (middle, port) = match tail.rsplit_once(':') {
            Some((middle, port)) => (middle, Some(port.parse().map_err(|_| fault())?)),
            None => (tail, usual),
        };
        let host = format!("{front}{middle}");
        let port = port.filter(|port| *port != 0).ok_or_else(fault)?;
        let target = match target.chars().next() {
            None | Some('#') => None,
            Some('?') => Some(format!("/{target}")),
            Some(_) => Some(target.to_owned()),
        };
        if host.is_empty() { Err(fault()) } else { Ok(Self { host, port, kind, target }) }
    }

    /// The name asked for, or why it is none.
    fn name(&self, policy: &Policy) -> Result<HostName, Refusal> {
        HostName::parse(&self.host).map_err(|error| {
            let detail = if spelled_address(&self.host).is_some() {
                "an IP address".into()
            } else {
                error.to_string()
            };
            self.refuse(policy, Code::Name, &detail)
        })
    }

    /// Judges the request, where there is more than a connection to judge.
    fn judge(
        &self,
        policy: &Policy,
        permit: &Permit,
        method: Option<&str>,
        verdict: &mut Verdict,
    ) -> Result<(), Refusal> {
        if self.target.is_none() && method.is_none() {
            return Ok(());
        }
        let method = method.unwrap_or("GET");
        let path = CanonicalPath::of(self.target.as_deref().unwrap_or("/"));
        verdict.request = Some(crate::name::shown(&format!("{method} {path}")));
        verdict.rule = None;
        verdict.rule = Some(policy.judge_request(permit, method, &path)?.rule().to_string());
        Ok(())
    }

    fn refuse(&self, policy: &Policy, code: Code, detail: &str) -> Refusal {
        let subject =
            Subject { server: policy.server(), host: &self.host, port: Some(self.port), rule: None };
        Refusal::new(code, subject, detail)
    }
}

/// The places of a way, as text.
fn places(way: &Way) -> Vec<String> {
    match way {
        Way::Pinned(address) => vec![address.to_string()],
        Way::Direct(addresses) => addresses.iter().map(ToString::to_string).collect(),
        Way::Proxy { proxy, targets } => targets
            .iter()
            .map(|target| {
                let target = match target {
                    Target::Address(address) => address.to_string(),
                    Target::Name(name, port) => format!("{name}:{port}"),
                };
                let proxy = proxy.first().map(ToString::to_string).unwrap_or_default();
                format!("{target} by way of {proxy}")
            })
            .collect(),
    }
}
