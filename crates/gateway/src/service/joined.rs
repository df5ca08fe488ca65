//! What the pool needs of shelf and record.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use model::name::ServerName;
use serde_json::{Value, json};
use store::audit::{Audit, Event, Kind};
use tools::surface::Surface;

use crate::{
    pool::{Accepted, Changes, Holder, Record, Seen},
    shelf::Shelf,
};

/// The shelf, as the pool asks it.
#[derive(Debug, Clone)]
pub struct ShelfOfPool(pub Arc<Shelf>);

impl Changes for ShelfOfPool {
    fn accepted(&self, server: &ServerName) -> Result<Accepted, String> {
        let stock = self.0.stock();
        let offer = stock.offer(server).ok_or("there is no such server any more")?;
        if let Some(notice) = offer.notice() {
            return Err(notice.reason.clone());
        }
        let surface = offer.surface().ok_or("nothing of it was accepted")?;
        let terms = offer.terms();
        Ok(Accepted {
            surface: Surface::clone(surface),
            profile: terms.client.clone(),
            is_pass_through: terms.pass_through,
            version: terms.version.clone(),
        })
    }

    fn held(&self, server: &ServerName, now: &Result<Surface, String>, whole: bool) {
        self.0.hold(server, now, whole);
    }
}

/// The record, as the pool writes what happens at the edge of cells.
#[derive(Debug, Clone)]
pub struct AuditOfEdges(pub Audit);

impl Record for AuditOfEdges {
    fn network(&self, seen: Seen) -> BoxFuture<'static, ()> {
        let audit = self.0.clone();
        Box::pin(async move { audit.note(event(seen)).await })
    }
}

/// A row for something that happened at the edge of a cell. Where one call alone was in flight it is that call's; where
/// there were several it names them all, since the server does not say for which it was.
fn event(seen: Seen) -> Event {
    let Seen { key, mut calls, event } = seen;
    let is_key_use = event.get("event").and_then(Value::as_str) == Some("key-used");
    let mut row = Event::new(if is_key_use { Kind::KeyUse } else { Kind::Egress });
    row.server = Some(key.server.to_string());
    let text = |name: &str| event.get(name).and_then(Value::as_str).map(str::to_owned);
    row.name = text("host");
    row.rule = text("rule");
    row.code = text("code");
    row.details.insert("cell".into(), key.to_string().into());
    if let Holder::User(user) = &key.whose {
        row.details.insert("holder".into(), user.clone().into());
    }
    if calls.len() == 1 {
        row.call = calls.pop();
    } else if !calls.is_empty() {
        row.details.insert("calls".into(), json!(calls));
    }
    row.details.insert("entry".into(), event);
    row
}
