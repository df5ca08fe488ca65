//! Whether the service lives, and whether it can serve.
//!
//! Whoever is on this machine is told why not; everybody else is told what, and not more.

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    response::Response,
    routing::get,
};
use futures_util::future::{BoxFuture, join_all};
use http::{HeaderValue, StatusCode, header, request::Parts};
use model::visible::excerpt;
use serde_json::{Map, Value, json};
use store::audit::{Audit, Health};

use crate::identify::Connection;

/// How long one cause has to say how it is.
const PATIENCE: Duration = Duration::from_secs(2);

/// Longest reason that is passed on, in characters.
const LONGEST_REASON: usize = 300;

/// Headers of a request that somebody passed on: it is not from this machine, whatever its connection says.
const PASSED_ON: [&str; 4] = ["forwarded", "x-forwarded-for", "x-real-ip", "via"];

/// Something without which the service cannot serve as it should.
pub trait Cause: Send + Sync {
    /// One word, such as `vault`.
    fn name(&self) -> &'static str;

    /// How it is now.
    fn state(&self) -> BoxFuture<'_, Standing>;
}

/// How a [`Cause`] is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// As it should be.
    Good,
    /// Some calls are refused for it. The service is ready all the same.
    Limited(String),
    /// Nothing can be served.
    Failed(String),
}

/// `GET /healthz` and `GET /readyz`. Neither needs a caller.
pub fn router(causes: Vec<Arc<dyn Cause>>) -> Router {
    Router::new().route("/healthz", get(lives)).route("/readyz", get(is_ready)).with_state(Arc::new(causes))
}

/// Whether a request comes from this machine, and from no cell on it.
pub fn is_local(request: &Parts) -> bool {
    let is_passed_on = PASSED_ON.iter().any(|name| request.headers.contains_key(*name));
    match request.extensions.get::<Connection>() {
        Some(Connection::Tcp(address)) => address.ip().to_canonical().is_loopback() && !is_passed_on,
        Some(connection @ Connection::Unix { .. }) => !connection.is_of_a_cell() && !is_passed_on,
        None => false,
    }
}

async fn lives() -> Response {
    answered(StatusCode::OK, &json!({"alive": true}))
}

async fn is_ready(State(causes): State<Arc<Vec<Arc<dyn Cause>>>>, request: Request) -> Response {
    let is_local = is_local(&request.into_parts().0);
    let standings = join_all(causes.iter().map(|cause| async {
        let standing = tokio::time::timeout(PATIENCE, cause.state()).await;
        let late = |_| Standing::Failed(format!("no answer within {} s", PATIENCE.as_secs()));
        (cause.name(), standing.unwrap_or_else(late))
    }));
    let standings = standings.await;
    let is_ready = !standings.iter().any(|(_, standing)| matches!(standing, Standing::Failed(_)));
    let told: Map<String, Value> =
        standings.iter().map(|(name, standing)| ((*name).to_owned(), told(standing, is_local))).collect();
    let status = if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    answered(status, &json!({"ready": is_ready, "causes": told}))
}

fn told(standing: &Standing, is_local: bool) -> Value {
    let (word, reason) = match standing {
        Standing::Good => ("good", None),
        Standing::Limited(reason) => ("limited", Some(reason)),
        Standing::Failed(reason) => ("failed", Some(reason)),
    };
    let mut told = Map::from_iter([("state".to_owned(), json!(word))]);
    if let Some(reason) = reason.filter(|_| is_local) {
        told.insert("reason".to_owned(), json!(excerpt(reason, LONGEST_REASON)));
    }
    Value::Object(told)
}

fn answered(status: StatusCode, body: &Value) -> Response {
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// The record. While it spills into a file, what changes something is refused; the rest is served.
impl Cause for Audit {
    fn name(&self) -> &'static str {
        "audit"
    }

    fn state(&self) -> BoxFuture<'_, Standing> {
        let standing = match self.health() {
            Health::Ok => Standing::Good,
            Health::Spilling { reason } => Standing::Limited(reason),
            Health::Failed { reason } => Standing::Failed(reason),
        };
        Box::pin(std::future::ready(standing))
    }
}

#[cfg(test)]
mod tests;
