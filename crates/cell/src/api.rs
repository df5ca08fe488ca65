//! The API: which request does what. Documented in `docs/reference/cell-api.md`.

use std::{convert::Infallible, rc::Rc};

use bytes::Bytes;
use cell_api::{
    BODY_LIMIT,
    error::{ErrorBody, ErrorCode},
};
use http_body_util::{BodyExt, Full, Limited, combinators::UnsyncBoxBody};
use hyper::{Method, Request, Response, StatusCode, body::Incoming, header};
use serde::{Serialize, de::DeserializeOwned};

use crate::{cell::Cell, connections::Connections};

mod cells;
mod connect;
mod follow;
mod network;
mod processes;

/// What is sent back.
pub(crate) type Reply = Response<UnsyncBoxBody<Bytes, Infallible>>;

/// Answers one request.
pub(crate) async fn answer(
    cell: Rc<Cell>,
    connections: Rc<Connections>,
    request: Request<Incoming>,
) -> Reply {
    route(&cell, &connections, request).await.unwrap_or_else(|refusal| refuse(&refusal))
}

async fn route(
    cell: &Rc<Cell>,
    connections: &Rc<Connections>,
    request: Request<Incoming>,
) -> Result<Reply, ErrorBody> {
    let path = request.uri().path().to_owned();
    let method = request.method().clone();
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    match segments.as_slice() {
        ["v1", "cell"] => match method {
            Method::PUT => cells::create(cell, &body(request).await?),
            Method::GET => cells::info(cell),
            Method::DELETE => cells::end(cell, body_or_default(request).await?).await,
            _ => Err(wrong_method(&method, &path, "GET, PUT, DELETE")),
        },
        ["v1", "cell", "start"] => only(&Method::POST, &method, &path)?.then(cells::start(cell)).await,
        ["v1", "cell", "freeze"] => {
            only(&Method::POST, &method, &path)?.then(cells::freeze(cell, true)).await
        }
        ["v1", "cell", "thaw"] => only(&Method::POST, &method, &path)?.then(cells::freeze(cell, false)).await,
        ["v1", "cell", "log"] => {
            only(&Method::POST, &method, &path)?;
            cells::log(cell, &body(request).await?)
        }
        ["v1", "cell", "events"] => {
            only(&Method::GET, &method, &path)?;
            follow::events(cell, query(&request, "follow")?)
        }
        ["v1", "cell", "connect"] => {
            only(&Method::POST, &method, &path)?;
            let port = query(&request, "port")?;
            connect::inside(cell, connections, port, request).await
        }
        ["v1", "cell", "network"] => match method {
            Method::PUT => network::change(cell, &body(request).await?).await,
            Method::GET => network::info(cell),
            _ => Err(wrong_method(&method, &path, "GET, PUT")),
        },
        ["v1", "cell", "network", "check"] => {
            only(&Method::POST, &method, &path)?;
            network::check(cell, &body(request).await?).await
        }
        ["v1", "cell", "network", "log"] => {
            only(&Method::GET, &method, &path)?;
            network::log(cell, query(&request, "follow")?)
        }
        ["v1", "processes"] => match method {
            Method::GET => Ok(processes::list(cell)),
            Method::POST => processes::exec(cell, &body(request).await?).await,
            _ => Err(wrong_method(&method, &path, "GET, POST")),
        },
        ["v1", "processes", id, "signal"] => {
            only(&Method::POST, &method, &path)?;
            let process = processes::find(cell, id)?;
            processes::signal(cell, &process, body(request).await?).await
        }
        ["v1", "processes", id, "attach"] => {
            only(&Method::POST, &method, &path)?;
            let process = processes::find(cell, id)?;
            let stderr = query(&request, "stderr")?;
            processes::attach(cell, connections, &process, stderr, request)
        }
        _ => Err(ErrorBody::new(ErrorCode::NotFound, format!("`{path}` is not a path of this API"))
            .hint("see docs/reference/cell-api.md")),
    }
}

/// Proof that the method fits.
struct Fits;

impl Fits {
    async fn then(self, reply: impl Future<Output = Result<Reply, ErrorBody>>) -> Result<Reply, ErrorBody> {
        reply.await
    }
}

fn only(expected: &Method, method: &Method, path: &str) -> Result<Fits, ErrorBody> {
    if method == expected { Ok(Fits) } else { Err(wrong_method(method, path, expected.as_str())) }
}

fn wrong_method(method: &Method, path: &str, fitting: &str) -> ErrorBody {
    ErrorBody::new(ErrorCode::Method, format!("`{path}` knows no {method}"))
        .hint(format!("it knows {fitting}"))
}

/// A value as JSON.
fn json(status: StatusCode, value: &impl Serialize) -> Result<Reply, ErrorBody> {
    let text = serde_json::to_vec(value).map_err(|error| {
        ErrorBody::new(ErrorCode::Internal, format!("writing the answer failed: {error}"))
    })?;
    Ok(reply(status, text.into()))
}

fn reply(status: StatusCode, body: Bytes) -> Reply {
    let mut reply = Response::new(Full::new(body).boxed_unsync());
    *reply.status_mut() = status;
    reply.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json"));
    reply
}

fn refuse(refusal: &ErrorBody) -> Reply {
    let status = StatusCode::from_u16(refusal.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    // A struct of strings always has a JSON form; were it not so, the status alone says enough.
    let mut refused = reply(status, serde_json::to_vec(refusal).unwrap_or_default().into());
    if refusal.code == ErrorCode::BodySize {
        // The rest of the body is not read.
        refused.headers_mut().insert(header::CONNECTION, header::HeaderValue::from_static("close"));
    }
    refused
}

async fn body<T: DeserializeOwned>(request: Request<Incoming>) -> Result<T, ErrorBody> {
    parse(&bytes(request).await?)
}

/// Like [`body`], and the default where there is none.
async fn body_or_default<T: DeserializeOwned + Default>(request: Request<Incoming>) -> Result<T, ErrorBody> {
    let bytes = bytes(request).await?;
    if bytes.is_empty() { Ok(T::default()) } else { parse(&bytes) }
}

async fn bytes(request: Request<Incoming>) -> Result<Bytes, ErrorBody> {
    match Limited::new(request.into_body(), BODY_LIMIT).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => {
            Err(ErrorBody::new(ErrorCode::BodySize, format!("the body is longer than {BODY_LIMIT} bytes")))
        }
        Err(error) => Err(ErrorBody::new(ErrorCode::Body, format!("reading the body failed: {error}"))),
    }
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ErrorBody> {
    serde_json::from_slice(bytes).map_err(|error| {
        ErrorBody::new(ErrorCode::Body, format!("the body is not what was expected: {error}"))
    })
}

/// The value of the only query parameter, or the default where there is no query.
fn query<T: DeserializeOwned + Default>(request: &Request<Incoming>, name: &str) -> Result<T, ErrorBody> {
    let Some(query) = request.uri().query().filter(|query| !query.is_empty()) else {
        return Ok(T::default());
    };
    let refused = || ErrorBody::new(ErrorCode::Spec, format!("the query `{query}` is not understood"));
    let (key, value) = query.split_once('=').ok_or_else(refused)?;
    if key != name {
        return Err(refused().hint(format!("the parameter is called `{name}`")));
    }
    // `true` and `false` are JSON as they are; every other word is a JSON string.
    serde_json::from_str(value).or_else(|_| serde_json::from_value(value.into())).map_err(|_| refused())
}
