//! Answers to a cell's DNS questions, made here: no question is ever passed on.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hickory_proto::op::{Edns, Message, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::rdata::{A, AAAA};
use hickory_proto::rr::{DNSClass, RData, Record, RecordType};

use crate::event::{Event, Log};
use crate::name::HostName;
use crate::policy::Policy;
use crate::refusal::{Code, Refusal, Subject};
use crate::synthetic::Addresses;
use crate::synthetic::bucket::Bucket;

pub mod server;

/// The addresses of a name, under way.
pub type Readying<'a> = Pin<Box<dyn Future<Output = Result<Addresses, Refusal>> + Send + 'a>>;

/// What answering asks of the rest of the edge.
pub trait Names: Send + Sync + 'static {
    /// The rules of this moment.
    fn policy(&self) -> Arc<Policy>;

    /// The addresses of a name that a rule is about, told once somebody listens there.
    fn ready<'a>(&'a self, name: &'a HostName) -> Readying<'a>;

    /// Where refusals are put down.
    fn log(&self) -> &Log;
}

/// Bounds of answering.
#[derive(Debug, Clone, Copy)]
pub struct DnsSettings {
    /// How long an answer may be remembered inside, in seconds. Default 30. A refusal may not be remembered.
    pub ttl: u32,
    /// Questions over UDP answered at once; more are dropped, and the tool asks again. Default 64.
    pub questions: usize,
    /// TCP connections at once; more are closed. Default 32.
    pub connections: usize,
    /// Longest silence on a TCP connection. Default 10 s.
    pub idle: Duration,
    /// Refused names put down with all their labels at once; further ones only by the name somebody registered, so that
    /// a tool that asks for thousands cannot push everything else out of the log. Default 32.
    pub told: u32,
    /// Time in which one more refused name is put down with all its labels, after that. Default 1 s.
    pub told_every: Duration,
}

impl Default for DnsSettings {
    fn default() -> Self {
        Self {
            ttl: 30,
            questions: 64,
            connections: 32,
            idle: Duration::from_secs(10),
            told: 32,
            told_every: Duration::from_secs(1),
        }
    }
}

/// Answers questions by the rules.
#[derive(Debug)]
pub struct Answerer<N> {
    names: Arc<N>,
    settings: DnsSettings,
    told: Mutex<Bucket>,
}

impl<N: Names> Answerer<N> {
    /// Answers by what `names` says.
    pub fn new(names: Arc<N>, settings: DnsSettings) -> Self {
        Self { names, settings, told: Mutex::new(Bucket::new(settings.told, settings.told_every)) }
    }

    /// The bounds.
    pub fn settings(&self) -> &DnsSettings {
        &self.settings
    }

    /// The answer to one message (RFC 1035 §4.1); none for what is not a question, so that two sides can never talk in
    /// circles.
    pub async fn answer(&self, message: &[u8]) -> Option<Vec<u8>> {
        let header = Head::read(message)?;
        if header.is_response() {
            return None;
        }
        if header.opcode() != 0 {
            return Some(header.fault(ResponseCode::NotImp));
        }
        // What a question of a resolver looks like: one question, nothing else but EDNS and a signature.
        if header.counts[0] != 1 || header.counts[1] != 0 || header.counts[2] != 0 || header.counts[3] > 2 {
            return Some(header.fault(ResponseCode::FormErr));
        }
        let Ok(request) = Message::from_vec(message) else {
            return Some(header.fault(ResponseCode::FormErr));
        };
        let Some(query) = request.queries.first() else {
            return Some(header.fault(ResponseCode::FormErr));
        };
        let (code, records) = if request.version() > 0 {
            (ResponseCode::BADVERS, Vec::new())
        } else if query.query_class() == DNSClass::IN {
            self.records(query).await
        } else {
            (ResponseCode::Refused, Vec::new())
        };
        let answer = encode(&request, query, code, records);
        Some(answer.unwrap_or_else(|| header.fault(ResponseCode::ServFail)))
    }

