//! Registries at addresses that are not public: a mirror of the house, one on this machine.
//!
//! A cell reaches no such address, but one that whoever runs it has told the package client of is meant. So it is bound
//! for this cell, as the operator could bind it in `[upstreams]`.

use std::{
    collections::BTreeSet,
    net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs},
};

use cell_api::network::{OperatorNetwork, UpstreamSpec};
use egress::{
    address::Class,
    name::HostName,
    own::{OwnAddresses, Owner},
    upstream::Pinned,
};

use super::SourcesError;
use crate::place::Place;

/// The addresses that registries were bound to.
#[derive(Debug, Default)]
pub(crate) struct Trusted {
    addresses: BTreeSet<IpAddr>,
    named: usize,
}

/// A registry by the client's configuration: bound where its addresses are not public ones. The place as it is seen
/// inside, under a name of ours where it has none.
pub(crate) fn registry(
    place: Place,
    operator: &mut OperatorNetwork,
    trusted: &mut Trusted,
    notes: &mut Vec<String>,
) -> Result<Place, SourcesError> {
    let addresses = match place.host.parse::<IpAddr>() {
        Ok(address) => vec![address],
        Err(_) if place.is_nameless() => vec![Ipv4Addr::LOCALHOST.into()],
        Err(_) if is_settled(&place, operator) => return Ok(place),
        Err(_) => look_up(&place),
    };
    let nameless = place.is_nameless();
    let Some(first) = addresses.iter().find(|address| !is_public(**address)).or(addresses.first()) else {
        // It does not resolve now; the dial will say so.
        return Ok(place);
    };
    if !nameless && addresses.iter().all(|address| is_public(*address)) {
        return Ok(place);
    }
    let inside = if nameless {
        if place.tls {
            return Err(SourcesError::CertificateForAddress { place: place.rule() });
        }
        trusted.named += 1;
        // RFC 6762 appendix G and ICANN's reservation: nobody's on the Internet.
        place.clone().renamed(format!("registry-{}.internal", trusted.named))
    } else {
        place.clone()
    };
    bind(&inside.host, *first, operator)?;
    trusted.addresses.extend(addresses.iter().copied());
    notes.push(format!(
        "the registry {} is at {first}, which is not public; the installation may reach it because your package client \
         is configured with it",
        place.rule()
    ));
    Ok(inside)
}

/// A host that files come from by the registry's word: bound only where it is the same machine as a registry that was
/// bound.
pub(crate) fn files(place: &Place, operator: &mut OperatorNetwork, trusted: &Trusted) {
    if place.is_nameless() || is_settled(place, operator) {
        return;
    }
    let addresses = look_up(place);
    let same = addresses.iter().find(|address| trusted.addresses.contains(address));
    if let Some(address) = same.filter(|_| !addresses.iter().all(|address| is_public(*address))) {
        // What cannot be bound is refused when it is dialled, with its reason.
        bind(&place.host, *address, operator).ok();
    }
}

fn bind(host: &str, address: IpAddr, operator: &mut OperatorNetwork) -> Result<(), SourcesError> {
    let failed =
        |why: &dyn std::fmt::Display| SourcesError::Unbound { host: host.to_owned(), why: why.to_string() };
    let own = OwnAddresses::open().map_err(|error| failed(&error))?;
    let owner = own.owner(address).map_err(|error| failed(&error))?;
    let loopback = Class::of(address) == Class::Loopback || owner == Some(Owner::Machine);
    let name = HostName::parse(host).map_err(|error| failed(&error))?;
    Pinned::new(&name, address, None, loopback).map_err(|error| failed(&error))?;
    let upstream = UpstreamSpec { address: address.to_string(), loopback, ca: None };
    operator.upstreams.entry(host.to_owned()).or_insert(upstream);
    Ok(())
}

/// Whether the operator has said how it is reached.
fn is_settled(place: &Place, operator: &OperatorNetwork) -> bool {
    operator.upstream_proxy.is_some() || operator.upstreams.contains_key(&place.host)
}

/// By this machine's resolver; nothing where it has no answer.
fn look_up(place: &Place) -> Vec<IpAddr> {
    let found = (place.host.as_str(), place.port).to_socket_addrs();
    found.map(|found| found.map(|address: SocketAddr| address.ip()).collect()).unwrap_or_default()
}

fn is_public(address: IpAddr) -> bool {
    Class::of(address).is_public()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(url: &str, operator: &mut OperatorNetwork) -> Result<String, SourcesError> {
        Ok(registry(Place::parse(url)?, operator, &mut Trusted::default(), &mut Vec::new())?.url())
    }

    #[test]
    fn a_registry_without_a_name_gets_one_and_is_bound() {
        let mut operator = OperatorNetwork::default();
        assert_eq!(
            seen("http://127.0.0.1:4873/npm/", &mut operator).unwrap(),
            "http://registry-1.internal:4873/npm/"
        );
        let bound = &operator.upstreams["registry-1.internal"];
        assert_eq!((bound.address.as_str(), bound.loopback), ("127.0.0.1", true));
        let mut operator = OperatorNetwork::default();
        assert!(seen("http://localhost:1/", &mut operator).is_ok());
        assert!(seen("http://10.1.2.3/", &mut OperatorNetwork::default()).is_ok());
    }

    #[test]
    fn what_no_setting_reaches_is_reached_by_no_configuration_of_a_client() {
        for url in ["http://169.254.169.254/", "http://0.0.0.0:1/", "http://[fe80::1]/", "https://127.0.0.1/"]
        {
            let mut operator = OperatorNetwork::default();
            assert!(seen(url, &mut operator).is_err(), "{url}");
            assert!(operator.upstreams.is_empty());
        }
    }

    #[test]
    fn the_operators_word_counts_more() {
        let mut operator = OperatorNetwork::default();
        let own = UpstreamSpec { address: "10.0.0.1:443".into(), loopback: false, ca: None };
        operator.upstreams.insert("r.example".into(), own.clone());
        assert_eq!(seen("https://r.example/", &mut operator).unwrap(), "https://r.example/");
        assert_eq!(operator.upstreams["r.example"], own);
    }

    #[test]
    fn a_host_of_files_is_bound_only_beside_a_registry_that_was() {
        let place = Place::parse("http://127.0.0.1/").unwrap();
        let mut operator = OperatorNetwork::default();
        files(&place, &mut operator, &Trusted::default());
        files(&Place::parse("http://localhost/").unwrap(), &mut operator, &Trusted::default());
        assert!(operator.upstreams.is_empty());
    }
}
