//! Nothing comes in without a caller.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use arc_swap::ArcSwap;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use futures_util::future::BoxFuture;
use http::{HeaderValue, StatusCode, header};
use serde_json::{Map, Value, json};
use store::audit::{Event, Kind};

use super::connection::Connection;
use super::error::IdentityError;
use super::identifier::{Asked, Identifier};

/// Records what happens here: `note` of [`store::audit::Audit`], which gathers floods of one kind into few rows.
pub type Witness = Arc<dyn Fn(Event) -> BoxFuture<'static, ()> + Send + Sync>;

/// The identifier of now, and who is told of those it refuses. Clones are the same door.
#[derive(Clone)]
pub struct Door {
    current: Arc<ArcSwap<Identifier>>,
    witness: Witness,
}

impl Door {
    /// A door with this identifier.
    pub fn new(identifier: Identifier, witness: Witness) -> Self {
        let current = Arc::new(ArcSwap::from_pointee(identifier));
        Self { current, witness }
    }

    /// The identifier of now.
    pub fn identifier(&self) -> Arc<Identifier> {
        self.current.load_full()
    }

    /// Another identifier, for every request that comes from now on.
    pub fn replace(&self, identifier: Identifier) {
        self.current.store(Arc::new(identifier));
    }

    async fn refused(&self, error: &IdentityError, connection: Connection) {
        // What shows nothing is how every client begins: no attempt at anything.
        if *error == IdentityError::None {
            return;
        }
        // The record has it; a log at this level would be for strangers to fill.
        tracing::debug!(code = error.code(), from = %connection, "not recognised: {error}");
        let details = Map::from_iter([
            ("from".to_owned(), Value::from(connection.to_string())),
            ("reason".to_owned(), Value::from(error.to_string())),
        ]);
        let event = Event { code: Some(error.code().to_owned()), details, ..Event::new(Kind::Identity) };
        (self.witness)(event).await;
    }
}

impl fmt::Debug for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Door").field("current", &self.current).finish_non_exhaustive()
    }
}

/// A layer (`axum::middleware::from_fn_with_state`): the request goes on with its `Arc<Principal>` in its extensions and
/// without the header that proved it, so that nothing behind can hand a caller's token to anybody; or it is answered.
pub async fn identified(State(door): State<Door>, mut request: Request, next: Next) -> Response {
    // Whoever forgot to say what it came over gets nothing in.
    let Some(connection) = request.extensions().get::<Connection>().copied() else {
        tracing::error!("a request without its connection");
        return json_answer(StatusCode::INTERNAL_SERVER_ERROR, &json!({ "code": "FH-IDENTITY-NONE" }));
    };
    let identifier = door.identifier();
    let asked = Asked { uri: request.uri(), headers: request.headers(), connection };
    match identifier.identify(asked, SystemTime::now()).await {
        Ok(principal) => {
            request.headers_mut().remove(header::AUTHORIZATION);
            request.extensions_mut().insert(principal);
            // What lasts asks again whether its caller is still one.
            request.extensions_mut().insert(door);
            next.run(request).await
        }
        Err(error) => {
            door.refused(&error, connection).await;
            answer(&error, &identifier, request.uri().path())
        }
    }
}

/// A handler for everything under [`crate::resource_metadata::WELL_KNOWN`], which needs no caller.
pub async fn metadata(State(door): State<Door>, request: Request) -> Response {
    match door.identifier().metadata().document(request.uri().path()) {
        Some(document) => json_answer(StatusCode::OK, &document),
        None => json_answer(StatusCode::NOT_FOUND, &json!({ "code": "FH-IDENTITY-METADATA" })),
    }
}

fn answer(error: &IdentityError, identifier: &Identifier, path: &str) -> Response {
    let body = json!({ "code": error.code(), "message": error.to_string(), "hint": error.hint() });
    let mut response = json_answer(error.status(), &body);
    let headers = response.headers_mut();
    match error.status() {
        StatusCode::SERVICE_UNAVAILABLE => {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("10"));
        }
        StatusCode::FORBIDDEN => {}
        _ => {
            let challenge = identifier.metadata().challenge(path, error.challenge(), &error.to_string());
            headers.insert(header::WWW_AUTHENTICATE, challenge);
        }
    }
    response
}

fn json_answer(status: StatusCode, body: &Value) -> Response {
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
