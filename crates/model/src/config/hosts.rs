//! A list of host rules, however it is written.

use super::complaint::Complaint;
use super::host_check::{NetworkCheck, host};
use super::limits::kept;
use super::problem::Source;
use super::written::{self, At};
use crate::request::{Method, PathPattern};

/// The most rules of one list.
const MOST_HOSTS: usize = 256;

/// The rules, as texts. A host of a table becomes one rule for each of its paths.
pub(super) fn rules(
    written: &written::Hosts,
    check: &dyn NetworkCheck,
    source: &mut Source<'_>,
) -> Vec<String> {
    let mut rules = Vec::new();
    let first = match written {
        written::Hosts::List(texts) => {
            for at in texts.iter().take(MOST_HOSTS) {
                rules.extend(kept(source, at, |text| host(text, check).map(|()| text.clone())));
            }
            texts.get(MOST_HOSTS)
        }
        written::Hosts::Table(table) => {
            for (at, requests) in table.iter().take(MOST_HOSTS) {
                rules.extend(of_table(at, requests, check, source));
            }
            table.keys().find(|_| rules.len() > MOST_HOSTS).or_else(|| table.keys().nth(MOST_HOSTS))
        }
    };
    if let Some(one_too_many) = first {
        let complaint = Complaint::new(format!("more than {MOST_HOSTS} hosts"));
        source.add(one_too_many.span(), &complaint.help("use a wildcard such as `*.example.com`"));
        return Vec::new();
    }
    rules
}

/// The hosts that are written as a name alone.
pub(super) fn plain_names(written: &written::Hosts) -> Vec<&str> {
    let texts: Vec<&At<String>> = match written {
        written::Hosts::List(texts) => texts.iter().collect(),
        written::Hosts::Table(table) => table.keys().collect(),
    };
    texts
        .into_iter()
        .map(|at| at.get().as_str())
        .filter(|text| !text.contains([':', '*', '/', ' ']))
        .collect()
}

/// The rules of one host of a table; none if anything of it is wrong.
fn of_table(
    at: &At<String>,
    requests: &written::Requests,
    check: &dyn NetworkCheck,
    source: &mut Source<'_>,
) -> Vec<String> {
    let alone = kept(source, at, |text| {
        let place = text.split_once("://").map_or(text.as_str(), |(_, place)| place);
        if place.contains([' ', '/']) {
            let complaint = Complaint::new("a host of a table is written without methods and path");
            return Err(
                complaint.help("write `\"api.example.com\" = { methods = [\"GET\"], paths = [\"/v1/*\"] }`")
            );
        }
        host(text, check)
    });
    if requests.kinds().is_empty() {
        let complaint = Complaint::new("the host has an empty list of requests");
        source.add(at.span(), &complaint.help("write `{}` for any request"));
    }
    let kinds: Vec<_> = requests.kinds().iter().map(|kind| of_kind(at.get(), kind, source)).collect();
    let texts: Option<Vec<Vec<String>>> = kinds.into_iter().collect();
    let (Some(texts), Some(())) = (texts, alone) else { return Vec::new() };
    let texts = texts.concat();
    match texts.iter().try_for_each(|text| host(text, check)) {
        Ok(()) => texts,
        Err(complaint) => {
            source.add(at.span(), &complaint);
            Vec::new()
        }
    }
}

/// One rule for each path of a kind of request; none if anything of it is wrong.
fn of_kind(host: &str, kind: &written::Kind, source: &mut Source<'_>) -> Option<Vec<String>> {
    let methods = list(kind.methods.as_ref(), "methods", source, |text| {
        Method::new(text).map(|method| method.to_string()).map_err(|error| Complaint::new(error.to_string()))
    });
    let paths = list(kind.paths.as_ref(), "paths", source, |text| {
        PathPattern::new(text).map(|_| text.to_owned()).map_err(|error| {
            Complaint::new(error.to_string())
                .help("a `*` at the end is everything below, as in `/repos/acme/*`")
        })
    });
    let (methods, paths) = (methods?, paths?);
    let before = match (methods.is_empty(), paths.is_empty(), kind.inspect) {
        (false, _, _) => format!("{} ", methods.join(",")),
        (true, true, None) => String::new(),
        // A path shows that requests are looked at, but `/` alone could be the end of a URL.
        (true, _, _) => "* ".to_owned(),
    };
    Some(match paths.as_slice() {
        [] => vec![format!("{before}{host}")],
        paths => paths.iter().map(|path| format!("{before}{host}{path}")).collect(),
    })
}

/// The entries of a list, all that is wrong with them told; none if anything is. An empty list, which could be taken for
/// "none", is wrong too.
fn list(
    written: Option<&At<Vec<At<String>>>>,
    name: &str,
    source: &mut Source<'_>,
    check: impl Fn(&str) -> Result<String, Complaint>,
) -> Option<Vec<String>> {
    let Some(at) = written else { return Some(Vec::new()) };
    if at.get().is_empty() {
        let complaint = Complaint::new(format!("`{name}` is empty"));
        source.add(at.span(), &complaint.help("leave it out if any may be asked for"));
        return None;
    }
    let good: Vec<String> =
        at.get().iter().filter_map(|text| kept(source, text, |text| check(text))).collect();
    (good.len() == at.get().len()).then_some(good)
}
