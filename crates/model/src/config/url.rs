//! URLs of services that callers and their tokens depend on.

use super::complaint::Complaint;

/// An `https` URL without user and fragment, or an `http` one of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Url(String);

impl Url {
    /// As it is written.
    pub(super) fn text(&self) -> &str {
        &self.0
    }

    /// Host and port as they are written.
    pub(super) fn authority(&self) -> &str {
        let rest = self.0.split_once("://").map_or("", |(_, rest)| rest);
        rest.split(['/', '?']).next().unwrap_or_default()
    }
}

/// How to write one.
const SHAPE: &str = "write `https://HOST/PATH`, without user, password and fragment";
/// Longest URL, in bytes.
const LONGEST: usize = 2048;

/// Checks a URL: what goes over the net is encrypted, what stays on this machine need not be.
pub(super) fn secure(text: &str) -> Result<Url, Complaint> {
    let fault = |why: &str, help: &str| Err(Complaint::new(format!("`{text}` {why}")).help(help));
    let Some((scheme, rest)) = text.split_once("://") else { return fault("is not a URL", SHAPE) };
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic() && !b"#\\\"<>^`{|}".contains(&byte));
    if text.len() > LONGEST || !is_plain || !is_authority(authority) {
        return fault("is not a URL", SHAPE);
    }
    match scheme {
        "https" => Ok(Url(text.to_owned())),
        "http" if is_this_machine(authority) => Ok(Url(text.to_owned())),
        "http" => fault("is not encrypted", "write `https://`; `http://` is for this machine alone"),
        _ => fault("is not a URL", SHAPE),
    }
}

/// A host, or a host and a port.
pub(super) fn is_authority(text: &str) -> bool {
    let (host, port) = match text.strip_prefix('[').map(|rest| rest.split_once(']')) {
        Some(Some((address, port))) => {
            if address.parse::<std::net::Ipv6Addr>().is_err() {
                return false;
            }
            ("v6", port)
        }
        Some(None) => return false,
        None => text.split_at_checked(text.find(':').unwrap_or(text.len())).unwrap_or((text, "")),
    };
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    let is_port = port.is_empty()
        || port.strip_prefix(':').is_some_and(|digits| {
            digits.bytes().all(|byte| byte.is_ascii_digit())
                && digits.parse::<u16>().is_ok_and(|port| port > 0)
        });
    host.len() <= 253 && host.split('.').all(is_label) && is_port
}

fn is_this_machine(authority: &str) -> bool {
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_over_the_net_is_encrypted() {
        for text in [
            "https://idp.example.com",
            "https://idp.example.com:8443/realms/a?x=1",
            "https://[2001:db8::1]:1/",
            "http://127.0.0.1:9/x",
            "http://localhost",
            "http://[::1]:80",
        ] {
            assert_eq!(secure(text).unwrap().text(), text);
        }
        for text in [
            "",
            "idp.example.com",
            "https://",
            "https:///x",
            "https://u:p@h.example/",
            "https://h.example/#x",
            "https://h.example/a b",
            "https://h.example:0/",
            "https://h.example:99999/",
            "https://h..example/",
            "https://[::1/",
            "https://[x]/",
            "http://h.example/",
            "http://127.0.0.1.example/",
            "http://localhost.example/",
            "file:///etc/passwd",
            "HTTPS://h.example",
        ] {
            assert!(secure(text).is_err(), "{text}");
        }
        assert_eq!(secure("https://h.example:1?x").unwrap().authority(), "h.example:1");
    }
}
