//! A registry's URL, as far as a network is concerned.

use std::net::IpAddr;

/// A URL that leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlaceError {
    /// Another scheme.
    #[error("packages come from `{0}`, which is not http or https")]
    Scheme(String),
    /// A port that is no number.
    #[error("`{0}` has no port that can be")]
    Port(String),
    /// No host.
    #[error("`{0}` names no host")]
    Host(String),
}

/// Where a URL leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// Whether it is `https`.
    pub(crate) tls: bool,
    /// Name or address, without brackets.
    pub(crate) host: String,
    /// The TCP port.
    pub(crate) port: u16,
    /// What stands behind, from the first `/` on.
    path: String,
    /// Whether a user and a password stood before the host; they are gone.
    pub(crate) had_credentials: bool,
}

impl Place {
    /// Reads `http://…` or `https://…`.
    pub(crate) fn parse(url: &str) -> Result<Self, PlaceError> {
        let (scheme, rest) = url.split_once("://").unwrap_or_default();
        let tls = match scheme {
            "https" => true,
            "http" => false,
            _ => return Err(PlaceError::Scheme(without_credentials(url))),
        };
        let (authority, path) = match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        let (credentials, place) = match authority.rsplit_once('@') {
            Some((credentials, place)) => (Some(credentials), place),
            None => (None, authority),
        };
        let bracket = place.rfind(']').map_or(0, |at| at + 1);
        let (host, port) = match place.split_at(bracket) {
            (address, tail) if bracket > 0 => (address, tail.strip_prefix(':')),
            _ => place.rsplit_once(':').map_or((place, None), |(host, port)| (host, Some(port))),
        };
        let port = match port {
            None => {
                if tls {
                    443
                } else {
                    80
                }
            }
            Some(port) => match port.parse() {
                Ok(port) => port,
                Err(_) => return Err(PlaceError::Port(without_credentials(url))),
            },
        };
        let host = host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        if host.is_empty() {
            return Err(PlaceError::Host(without_credentials(url)));
        }
        Ok(Self { tls, host, port, path: path.to_owned(), had_credentials: credentials.is_some() })
    }

    /// Whether it is no name that a cell could have a rule for: an address, or the machine itself.
    pub(crate) fn is_nameless(&self) -> bool {
        let host = self.host.strip_suffix('.').unwrap_or(&self.host);
        host.parse::<IpAddr>().is_ok() || host == "localhost" || host.ends_with(".localhost")
    }

    /// The same place under another name.
    pub(crate) fn renamed(self, host: String) -> Self {
        Self { host, ..self }
    }

    /// The URL without credentials.
    pub(crate) fn url(&self) -> String {
        let usual = if self.tls { 443 } else { 80 };
        let scheme = if self.tls { "https" } else { "http" };
        let port = if self.port == usual { String::new() } else { format!(":{}", self.port) };
        format!("{scheme}://{}{port}{}", self.host, self.path)
    }

    /// The rule that lets a client fetch from here, and neither publish nor go further.
    pub(crate) fn reading(&self) -> String {
        format!("GET,HEAD {}", self.rule())
    }

    /// The place alone, as a rule about it begins.
    pub(crate) fn rule(&self) -> String {
        Self { path: String::new(), ..self.clone() }.url()
    }
}

/// The places of these URLs without their paths, each once.
pub(crate) fn origins(urls: &[String]) -> Vec<String> {
    let mut origins: Vec<String> =
        urls.iter().filter_map(|url| Some(Place::parse(url).ok()?.rule())).collect();
    origins.sort();
    origins.dedup();
    origins
}

fn without_credentials(url: &str) -> String {
    url.rsplit_once('@').map_or(url, |(_, place)| place).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_taken_apart_and_put_together_without_its_password() {
        for (url, rule, whole) in [
            ("https://R.example/", "https://r.example", "https://r.example/"),
            ("http://r.example:4873/npm/", "http://r.example:4873", "http://r.example:4873/npm/"),
            ("https://me:pw@r.example:443/simple", "https://r.example", "https://r.example/simple"),
            ("http://127.0.0.1:80", "http://127.0.0.1", "http://127.0.0.1"),
        ] {
            let place = Place::parse(url).unwrap();
            assert_eq!((place.rule().as_str(), place.url().as_str()), (rule, whole));
            assert_eq!(place.reading(), format!("GET,HEAD {rule}"));
        }
        assert_eq!(Place::parse("http://[::1]:81/x").unwrap().host, "::1");
        for wrong in
            ["file:///srv/x", "r.example", "https://", "https://r.example:x/", "ftp://u:pw@r.example/"]
        {
            let error = Place::parse(wrong).unwrap_err().to_string();
            assert!(!error.contains("pw"), "{error}");
        }
    }
}
