//! What would allow what was refused.

use model::name::ServerName;
use model::request::{Method, PathPattern};

use super::{Code, Subject};
use crate::name::{HostName, spelled_address};
use crate::rule::HostRule;
use crate::rule::terms::Terms;

/// The command that gives `server` the host at the port.
pub fn allow_line(server: &ServerName, name: &HostName, port: Option<u16>) -> String {
    match HostRule::suggested(name, port.unwrap_or(443)) {
        Some(rule) => allow(server, &rule),
        None => "inside a cell `localhost` is the cell itself; a service of this machine needs a name that the \
             operator binds to it with `[upstreams.\"NAME\"]`, `address = \"127.0.0.1:PORT\"`, `loopback = true`"
            .to_owned(),
    }
}

/// The command that gives `server` the rule, to be typed into a shell as it is.
pub fn allow(server: &ServerName, rule: &HostRule) -> String {
    format!("fumehood allow {server} {}", shell_word(&rule.to_string()))
}

/// What to do about a path that can be read in two ways.
pub(crate) const READ_ONE_WAY: &str = "write the path so that everybody reads it alike: without empty segments, `.`, `..`, \
     `;` and `\\`, and without escapes of `/`, `\\`, `.`, `;`, `?` and `%`";

/// The command that gives `server` this request to `place`, a rule without terms. A canonical path of which a part cannot
/// be written as a pattern is given with everything below the part before; no path gives the whole host.
pub(crate) fn allow_request(
    server: &ServerName,
    place: &HostRule,
    method: &str,
    canonical: &str,
) -> Option<String> {
    let method = Method::new(method).ok().filter(|own| own.as_str() == method);
    let rule = place.clone().with_terms(Terms::new(method, pattern(canonical)))?;
    Some(allow(server, &rule))
}

/// The narrowest pattern that covers a canonical path; none for none.
fn pattern(canonical: &str) -> Option<PathPattern> {
    let exact = (!canonical.contains('*')).then(|| PathPattern::new(canonical).ok()).flatten();
    exact.or_else(|| {
        let plain = canonical.find(['*', '%']).unwrap_or(canonical.len()).min(PathPattern::MAX_LEN - 1);
        let (below, _) = canonical.get(..plain)?.rsplit_once('/')?;
        PathPattern::new(format!("{below}/*")).ok()
    })
}

/// A text as one word of a POSIX shell.
pub fn shell_word(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"@%+=:,./_-".contains(&byte);
    if !text.is_empty() && text.bytes().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

pub(super) fn of(code: Code, subject: Subject<'_>) -> String {
    let Subject { server, host, port, .. } = subject;
    let Ok(name) = HostName::from_wire(host.as_bytes()) else {
        return no_name(host, port);
    };
    let port_or = |usual: u16| port.unwrap_or(usual);
    match code {
        Code::Host | Code::Port | Code::Removed | Code::Wildcard => allow_line(server, &name, port),
        Code::Sni | Code::HostHeader => format!(
            "ask for `{name}` on a connection to `{name}`; another host needs a connection of its own, and \
             `fumehood allow {server} HOST`"
        ),
        Code::SniMissing | Code::Ech | Code::NotTls => format!(
            "{}; if the host must be reached otherwise, `fumehood allow {server} tcp://{name}:{}` passes bytes unseen{}",
            match code {
                Code::SniMissing => "use a client that sends the server name",
                Code::Ech => "turn Encrypted Client Hello off in the client",
                _ => "speak TLS",
            },
            port_or(443),
            if code == Code::NotTls {
                format!(", and `fumehood allow {server} http://{name}:{}` takes plain HTTP", port_or(80))
            } else {
                String::new()
            }
        ),
        Code::NotHttp => format!(
            "send HTTP/1.1 without ambiguities; another protocol needs `fumehood allow {server} tcp://{name}:{}`",
            port_or(80)
        ),
        Code::Method => "use another method".to_owned(),
        Code::Upgrade => "use WebSocket, or HTTP/1.1 without an upgrade".to_owned(),
        Code::Size => "send fewer or shorter headings".to_owned(),
        Code::Limit => "close connections that are not used, or try again later".to_owned(),
        Code::Address => pin_lines(&name, "IP:PORT"),
        Code::Resolve => format!("check the spelling of `{name}`, and the resolver of this machine"),
        Code::Connect => format!("check that `{name}` takes connections on port {}", port_or(443)),
        Code::Proxy => {
            "ask whoever runs the proxy that the operator's file names in `[egress] upstream_proxy`"
                .to_owned()
        }
        Code::Name => no_name(host, port),
        Code::RequestMethod | Code::RequestPath => {
            format!("`fumehood allow {server} 'METHOD https://{name}/PATH'` lets one more kind of request through")
        }
        Code::CredentialForeign => format!(
            "leave the credential out, or use the variable the server was given; `fumehood secret set` with \
             `--foreign allow` takes others on `{name}` too"
        ),
        Code::SecretPlace => {
            "use the key in requests to its own host, and in its own place: `fumehood secret show-binding NAME` tells \
             which"
                .to_owned()
        }
        Code::SecretEncoding => format!("ask `{name}` for an answer in gzip, brotli or without encoding"),
        Code::SecretRemoved => {
            "ask again; `fumehood secret show-binding NAME` tells what it may be used for".to_owned()
        }
        Code::SecretSelftest => format!(
            "check that `{name}` is one host of the key, and that the cell's files hold its certificates: \
             `fumehood doctor` says more"
        ),
        Code::UpstreamTls => format!(
            "check the certificate of `{name}`; the operator's file can name its authority: `[egress] extra_roots`, or \
             `ca` under `[upstreams.\"{name}\"]`"
        ),
    }
}

/// The lines of the operator's file that bind `name` to an address.
pub(crate) fn pin_lines(name: &HostName, address: &str) -> String {
    format!("the operator's file can bind the name: `[upstreams.\"{name}\"]` with `address = \"{address}\"`")
}

fn no_name(host: &str, port: Option<u16>) -> String {
    match spelled_address(host) {
        Some(address) => {
            let place = std::net::SocketAddr::new(address, port.unwrap_or(443));
            format!(
                "use a host name; for an address of your own network the operator's file can bind one: \
                 `[upstreams.\"NAME\"]` with `address = \"{place}\"`"
            )
        }
        None => "use a host name such as `api.example.com`".to_owned(),
    }
}
