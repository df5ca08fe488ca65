//! Why a text is no host rule.

use std::net::IpAddr;

use crate::name::HostNameError;

/// Why a text is no host rule. `text` is the rule as written, fit for a terminal, cut at 80 characters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// The host is no host name.
    #[error("the host rule `{text}` names no host")]
    Name {
        /// The rule.
        text: String,
        /// What is wrong with the name.
        source: HostNameError,
    },
    /// The host is an IP address, in whatever spelling.
    #[error("the host rule `{text}` names the IP address {address}")]
    Address {
        /// The rule.
        text: String,
        /// The address meant.
        address: IpAddr,
    },
    /// What stands before the blank is no list of methods.
    #[error("the host rule `{text}` asks for `{method}`, which is not a method that is passed on")]
    Method {
        /// The rule.
        text: String,
        /// The first that is none.
        method: String,
    },
    /// A method in lower case, which a host could be taken for.
    #[error("the host rule `{text}` has methods that are not in upper case")]
    LowerCase {
        /// The rule.
        text: String,
    },
    /// More methods than anybody needs.
    #[error("the host rule `{text}` has more than {most} methods")]
    Methods {
        /// The rule.
        text: String,
        /// How many there may be.
        most: usize,
    },
    /// The path is no pattern that a request's path could be compared with.
    #[error("the host rule `{text}` has a path that cannot be compared with a request's: {why}")]
    Path {
        /// The rule.
        text: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// `host/`, which could mean the whole host or its first page only.
    #[error("the host rule `{text}` ends in a `/` that can be read in two ways")]
    Slash {
        /// The rule.
        text: String,
    },
    /// A query, a fragment or a backslash before any path.
    #[error("the host rule `{text}` has a `?`, `#` or `\\` in its host")]
    Query {
        /// The rule.
        text: String,
    },
    /// Methods or a path for raw TCP.
    #[error("the host rule `{text}` has conditions on requests, and raw TCP has no requests")]
    Unseen {
        /// The rule.
        text: String,
    },
    /// A port that is no number from 1 to 65535.
    #[error("the host rule `{text}` has a port that is not a number from 1 to 65535")]
    Port {
        /// The rule.
        text: String,
    },
    /// `tcp://` without a port.
    #[error("the host rule `{text}` has no port")]
    NoPort {
        /// The rule.
        text: String,
    },
    /// A scheme other than `https`, `http` or `tcp`.
    #[error("the host rule `{text}` has a scheme nobody knows")]
    Scheme {
        /// The rule.
        text: String,
    },
    /// A `*` elsewhere than as the whole first label.
    #[error("the host rule `{text}` has a `*` that is not its whole first label")]
    Wildcard {
        /// The rule.
        text: String,
    },
    /// A wildcard below a public suffix (`*.com`, `*.github.io`), where every name belongs to somebody else.
    #[error("the host rule `{text}` covers names of strangers: anybody can get a name under `{suffix}`")]
    PublicSuffix {
        /// The rule.
        text: String,
        /// The public suffix.
        suffix: String,
    },
    /// `localhost` or a name below.
    #[error("the host rule `{text}` names the cell itself")]
    Localhost {
        /// The rule.
        text: String,
    },
}

impl RuleError {
    pub(super) fn about(text: &str, source: HostNameError) -> Self {
        let text = crate::name::shown(text);
        match source {
            HostNameError::Address { address: Some(address), .. } => Self::Address { text, address },
            source => Self::Name { text, source },
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Name { source, .. } => {
                source.hint().unwrap_or("write a name such as `api.example.com`").to_owned()
            }
            Self::Address { address, .. } => format!(
                "addresses are reached by a name: the operator writes `[upstreams.\"NAME\"]` with `address = \"{}\"` \
                 (and the port), then allow NAME",
                if address.is_ipv6() { format!("[{address}]:443") } else { format!("{address}:443") }
            ),
            Self::Method { .. } => {
                "write methods with commas, one blank, then the host: `GET,HEAD https://api.example.com/v1/*`; \
                 `*` stands for any method"
                    .to_owned()
            }
            Self::LowerCase { .. } => "write methods as they stand in a request: `GET,HEAD host`".to_owned(),
            Self::Methods { .. } => "write `*` for any method".to_owned(),
            Self::Path { .. } => {
                "write `api.example.com/repos/acme/*`: a `*` at the end is everything below, one in the middle \
                 stays between two `/`; a query is not part of it"
                    .to_owned()
            }
            Self::Slash { .. } => {
                "leave the `/` out for the whole host, or write `* host/` for its first page only".to_owned()
            }
            Self::Query { .. } => "leave the query out: a rule is about hosts, methods and paths".to_owned(),
            Self::Unseen { .. } => {
                "leave methods and path out, or write `https://` or `http://` if HTTP is spoken there".to_owned()
            }
            Self::Port { .. } => "write `host:8443`".to_owned(),
            Self::NoPort { .. } => "write `tcp://db.example.com:5432`".to_owned(),
            Self::Scheme { .. } => "use `https://`, `http://` or `tcp://`, or no scheme at all".to_owned(),
            Self::Wildcard { .. } => "write `*.example.com` for every name below `example.com`".to_owned(),
            Self::PublicSuffix { suffix, .. } => {
                format!("name the one host, such as `mine.{suffix}`, or `*.mine.{suffix}` for all below it")
            }
            Self::Localhost { .. } => {
                "a service of this machine is reached by a name that the operator binds to it: \
                 `[upstreams.\"NAME\"]` with `address = \"127.0.0.1:PORT\"` and `loopback = true`"
                    .to_owned()
            }
        }
    }
}
