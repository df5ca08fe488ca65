//! What holds for calls of one tool.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU32;
use std::ops::RangeInclusive;
use std::time::Duration;

use serde_json::Value;

use super::claim_path::ClaimPath;
use super::complaint::Complaint;
use super::duration;
use super::limit_name;
use super::limits::{kept, size_of};
use super::problem::Source;
use super::written::{self, At};
use crate::size;
use crate::tier::Tier;

/// What a file says about one tool of a server. The default is what holds for a tool that no file names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolRule {
    tier: Tier,
    bind: BTreeMap<String, BindSource>,
    defaults: BTreeMap<String, Value>,
    max_bytes: Option<u64>,
    concurrency: Option<NonZeroU32>,
    rate: Option<Rate>,
    time: Option<Duration>,
}

/// Where the value of a bound parameter comes from: always from whoever is acting, never from a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BindSource {
    /// `claims.PATH`: a claim of the token.
    Claim(ClaimPath),
    /// `subject`.
    Subject,
    /// `tenant`.
    Tenant,
    /// `issuer`.
    Issuer,
}

/// So many in so much time: `60/m`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// How many: 1 to 1,000,000.
    pub count: NonZeroU32,
    /// In which time: a second, a minute, an hour or a day.
    pub per: Duration,
}

impl ToolRule {
    /// How much the tool can do.
    pub fn tier(&self) -> Tier {
        self.tier
    }

    /// Parameters that no caller sees or sets, by name.
    pub fn bind(&self) -> &BTreeMap<String, BindSource> {
        &self.bind
    }

    /// Values of parameters that a caller leaves out, by name. None of them is bound.
    pub fn defaults(&self) -> &BTreeMap<String, Value> {
        &self.defaults
    }

    /// The most bytes of a call's arguments, written as RFC 8785 has it.
    pub fn max_bytes(&self) -> Option<u64> {
        self.max_bytes
    }

    /// The most calls of one caller at a time.
    pub fn concurrency(&self) -> Option<NonZeroU32> {
        self.concurrency
    }

    /// The most calls of one caller in a time.
    pub fn rate(&self) -> Option<Rate> {
        self.rate
    }

    /// How long a call may take.
    pub fn time(&self) -> Option<Duration> {
        self.time
    }
}

impl fmt::Display for BindSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Claim(path) => write!(f, "claims.{path}"),
            Self::Subject => f.write_str("subject"),
            Self::Tenant => f.write_str("tenant"),
            Self::Issuer => f.write_str("issuer"),
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = UNITS.into_iter().find(|(_, seconds)| *seconds == self.per.as_secs());
        write!(f, "{}/{}", self.count, unit.map_or("s", |(unit, _)| unit))
    }
}

/// Units of a rate, in seconds.
const UNITS: [(&str, u64); 4] = [("s", 1), ("m", 60), ("h", 3_600), ("d", 86_400)];
/// The most of a rate.
const MOST_CALLS: u32 = 1_000_000;
/// The most calls of one caller at a time that can be asked for.
const MOST_AT_A_TIME: u32 = 10_000;
/// Bytes of arguments: what can be asked for.
const BYTES: RangeInclusive<u64> = 2..=64 << 20;
/// How long a call may take: what can be asked for.
const TIME: RangeInclusive<Duration> = Duration::from_millis(10)..=Duration::from_hours(24);
/// Longest name of a tool or a parameter, in bytes.
const LONGEST_NAME: usize = 256;
/// The most tools or parameters of one table.
const MOST_NAMES: usize = 1024;

/// `tools` of a server.
pub(super) fn rules(
    written: &BTreeMap<At<String>, written::ToolRule>,
    source: &mut Source<'_>,
) -> BTreeMap<String, ToolRule> {
    let mut rules = BTreeMap::new();
    for (index, (name, rule)) in written.iter().enumerate() {
        if index == MOST_NAMES {
            source.add(name.span(), &Complaint::new(format!("more than {MOST_NAMES} tools")));
            break;
        }
        let sound = kept(source, name, |text| check_name("tool", text));
        let resolved = self::rule(rule, source);
        if sound.is_some() {
            rules.insert(name.get().clone(), resolved);
        }
    }
    rules
}

