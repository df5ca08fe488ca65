//! Host rules, for the configuration: what they mean is `egress`'s to say.

use cell_api::network::{OperatorNetwork, UpstreamSpec};
use egress::{
    name::HostName,
    rule::HostRule,
    upstream::{Pinned, ProxyResolve, UpstreamProxy},
};
use model::config::{NetworkCheck, Objection, Operator};

use crate::stop::{Stop, USAGE};

/// Judges by the parsers that will read the same texts in the supervisor.
pub(crate) struct Rules;

impl NetworkCheck for Rules {
    fn host(&self, rule: &str) -> Result<(), Objection> {
        let parsed = HostRule::parse(rule);
        parsed.map(drop).map_err(|error| objection(&error, Some(error.hint())))
    }

    fn upstream(&self, name: &str, address: &str, loopback: bool) -> Result<(), Objection> {
        let name =
            HostName::parse(name).map_err(|error| objection(&error, error.hint().map(str::to_owned)))?;
        let pinned = Pinned::parse(&name, address, loopback);
        pinned.map(drop).map_err(|error| objection(&error, error.hint().map(str::to_owned)))
    }

    fn proxy(&self, url: &str) -> Result<(), Objection> {
        let proxy = UpstreamProxy::parse(url, ProxyResolve::Here);
        proxy.map(drop).map_err(|error| objection(&error, error.hint().map(str::to_owned)))
    }
}

/// The operator's part of a cell's network.
pub(crate) fn of_operator(operator: &Operator) -> OperatorNetwork {
    let upstreams = operator.upstreams().iter().map(|(name, upstream)| {
        let spec = UpstreamSpec {
            address: upstream.address.clone(),
            loopback: upstream.loopback,
            ca: upstream.ca.clone(),
        };
        (name.clone(), spec)
    });
    let egress = operator.egress();
    OperatorNetwork {
        upstreams: upstreams.collect(),
        upstream_proxy: egress.upstream_proxy.clone(),
        proxy_resolves: egress.proxy_resolves,
        extra_roots: egress.extra_roots.clone(),
        // Whether it runs now or not.
        own: Some(operator.serve().listen()).filter(|address| address.port() != 0).into_iter().collect(),
    }
}

/// Rules that were typed as arguments; all that is wrong with them at once.
pub(crate) fn typed(rules: &[String]) -> anyhow::Result<Vec<HostRule>> {
    let mut lines = Vec::new();
    let mut parsed = Vec::new();
    for text in rules {
        match HostRule::parse(text) {
            Ok(rule) => parsed.push(rule),
            Err(error) => lines.push(format!("fumehood: {error}\nfumehood: help: {}", error.hint())),
        }
    }
    if lines.is_empty() { Ok(parsed) } else { Err(Stop::new(USAGE, lines.join("\n") + "\n", "").into()) }
}

fn objection(error: &dyn std::error::Error, help: Option<String>) -> Objection {
    Objection { message: crate::stop::chain(error), help }
}
