//! Addresses that callers follow, and logs that they read.

use serde_json::json;
use tokio::time::Duration;

use super::{Level, Upstream, call::Whose};

/// How long the server may take to answer what nobody waits for.
const QUIETLY: Duration = Duration::from_secs(30);

impl Upstream {
    /// One more caller follows an address.
    pub(super) fn follow(&mut self, uri: String) {
        let count = self.followed.entry(uri).or_default();
        *count = count.saturating_add(1);
    }

    /// One follows it no more. The last of them ends it at the server.
    pub(super) fn unfollow(&mut self, uri: &str) {
        let Some(count) = self.followed.get_mut(uri) else { return };
        *count = count.saturating_sub(1);
        if *count == 0 {
            self.followed.remove(uri);
            self.tell_quietly("resources/unsubscribe", &json!({ "uri": uri }));
        }
    }

    /// A server that was started anew is told what is followed.
    pub(super) fn follow_again(&mut self) {
        let followed: Vec<String> = self.followed.keys().cloned().collect();
        for uri in followed {
            self.tell_quietly("resources/subscribe", &json!({ "uri": uri }));
        }
    }

    /// A reader of logs comes, with what it wants, or goes.
    pub(super) fn level(&mut self, number: u64, level: Option<Level>) {
        let before = self.levels.values().min().copied();
        match level {
            Some(level) => drop(self.levels.insert(number, level)),
            None => drop(self.levels.remove(&number)),
        }
        if self.levels.values().min().copied() != before {
            self.tell_level();
        }
    }

    /// The server logs what the most curious of its readers wants.
    pub(super) fn tell_level(&mut self) {
        let logs = |surface: &tools::surface::Surface| {
            surface.capabilities().get("logging").is_some_and(|logging| !logging.is_null())
        };
        let Some(level) = self.levels.values().min().copied() else { return };
        if self.accepted.as_ref().is_some_and(|accepted| logs(&accepted.surface)) {
            self.tell_quietly("logging/setLevel", &json!({ "level": level.as_str() }));
        }
    }

    fn tell_quietly(&mut self, method: &str, params: &serde_json::Value) {
        if self.front.as_ref().is_some_and(crate::front::Front::is_open) && self.cell.up().is_some() {
            self.ask_ourselves(Whose::Quiet, method, params, QUIETLY);
        }
    }
}
