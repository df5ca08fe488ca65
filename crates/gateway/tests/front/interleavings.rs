//! Whatever comes in whichever order: no call to a tool reaches the server before it was compared, none whose entry is
//! another one, and none while it is not known whether it is.

use std::collections::{BTreeSet, VecDeque};

use gateway::front::Order;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::world::{Server, World, notification, one_line};

/// Something that happens.
#[derive(Debug, Clone, Copy)]
enum Step {
    Call(&'static str),
    CallUnderOurId,
    Cancel(u64),
    List,
    Junk,
    /// The server hears the next line that waits for it.
    Hear,
    /// The front hears the next line that waits for it.
    Say,
    /// The server changes this way.
    Edit(usize),
    /// And says so.
    Tell,
    Forge,
    Up,
    Settle,
    Gone,
}

const EDITS: [fn(&mut Server); 6] = [
    |server| server.lists = Server::weather().lists,
    |server| {
        server.lists = Server::weather().lists;
        server.entry("tools", "alerts")["title"] = json!("Other");
    },
    |server| server.lists.get_mut("tools").unwrap().retain(|tool| tool["name"] != "alerts"),
    |server| {
        server
            .lists
            .get_mut("tools")
            .unwrap()
            .push(json!({ "name": "new", "inputSchema": { "type": "object" } }));
    },
    |server| server.page = 1,
    |server| server.hello["instructions"] = json!("Other"),
];

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => prop::sample::select(vec![Step::Call("forecast"), Step::Call("alerts"), Step::Call("new"), Step::Call("")]),
        1 => Just(Step::CallUnderOurId),
        1 => (0u64..8).prop_map(Step::Cancel),
        1 => prop::sample::select(vec![Step::List, Step::Junk, Step::Forge]),
        12 => Just(Step::Hear),
        12 => Just(Step::Say),
        2 => (0..EDITS.len()).prop_map(Step::Edit),
        2 => Just(Step::Tell),
        2 => Just(Step::Up),
        3 => Just(Step::Settle),
        1 => prop::sample::select(vec![Step::Settle, Step::Settle, Step::Settle, Step::Gone]),
    ];
    prop::collection::vec(step, 0..200)
}

/// What an onlooker knows, who sees every line that passes.
struct Onlooker {
    accepted: Vec<Value>,
    world: World,
    to_server: VecDeque<Value>,
    to_front: VecDeque<String>,
    /// Lines that have passed so far.
    now: usize,
    is_same: bool,
    is_over: bool,
    /// When the front heard last that a list has changed.
    told: usize,
    /// The last reading that the front has heard to its end, and that no change has overtaken.
    read: Option<Reading>,
    /// The one that is under way.
    reading: Reading,
    /// Tools that were another one when a reading ended.
    changed: BTreeSet<String>,
    called: usize,
    next_id: u64,
}

/// One reading of all lists.
#[derive(Default)]
struct Reading {
    /// When it was begun.
    asked: usize,
    /// Ids of requests that have no answer yet.
    open: BTreeSet<String>,
    tools: Vec<Value>,
}

impl Onlooker {
    fn of(server: Server) -> Self {
        let accepted = server.lists["tools"].clone();
        Self {
            accepted,
            world: World::of(server),
            to_server: VecDeque::new(),
            to_front: VecDeque::new(),
            now: 1,
            is_same: false,
            is_over: false,
            told: 0,
            read: None,
            reading: Reading::default(),
            changed: BTreeSet::new(),
            called: 0,
            next_id: 0,
        }
    }

