//! What is counted and measured, for Prometheus.
//!
//! Calls are counted from what is recorded of them, so both say the same. A label is a word of ours, or the name of a server
//! or of a tool that was accepted; never anything that a caller or a result brings.

use std::{
    collections::HashSet,
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    response::Response,
    routing::get,
};
use http::{HeaderValue, StatusCode, header};
use metrics::{counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};
use store::audit::{Event, Kind, Outcome};

use crate::health::is_local;

/// Calls that ended, by `server`, `tool`, `face` and `outcome`.
const CALLS: &str = "fumehood_calls_total";
/// How long calls took, in seconds, by `server` and `face`.
const SECONDS: &str = "fumehood_call_duration_seconds";
/// What was refused, by `code` and `face`.
const REFUSALS: &str = "fumehood_refusals_total";
/// Cells, by `state`.
const CELLS: &str = "fumehood_cells";
/// Events that wait to be written into the record.
const QUEUE: &str = "fumehood_audit_queue";
/// Age of the keys of an issuer, in seconds, by `issuer`: its name in the configuration.
const KEYS: &str = "fumehood_jwks_age_seconds";

/// Bounds of the histogram, in seconds.
const BUCKETS: [f64; 14] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0, 300.0];

/// Most pairs of server and tool that have lines of their own; what comes later is counted as `other`.
const MOST_PAIRS: usize = 1_000;

/// Most codes that have lines of their own.
const MOST_CODES: usize = 200;

/// Longest label, in bytes.
const LONGEST_LABEL: usize = 128;

static PAIRS: Mutex<Option<HashSet<(String, String)>>> = Mutex::new(None);
static CODES: Mutex<Option<HashSet<String>>> = Mutex::new(None);

/// What is asked anew before each look.
type Reading = Box<dyn Fn() + Send + Sync>;

/// What was counted so far in this process. Clones are the same one.
#[derive(Clone)]
pub struct Meter(Arc<Inner>);

struct Inner {
    handle: PrometheusHandle,
    readings: Mutex<Vec<Reading>>,
}

/// Counting that cannot begin: it has begun already.
#[derive(Debug, thiserror::Error)]
pub enum MeterError {
    /// Something else counts in this process.
    #[error("something else counts in this process: {0}")]
    Taken(String),
}

impl Meter {
    /// Begins to count, for the whole process.
    ///
    /// # Errors
    ///
    /// [`MeterError`], the second time.
    pub fn install() -> Result<Self, MeterError> {
        let taken = |error: BuildError| MeterError::Taken(error.to_string());
        let builder =
            PrometheusBuilder::new().set_buckets_for_metric(Matcher::Full(SECONDS.to_owned()), &BUCKETS);
        let recorder = builder.map_err(taken)?.build_recorder();
        let handle = recorder.handle();
        metrics::set_global_recorder(recorder).map_err(|error| MeterError::Taken(error.to_string()))?;
        describe_counter!(CALLS, "Calls that ended");
        describe_histogram!(SECONDS, "How long calls took, in seconds");
        describe_counter!(REFUSALS, "What was refused");
        describe_gauge!(CELLS, "Cells by state");
        describe_gauge!(QUEUE, "Events that wait to be written into the record");
        describe_gauge!(KEYS, "Age of the keys of an issuer, in seconds");
        Ok(Self(Arc::new(Inner { handle, readings: Mutex::default() })))
    }

    /// Has something asked before each look, which then says [`cells`], [`audit_queue`] or [`keys_age`].
    pub fn before_each_look(&self, reading: impl Fn() + Send + Sync + 'static) {
        self.0.readings.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(reading));
    }

    /// Sums up what was measured since the last time. Whoever has one does so now and then: where nobody looks, every single
    /// measurement is kept until then.
    pub fn sum_up(&self) {
        self.0.handle.run_upkeep();
    }

    /// All of it, in the text format of Prometheus.
    pub fn text(&self) -> String {
        for reading in self.0.readings.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            reading();
        }
        self.sum_up();
        self.0.handle.render()
    }
}