fn rule(written: &written::ToolRule, source: &mut Source<'_>) -> ToolRule {
    let written::ToolRule { tier, bind, defaults, max_bytes, concurrency, rate, time } = written;
    let tier = tier.as_ref().and_then(|at| {
        kept(source, at, |number| {
            Tier::of(*number).ok_or_else(|| {
                Complaint::new(format!("`{number}` is not a tier"))
                    .help("write 1 where it only reads, 2 where it changes something, 3 where a person is asked before")
            })
        })
    });
    let defaults = self::defaults(defaults, bind, source);
    let bind = self::bind(bind, source);
    let max_bytes = max_bytes.as_ref().and_then(|at| {
        kept(source, at, |size| limit_name::within("max_bytes", &BYTES, size_of(size)?, size::format))
    });
    let concurrency = concurrency.as_ref().and_then(|at| {
        kept(source, at, |count| {
            let count = u32::try_from(*count).ok().filter(|count| *count <= MOST_AT_A_TIME);
            count.and_then(NonZeroU32::new).ok_or_else(|| {
                Complaint::new("this is no number of calls").help(format!("write 1 to {MOST_AT_A_TIME}"))
            })
        })
    });
    let rate = rate.as_ref().and_then(|at| kept(source, at, |text| Rate::parse(text)));
    let time = time.as_ref().and_then(|at| kept(source, at, |text| duration::within("time", text, &TIME)));
    ToolRule { tier: tier.unwrap_or_default(), bind, defaults, max_bytes, concurrency, rate, time }
}

fn bind(written: &BTreeMap<At<String>, At<String>>, source: &mut Source<'_>) -> BTreeMap<String, BindSource> {
    let mut bound = BTreeMap::new();
    for (name, value) in written.iter().take(MOST_NAMES) {
        let sound = kept(source, name, |text| check_name("parameter", text));
        let value = kept(source, value, |text| BindSource::parse(text));
        if let (Some(()), Some(value)) = (sound, value) {
            bound.insert(name.get().clone(), value);
        }
    }
    bound
}

fn defaults(
    written: &BTreeMap<At<String>, At<Value>>,
    bind: &BTreeMap<At<String>, At<String>>,
    source: &mut Source<'_>,
) -> BTreeMap<String, Value> {
    let mut defaults = BTreeMap::new();
    for (name, value) in written.iter().take(MOST_NAMES) {
        let sound = kept(source, name, |text| {
            check_name("parameter", text)?;
            if bind.keys().any(|bound| bound.get() == text) {
                return Err(Complaint::new(format!("`{text}` is bound and has a default"))
                    .help("a bound parameter always has a value: remove the default"));
            }
            Ok(())
        });
        let value = kept(source, value, |value| {
            // TOML has numbers that JSON has not; they are read as nothing.
            if holds_null(value) {
                return Err(Complaint::new("JSON has no such number").help("write a finite one"));
            }
            Ok(value.clone())
        });
        if let (Some(()), Some(value)) = (sound, value) {
            defaults.insert(name.get().clone(), value);
        }
    }
    defaults
}

fn holds_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(holds_null),
        Value::Object(members) => members.values().any(holds_null),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn check_name(what: &str, text: &str) -> Result<(), Complaint> {
    if (1..=LONGEST_NAME).contains(&text.len()) && !text.chars().any(char::is_control) {
        return Ok(());
    }
    Err(Complaint::new(format!("`{text}` is not a name of a {what}"))
        .help(format!("use 1 to {LONGEST_NAME} bytes without control characters")))
}

impl BindSource {
    fn parse(text: &str) -> Result<Self, Complaint> {
        match text {
            "subject" => Ok(Self::Subject),
            "tenant" => Ok(Self::Tenant),
            "issuer" => Ok(Self::Issuer),
            _ => match text.strip_prefix("claims.") {
                Some(path) => ClaimPath::parse(path).map(Self::Claim),
                None => Err(Complaint::new(format!("`{text}` is nothing that is known of a caller"))
                    .help("write `subject`, `tenant`, `issuer`, or `claims.NAME` for a claim of the token")),
            },
        }
    }
}

impl Rate {
    fn parse(text: &str) -> Result<Self, Complaint> {
        let fault = || {
            Complaint::new(format!("`{text}` is not a rate"))
                .help(format!("write a number up to {MOST_CALLS} and a unit, `60/m`: s, m, h or d"))
        };
        let (count, unit) = text.split_once('/').ok_or_else(fault)?;
        if !count.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(fault());
        }
        let count = count.parse().ok().filter(|count| *count <= MOST_CALLS).and_then(NonZeroU32::new);
        let unit = UNITS.into_iter().find(|(name, _)| *name == unit);
        match (count, unit) {
            (Some(count), Some((_, seconds))) => Ok(Self { count, per: Duration::from_secs(seconds) }),
            _ => Err(fault()),
        }
    }
}
