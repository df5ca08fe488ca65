//! Streams on which a client has itself told of changed lists (MCP 2026-07-28, subscriptions): over stdio each is a request
//! that is answered when there is nothing more to come.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{
    Front, Order,
    catalog::LISTED,
    message::{self, INTERNAL_ERROR, INVALID_PARAMS, Id},
    modern::Fault,
};
use crate::guard;

/// Which stream something is for.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
/// As many streams may a client have open.
const MOST: usize = 64;

/// The open ones, with the capabilities whose lists they are about.
#[derive(Debug, Default)]
pub(super) struct Listening(BTreeMap<Id, Vec<&'static str>>);

impl Listening {
    pub(super) fn has(&self, id: &Id) -> bool {
        self.0.contains_key(id)
    }

    /// Closes one; whether it was there.
    pub(super) fn leave(&mut self, id: &Id) -> bool {
        self.0.remove(id).is_some()
    }
}

impl Front {
    /// Opens one.
    pub(super) fn listen(&mut self, id: &Id, params: Option<&Value>) -> Result<(), Fault> {
        let wanted = params.and_then(|params| params.get("notifications")).and_then(Value::as_object);
        let wanted =
            wanted.ok_or_else(|| Fault::new(INVALID_PARAMS, "`notifications` are missing, or no object"))?;
        if self.listening.0.len() >= MOST && !guard::off("front-bounds") {
            return Err(Fault::new(INTERNAL_ERROR, format!("{MOST} such streams are open already")));
        }
        let announced = self.catalog.announced();
        let is_wanted =
            |list: &&str| wanted.get(&key(list)) == Some(&Value::Bool(true)) && announced.contains(list);
        let lists: Vec<&'static str> = LISTED.into_iter().filter(is_wanted).collect();
        let granted: Map<String, Value> = lists.iter().map(|list| (key(list), true.into())).collect();
        self.tell_one("notifications/subscriptions/acknowledged", id, json!({ "notifications": granted }));
        self.listening.0.insert(id.clone(), lists);
        Ok(())
    }

    /// Tells of changed lists, those of these capabilities.
    pub(super) fn tell_listeners(&mut self, capabilities: &[&'static str]) {
        let told: Vec<(Id, &'static str)> = self
            .listening
            .0
            .iter()
            .flat_map(|(id, lists)| lists.iter().map(move |list| (id.clone(), *list)))
            .filter(|(_, list)| capabilities.contains(list))
            .collect();
        for (id, list) in told {
            self.tell_one(&format!("notifications/{list}/list_changed"), &id, json!({}));
        }
    }

    /// Nothing more will come.
    pub(super) fn end_listening(&mut self) {
        for id in std::mem::take(&mut self.listening).0.into_keys() {
            let result = json!({ "resultType": "complete", "_meta": { SUBSCRIPTION: id.value() } });
            self.answer(message::result(&id, &result));
        }
    }

    fn tell_one(&mut self, method: &str, id: &Id, mut params: Value) {
        if let Value::Object(members) = &mut params {
            members.insert("_meta".into(), json!({ SUBSCRIPTION: id.value() }));
        }
        let said = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.out.push_back(Order::ToClient(message::line(&said)));
    }
}

/// Of a filter: whether one wants to hear of changes of the list.
fn key(list: &str) -> String {
    format!("{list}ListChanged")
}
