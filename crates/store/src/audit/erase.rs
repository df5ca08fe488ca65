//! Removing bodies, and nothing else: every row and its hash stay as they are.

use serde_json::{Map, Value, json};

use super::{Audit, AuditError, Event, Filter, Kind, Settings, head, moment, sqlite::Database};

/// Erases the bodies of rows that fit, and records that: before, what is to be erased, and after, how many there were.
///
/// # Errors
///
/// [`AuditError`]: it cannot be recorded, so nothing is erased; or it cannot be erased.
pub async fn erase(settings: Settings, filter: &Filter) -> Result<u64, AuditError> {
    let folder = settings.folder.clone();
    let audit = Audit::open(settings).await?;
    let done = async {
        audit.commit(event("erasing_bodies", filter, None)).await?;
        let mut database = Database::open(&folder, head::read(&folder)?).await?;
        let erased = database.erase(filter).await?;
        database.close().await?;
        audit.commit(event("erased_bodies", filter, Some(erased))).await?;
        Ok(erased)
    }
    .await;
    audit.close().await;
    done
}

fn event(what: &str, filter: &Filter, count: Option<u64>) -> Event {
    let at = |at: Option<std::time::SystemTime>| at.map(moment::text);
    let said = [
        ("what", json!(what)),
        ("rows", json!(count)),
        ("kind", json!(filter.kind)),
        ("of_call", json!(filter.call)),
        ("server", json!(filter.server)),
        ("name", json!(filter.name)),
        ("subject", json!(filter.subject)),
        ("tenant", json!(filter.tenant)),
        ("code", json!(filter.code)),
        ("since", json!(at(filter.since))),
        ("until", json!(at(filter.until))),
    ];
    let said = said.into_iter().filter(|(_, value)| *value != Value::Null);
    let details: Map<String, Value> = said.map(|(name, value)| (name.to_owned(), value)).collect();
    Event { details, ..Event::new(Kind::Service) }
}
