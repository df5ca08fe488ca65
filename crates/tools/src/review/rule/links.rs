//! Addresses in texts, and where they lead.

use std::net::{IpAddr, Ipv6Addr};

use regex::bytes::Regex;

use super::{
    Rule,
    patterns::{Line, Patterns, compile},
};
use crate::{
    review::{
        finding::{
            Finding, Severity,
            Severity::{Danger, Note, Warning},
        },
        text::{Role, Text},
    },
    visible::excerpt,
};

const CODE: &str = "links";
const ABOUT: &str = "contains an address on the network";

#[derive(Debug)]
pub(super) struct Links {
    patterns: Patterns,
    address: Regex,
}

impl Links {
    pub(super) fn new() -> Self {
        let roles = &[Role::Prose, Role::Name];
        Self { patterns: Patterns::new(CODE, ABOUT, roles, LINES), address: compile(ADDRESS) }
    }
}

const ADDRESS: &str = r"\b(?:https?|wss?|ftp)://([^\x00-\x20\x22'<>`)\]|]+)";

const LINES: &[Line] = &[(
    Danger,
    "wants something sent to an address",
    r"\b(?:send|upload|forward|transmit|exfiltrate|leak|submit|post|deliver|report)\b…\b(?:it|them|contents?|data|files?|results?|conversation|history|outputs?|response|everything|copy|summary|details|keys?|tokens?|information|arguments|parameters|values?|credentials|messages?|queries|query|location|inputs?|prompts?|requests?)\b…\b(?:to|at|via|using)\b…\b(?:https?|wss?|ftp)://",
)];

/// Places where anybody can look at what was sent there.
const DROPS: [&str; 10] = [
    "webhook.site",
    "requestbin.com",
    "requestbin.net",
    "requestcatcher.com",
    "burpcollaborator.net",
    "interact.sh",
    "oast.fun",
    "oast.pro",
    "hookbin.com",
    "beeceptor.com",
];

/// Places where anybody can have anything answered under a name that says nothing.
const FRONTS: [&str; 10] = [
    "ngrok.io",
    "ngrok-free.app",
    "ngrok.app",
    "trycloudflare.com",
    "serveo.net",
    "loca.lt",
    "pastebin.com",
    "transfer.sh",
    "pipedream.net",
    "bit.ly",
];

impl Rule for Links {
    fn code(&self) -> &'static str {
        CODE
    }

    fn about(&self) -> &'static str {
        ABOUT
    }

    fn look(&self, text: &Text<'_>, out: &mut Vec<Finding>) {
        self.patterns.look(text, out);
        for found in self.address.captures_iter(text.folded().as_bytes()).take(MOST) {
            let Some((whole, rest)) = found.get(0).zip(found.get(1)) else { continue };
            let (severity, message) = judge(&String::from_utf8_lossy(rest.as_bytes()));
            // Where addresses are expected, only odd ones are told.
            if severity > Note || text.role != Role::Address {
                let range = text.received(whole.range());
                out.push(Finding { code: CODE, severity, place: text.place.clone(), range, message });
            }
        }
    }
}

/// Most addresses that are looked at in one text.
const MOST: usize = 200;

/// What there is to say of an address, from its host on.
fn judge(rest: &str) -> (Severity, String) {
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let (user, place) = match authority.rsplit_once('@') {
        Some((user, place)) => (Some(user), place),
        None => (None, authority),
    };
    let host = match place.strip_prefix('[') {
        Some(bracketed) => bracketed.split(']').next().unwrap_or_default(),
        None => place.split(':').next().unwrap_or_default(),
    };
    let host = host.trim_end_matches(['.', ',', ';', '!', ':']);
    let shown = excerpt(host, 80);
    let is_at = |names: &[&str]| {
        names
            .iter()
            .any(|name| host.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
    };
    if is_at(&DROPS) {
        (Danger, format!("leads to `{shown}`, where anybody can collect what was sent"))
    } else if is_at(&FRONTS) {
        (Warning, format!("leads to `{shown}`, behind which anybody may be"))
    } else if user.is_some_and(|user| !user.contains(['{', '$']) && host.contains('.')) {
        (Warning, format!("looks as if it led elsewhere than to `{shown}`"))
    } else if host.split('.').any(|label| label.starts_with("xn--")) || !host.is_ascii() {
        (Warning, format!("leads to `{shown}`, a name that may look like another"))
    } else if host.parse::<IpAddr>().is_ok_and(is_public) {
        (Warning, format!("leads to the bare address `{shown}`"))
    } else if host == "169.254.169.254" || host == "metadata.google.internal" {
        (Warning, "leads to where clouds hand out keys to their machines".to_owned())
    } else {
        (Note, format!("contains an address at `{shown}`"))
    }
}

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            let documented = v4.is_documentation();
            !(v4.is_private() || v4.is_loopback() || v4.is_link_local() || v4.is_unspecified() || documented)
        }
        IpAddr::V6(v6) => {
            v6 != Ipv6Addr::LOCALHOST && v6 != Ipv6Addr::UNSPECIFIED && v6.segments().first() != Some(&0x2001)
        }
    }
}