impl fmt::Debug for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meter").finish_non_exhaustive()
    }
}

/// `GET /metrics`, for whoever is on this machine. It needs no caller; for everybody else there is no such address.
pub fn router(meter: Meter) -> Router {
    Router::new().route("/metrics", get(metrics)).with_state(meter)
}

async fn metrics(State(meter): State<Meter>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    if !is_local(&parts) {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NOT_FOUND;
        return response;
    }
    let mut response = Response::new(Body::from(meter.text()));
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// Counts what is about to be recorded.
pub fn recorded(event: &Event) {
    let face = face(event.face.as_deref());
    if let Some(code) = &event.code {
        let code = known(&CODES, code.clone(), MOST_CODES).unwrap_or_else(|| "other".to_owned());
        counter!(REFUSALS, "code" => code, "face" => face).increment(1);
    }
    let outcome = match (event.kind, event.outcome) {
        (Kind::Call | Kind::Outcome, Some(outcome)) => word(outcome),
        _ => return,
    };
    // The address of a resource is as a caller wrote it; so only what has a name of its own is named.
    let tool = event.name.clone().filter(|_| event.verb.as_deref() == Some("call_tool")).unwrap_or_default();
    let pair = (event.server.clone().unwrap_or_default(), tool);
    let (server, tool) =
        known(&PAIRS, pair, MOST_PAIRS).unwrap_or_else(|| ("other".to_owned(), "other".to_owned()));
    counter!(CALLS, "server" => server.clone(), "tool" => tool, "face" => face, "outcome" => outcome)
        .increment(1);
    if let Some(micros) = event.duration_us {
        let took = Duration::from_micros(micros).as_secs_f64();
        histogram!(SECONDS, "server" => server, "face" => face).record(took);
    }
}

/// How many cells run, and how many of those there are stand still.
pub fn cells(running: usize, frozen: usize) {
    gauge!(CELLS, "state" => "running").set(number(running));
    gauge!(CELLS, "state" => "frozen").set(number(frozen));
}

/// How many events wait to be written into the record.
pub fn audit_queue(waiting: usize) {
    gauge!(QUEUE).set(number(waiting));
}

/// How old the keys of an issuer are, by its name in the configuration; none where they were never had.
pub fn keys_age(issuer: &str, age: Option<Duration>) {
    gauge!(KEYS, "issuer" => issuer.to_owned()).set(age.map_or(f64::NAN, |age| age.as_secs_f64()));
}

fn face(face: Option<&str>) -> &'static str {
    match face {
        Some("mcp") => "mcp",
        Some("messages") => "messages",
        Some("stdio") => "stdio",
        _ => "none",
    }
}

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Ok => "ok",
        Outcome::ToolError => "tool_error",
        Outcome::Failed => "failed",
        Outcome::Cancelled => "cancelled",
        Outcome::Unknown => "unknown",
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of this machine are far below 2⁵²")]
fn number(count: usize) -> f64 {
    count as f64
}

/// What has lines of its own: as many as there is room for, and none with a label that is too long.
trait Label: Eq + std::hash::Hash + Clone {
    fn length(&self) -> usize;
}

impl Label for String {
    fn length(&self) -> usize {
        self.len()
    }
}

impl Label for (String, String) {
    fn length(&self) -> usize {
        self.0.len().max(self.1.len())
    }
}

fn known<T: Label>(all: &Mutex<Option<HashSet<T>>>, label: T, most: usize) -> Option<T> {
    let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
    let all = all.get_or_insert_with(HashSet::new);
    let fits = all.contains(&label) || (all.len() < most && label.length() <= LONGEST_LABEL);
    if fits && !all.contains(&label) {
        all.insert(label.clone());
    }
    fits.then_some(label)
}

#[cfg(test)]
mod tests;