    fn step(&mut self, step: Step) {
        self.now += 1;
        let front = &mut self.world.front;
        match step {
            Step::Call(tool) => {
                self.next_id += 1;
                let params = json!({ "name": tool });
                let call =
                    json!({ "jsonrpc": "2.0", "id": self.next_id, "method": "tools/call", "params": params });
                front.client(call.to_string().as_bytes());
            }
            Step::CallUnderOurId => {
                let id = format!("{}1-{}", crate::world::PREFIX, self.next_id % 4);
                let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "forecast" } });
                front.client(call.to_string().as_bytes());
            }
            Step::Cancel(back) => {
                let params = json!({ "requestId": self.next_id.saturating_sub(back) });
                let line = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
                front.client(line.to_string().as_bytes());
            }
            Step::List => front.client(br#"{"jsonrpc":"2.0","id":"list","method":"tools/list"}"#),
            Step::Junk => {
                front.client(br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"new","name":"alerts"}}"#);
                front.server(b"[]");
            }
            Step::Forge => {
                let accepted = json!({ "tools": self.accepted });
                let id = format!("{}1-1000", crate::world::PREFIX);
                front
                    .server(json!({ "jsonrpc": "2.0", "id": id, "result": accepted }).to_string().as_bytes());
            }
            Step::Hear => {
                if let Some(line) = self.to_server.pop_front() {
                    self.to_front.extend(self.world.server.hear(&line));
                }
            }
            Step::Say => {
                if let Some(line) = self.to_front.pop_front() {
                    self.is_heard(&line);
                    self.world.front.server(line.as_bytes());
                }
            }
            Step::Edit(which) => EDITS[which](&mut self.world.server),
            Step::Tell => {
                self.to_front.push_back(notification("notifications/tools/list_changed").to_string());
            }
            Step::Up => front.up(),
            Step::Settle => front.settled(),
            Step::Gone => {
                front.gone("it was killed");
                front.starting();
                self.to_server.clear();
                self.to_front.clear();
                self.reading = Reading::default();
                (self.is_same, self.told, self.read) = (false, 0, None);
            }
        }
        self.carry_out();
    }

    /// The front is about to hear this of the server.
    fn is_heard(&mut self, line: &str) {
        let line: Value = serde_json::from_str(line).unwrap();
        if line["method"] == "notifications/tools/list_changed" {
            self.told = self.now;
        }
        let reading = &mut self.reading;
        if line.get("method").is_some() || !reading.open.remove(&line["id"].to_string()) {
            return;
        }
        reading.tools.extend(line["result"]["tools"].as_array().into_iter().flatten().cloned());
        let is_complete = reading.open.is_empty() && line["result"].get("nextCursor").is_none();
        if is_complete && self.told <= reading.asked {
            let reading = std::mem::take(reading);
            let others = self.accepted.iter().filter(|tool| !reading.tools.contains(tool));
            if self.is_same {
                self.changed.extend(others.map(|tool| tool["name"].as_str().unwrap().to_owned()));
            }
            self.read = Some(reading);
        }
    }

    fn carry_out(&mut self) {
        while let Some(order) = self.world.front.next_order() {
            match order {
                Order::ToServer(line) => self.is_sent(&one_line(&line)),
                Order::Same => self.is_same = true,
                Order::Changed { whole: true, .. } => self.is_over = true,
                _ => {}
            }
        }
    }

    /// The front has let this pass.
    fn is_sent(&mut self, line: &Value) {
        if line["method"].as_str().is_some_and(|method| method.ends_with("/list")) {
            if line["method"] == "tools/list" && line["params"].get("cursor").is_none() {
                self.reading = Reading { asked: self.now, ..Reading::default() };
            }
            self.reading.open.insert(line["id"].to_string());
        }
        if line["method"] == "tools/call" {
            let name = line["params"]["name"].as_str().unwrap();
            assert!(self.is_same && !self.is_over, "`{name}` passes without a comparison");
            let Reading { asked, tools, .. } = self.read.as_ref().unwrap();
            assert!(self.told <= *asked, "`{name}` passes though the lists have changed since");
            let accepted = self.accepted.iter().find(|tool| tool["name"] == name);
            assert!(
                accepted.is_some_and(|tool| tools.contains(tool)),
                "`{name}` passes, and is not what was accepted"
            );
            assert!(!self.changed.contains(name), "`{name}` passes, and was another one meanwhile");
            assert!(line["id"].is_u64(), "a call passes under our id");
            self.called += 1;
        }
        self.to_server.push_back(line.clone());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]

    #[test]
    fn no_call_passes_but_to_a_tool_that_is_the_accepted_one(steps in steps()) {
        let mut onlooker = Onlooker::of(Server::weather());
        onlooker.carry_out();
        for step in steps {
            onlooker.step(step);
        }
    }
}

/// The property would hold of a front that lets nothing pass.
#[test]
fn calls_pass_in_such_a_world() {
    let mut onlooker = Onlooker::of(Server::weather());
    let all = [Step::Call("forecast"), Step::Up].into_iter().chain([Step::Hear, Step::Say].repeat(8));
    let changed = [Step::Edit(1), Step::Tell, Step::Say, Step::Call("alerts"), Step::Call("forecast")];
    for step in all.chain(changed).chain([Step::Hear, Step::Say].repeat(8)) {
        onlooker.step(step);
    }
    assert_eq!(onlooker.called, 2);
    assert_eq!(onlooker.changed, BTreeSet::from(["alerts".to_owned()]));
    assert_eq!(onlooker.world.server.called(), ["forecast", "forecast"]);
}
