//! What a client gets that has to answer something before its request is done.

use std::time::SystemTime;

use serde_json::{Map, Value};

use super::super::{
    concluding::complete,
    envelope::look_alike,
    questions::{self, Declined},
    rpc::{Fault, INTERNAL_ERROR, Outcome, REFUSED},
    state::{Round, State},
};
use super::call::{Call, missing};
use access::Verb;

impl Call {
    /// Questions of a call that waits here.
    pub(super) fn sealed_as_held(&self, requests: Map<String, Value>) -> Outcome {
        let round = Round::Held { call: self.id.clone() };
        let state = self.seal(round)?;
        Ok(self.required(requests, Some(state)))
    }

    /// Questions of a server that knows by its own state what it asked, and is asked anew with the answers.
    pub(super) fn input_required(&self, result: &Map<String, Value>) -> Outcome {
        let (Some(asker), false) = (self.asked.subject.asker(), self.asked.subject.verb == Verb::Complete)
        else {
            return Err(Fault::new(INTERNAL_ERROR, "the server asked where nothing is to be asked"));
        };
        let mut requests = Map::new();
        let asked = result.get("inputRequests").and_then(Value::as_object);
        for (key, request) in asked.into_iter().flatten() {
            if !asker.pass_through
                && request
                    .as_object()
                    .is_none_or(|members| look_alike(members, &["method", "params"]).is_some())
            {
                return Err(Fault::new(REFUSED, Declined::Malformed("it is no request").to_string()));
            }
            let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
            let params = request.get("params").unwrap_or(&Value::Null);
            let params = match questions::put(asker, &self.asked.capabilities, method, params) {
                Ok(params) => params,
                Err(Declined::Incapable(capability)) => return Err(missing(&capability)),
                Err(declined) => return Err(Fault::new(REFUSED, declined.to_string())),
            };
            let mut request = request.clone();
            if let Some(members) = request.as_object_mut().filter(|_| !params.is_null()) {
                members.insert("params".to_owned(), params);
            }
            requests.insert(key.clone(), request);
        }
        let theirs = result.get("requestState").and_then(Value::as_str).map(str::to_owned);
        if requests.is_empty() && theirs.is_none() {
            return Err(Fault::new(INTERNAL_ERROR, "the server asked nothing and waits for an answer"));
        }
        let round = match (asker.pass_through, theirs) {
            // As the server has it: it takes the answers without a state.
            (true, None) => None,
            (_, state) => {
                let asked = requests.keys().cloned().collect();
                Some(self.seal(Round::Again { server: asker.server.clone(), state, asked })?)
            }
        };
        Ok(self.required(requests, round))
    }

    fn seal(&self, round: Round) -> Result<String, Fault> {
        let state =
            State { principal: self.asked.caller.key.clone(), request: self.asked.digest.clone(), round };
        self.asked.face.seal.seal(state, SystemTime::now()).map_err(|error| {
            Fault::new(INTERNAL_ERROR, format!("the state of the request cannot be sealed ({error})"))
        })
    }

    fn required(&self, requests: Map<String, Value>, state: Option<String>) -> Map<String, Value> {
        let mut result = Map::new();
        result.insert("resultType".to_owned(), "input_required".into());
        if !requests.is_empty() {
            result.insert("inputRequests".to_owned(), Value::Object(requests));
        }
        if let Some(state) = state {
            result.insert("requestState".to_owned(), state.into());
        }
        complete(&mut result, &self.asked.server_info);
        result
    }
}