    async fn records(&self, query: &Query) -> (ResponseCode, Vec<Record>) {
        let kind = query.query_type();
        let Ok(name) = HostName::from_labels(query.name().iter()) else {
            self.refuse_text(&query.name().to_ascii(), kind);
            return (ResponseCode::NXDomain, Vec::new());
        };
        let addresses = if name.is_localhost() {
            Addresses { v4: Ipv4Addr::LOCALHOST, v6: Some(Ipv6Addr::LOCALHOST) }
        } else {
            let policy = self.names.policy();
            if policy.reach(&name).is_none() {
                self.refuse_name(&policy, &name, kind);
                return (ResponseCode::NXDomain, Vec::new());
            }
            if !matches!(kind, RecordType::A | RecordType::AAAA) {
                return (ResponseCode::NoError, Vec::new());
            }
            match self.names.ready(&name).await {
                Ok(addresses) => addresses,
                Err(refusal) => {
                    self.names.log().record(Event::Refused(refusal));
                    return (ResponseCode::Refused, Vec::new());
                }
            }
        };
        let data = match kind {
            RecordType::A => Some(RData::A(A(addresses.v4))),
            RecordType::AAAA => addresses.v6.map(|v6| RData::AAAA(AAAA(v6))),
            _ => None,
        };
        let record = |data| Record::from_rdata(query.name().clone(), self.settings.ttl, data);
        (ResponseCode::NoError, data.map(record).into_iter().collect())
    }

    fn refuse_name(&self, policy: &Policy, name: &HostName, kind: RecordType) {
        if is_reverse(name, kind) {
            return;
        }
        let told = |host: &str, detail: &str| {
            let subject = Subject { server: policy.server(), host, port: None, rule: None };
            Event::Refused(Refusal::new(Code::Host, subject, detail))
        };
        self.tell(told(name.as_str(), ""), || {
            let registered = psl::domain_str(name.as_str()).unwrap_or("many names");
            told(registered, "many names below it were asked for")
        });
    }

    fn refuse_text(&self, text: &str, kind: RecordType) {
        let policy = self.names.policy();
        let told = |host: &str| {
            let subject = Subject { server: policy.server(), host, port: None, rule: None };
            let detail = format!("in a DNS question of type {kind}");
            Event::Refused(Refusal::new(Code::Name, subject, &detail))
        };
        self.tell(told(text), || told("many names"));
    }

    /// Puts down `whole` if it is a repeat, or one of few; else what is short.
    fn tell(&self, whole: Event, short: impl FnOnce() -> Event) {
        let log = self.names.log();
        let fits = log.repeats(&whole) || self.told.lock().unwrap_or_else(PoisonError::into_inner).take();
        log.record(if fits { whole } else { short() });
    }
}

/// Looking up the name of an address is what many programs do for their own logs; no rule could ever allow it.
fn is_reverse(name: &HostName, kind: RecordType) -> bool {
    kind == RecordType::PTR && name.labels().next_back() == Some("arpa")
}

fn encode(request: &Message, query: &Query, code: ResponseCode, records: Vec<Record>) -> Option<Vec<u8>> {
    let mut answer = Message::response(request.metadata.id, OpCode::Query);
    answer.metadata.recursion_desired = request.metadata.recursion_desired;
    answer.metadata.recursion_available = true;
    answer.metadata.checking_disabled = request.metadata.checking_disabled;
    answer.metadata.message_type = MessageType::Response;
    answer.metadata.response_code = code;
    answer.add_query(query.clone());
    answer.insert_answers(records);
    if request.edns.is_some() {
        let mut edns = Edns::new();
        edns.set_max_payload(server::LONGEST_UDP);
        edns.set_rcode_high(code.high());
        answer.set_edns(edns);
    }
    answer.to_vec().ok()
}

/// The twelve bytes every message begins with.
struct Head {
    id: [u8; 2],
    flags: [u8; 2],
    counts: [u16; 4],
}

impl Head {
    fn read(message: &[u8]) -> Option<Self> {
        let head: [u8; 12] = message.get(..12)?.try_into().ok()?;
        let [a, b, c, d, counts @ ..] = head;
        let [q0, q1, a0, a1, n0, n1, x0, x1] = counts;
        let counts = [[q0, q1], [a0, a1], [n0, n1], [x0, x1]].map(u16::from_be_bytes);
        Some(Self { id: [a, b], flags: [c, d], counts })
    }

    fn is_response(&self) -> bool {
        self.flags[0] & 0x80 != 0
    }

    fn opcode(&self) -> u8 {
        (self.flags[0] >> 3) & 15
    }

    /// A message of the head alone that says what is wrong.
    fn fault(&self, code: ResponseCode) -> Vec<u8> {
        let first = 0x80 | (self.flags[0] & 0x79);
        let mut message = vec![self.id[0], self.id[1], first, code.low()];
        message.resize(12, 0);
        message
    }
}

#[cfg(test)]
mod tests;
