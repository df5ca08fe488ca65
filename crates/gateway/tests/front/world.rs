//! A front between a client, which is the test, and a server that answers from lists which a test can edit.

use std::collections::{BTreeMap, VecDeque};

use gateway::front::{Front, Order};
use model::profile::Profile;
use serde_json::{Value, json};
use tools::introspect::Introspection;
use tools::surface::Surface;

/// What our own requests to the server begin with.
pub(crate) const PREFIX: &str = "fumehood-0a1b2c-";

/// What a server is, as far as one can see.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    pub(crate) hello: Value,
    /// By the member that holds the list.
    pub(crate) lists: BTreeMap<&'static str, Vec<Value>>,
    /// Entries on one page.
    pub(crate) page: usize,
    /// How it writes its lists.
    pub(crate) spelling: fn(&Value) -> String,
    /// Whether it answers when its lists are asked for.
    pub(crate) is_deaf: bool,
    /// What it was asked while it was deaf.
    pub(crate) unanswered: Vec<Value>,
    /// Everything that it was told.
    pub(crate) heard: Vec<Value>,
}

const LISTS: [(&str, &str); 4] = [
    ("tools/list", "tools"),
    ("prompts/list", "prompts"),
    ("resources/list", "resources"),
    ("resources/templates/list", "resourceTemplates"),
];

impl Server {
    /// One with something of everything.
    pub(crate) fn weather() -> Self {
        let forecast = json!({
            "name": "forecast",
            "title": "Forecast",
            "description": "The weather of the days to come.",
            "icons": [{ "src": "https://weather.example/icon.png", "mimeType": "image/png" }],
            "annotations": { "readOnlyHint": true },
            "inputSchema": {
                "type": "object",
                "$defs": { "days": { "type": "integer", "minimum": 1, "maximum": 100, "multipleOf": 0.5 } },
                "properties": {
                    "days": { "$ref": "#/$defs/days" },
                    "place": {
                        "type": "object",
                        "properties": {
                            "point": { "type": "object", "properties": { "lat": { "type": "number", "description": "Latitude." } } }
                        }
                    }
                },
                "required": ["place"]
            }
        });
        let alerts =
            json!({ "name": "alerts", "description": "Warnings.", "inputSchema": { "type": "object" } });
        let arguments = json!([{ "name": "city", "description": "Which one." }]);
        Self {
            hello: json!({
                "protocolVersion": "2025-11-25",
                "serverInfo": { "name": "weather", "version": "1.0.0" },
                "capabilities": {
                    "tools": { "listChanged": true }, "prompts": {}, "resources": { "subscribe": true },
                    "completions": {}, "logging": {}
                },
                "instructions": "Ask for a place first."
            }),
            lists: BTreeMap::from([
                ("tools", vec![forecast, alerts]),
                (
                    "prompts",
                    vec![
                        json!({ "name": "report", "description": "A report.", "arguments": arguments }),
                        json!({ "name": "joke" }),
                    ],
                ),
                ("resources", vec![json!({ "uri": "weather://stations", "name": "stations" })]),
                (
                    "resourceTemplates",
                    vec![json!({ "uriTemplate": "city://{name}", "name": "city", "description": "A city." })],
                ),
            ]),
            page: 1_000,
            spelling: Value::to_string,
            is_deaf: false,
            unanswered: Vec::new(),
            heard: Vec::new(),
        }
    }

    /// An entry of a list by its name.
    pub(crate) fn entry(&mut self, list: &str, name: &str) -> &mut Value {
        let named = |entry: &&mut Value| {
            ["name", "uri", "uriTemplate"]
                .iter()
                .any(|key| entry.get(*key).is_some_and(|value| value == name))
        };
        self.lists.get_mut(list).unwrap().iter_mut().find(named).unwrap()
    }

    /// Its answers to a line.
    pub(crate) fn hear(&mut self, line: &Value) -> Vec<String> {
        self.heard.push(line.clone());
        let (Some(method), Some(id)) = (line["method"].as_str(), line.get("id")) else { return Vec::new() };
        let answer = |result: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        if method == "initialize" {
            return vec![answer(&self.hello.to_string())];
        }
        let Some((_, list)) = LISTS.iter().find(|(asked, _)| *asked == method) else {
            return vec![answer(&json!({ "content": [{ "type": "text", "text": "sunny" }] }).to_string())];
        };
        if self.is_deaf {
            self.unanswered.push(line.clone());
            return Vec::new();
        }
        let start: usize = line["params"]["cursor"].as_str().map_or(0, |cursor| cursor.parse().unwrap());
        let all = &self.lists[list];
        let start = start.min(all.len());
        let end = all.len().min(start + self.page);
        let entries: Vec<String> = all[start..end].iter().map(self.spelling).collect();
        let next = if end < all.len() { format!(r#","nextCursor":"{end}""#) } else { String::new() };
        vec![answer(&format!(r#"{{"{list}":[{}]{next}}}"#, entries.join(",")))]
    }

    /// The names of the tools that were called.
    pub(crate) fn called(&self) -> Vec<&str> {
        let calls = self.heard.iter().filter(|line| line["method"] == "tools/call");
        calls.map(|line| line["params"]["name"].as_str().unwrap()).collect()
    }

    /// How often it was asked this.
    pub(crate) fn times(&self, method: &str) -> usize {
        self.heard.iter().filter(|line| line["method"] == method).count()
    }

    /// What it offers, as a review reads it.
    pub(crate) fn surface(&self, profile: &Profile) -> Surface {
        let mut server = self.clone();
        let mut reading = Introspection::new(profile, "review-");
        let mut asked: VecDeque<Value> = reading.begin().into();
        while let Some(line) = asked.pop_front() {
            for said in server.hear(&line) {
                asked.extend(reading.push(&serde_json::from_str(&said).unwrap()));
            }
        }
        reading.result().unwrap().unwrap()
    }
}

/// All three, and what has come of them.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) front: Front,
    pub(crate) server: Server,
    pub(crate) to_client: Vec<Value>,
    /// Orders that are no lines.
    pub(crate) orders: Vec<Order>,
    /// Whether a wish for a start is followed.
    pub(crate) starts: bool,
}

impl World {
    /// A front for what this server offers now, to which the client has said hello.
    pub(crate) fn of(server: Server) -> Self {
        Self::with(server, "plain", &json!({}))
    }

    /// The same, for a profile, and a client of these capabilities.
    pub(crate) fn with(server: Server, profile: &str, capabilities: &Value) -> Self {
        let profile: Profile = profile.parse().unwrap();
        let front = Front::accepted(server.surface(&profile), profile, PREFIX.to_owned());
        let mut world = Self::around(front.called("sky"), server);
        world.hello(capabilities);
        world
    }

    pub(crate) fn around(front: Front, server: Server) -> Self {
        Self { front, server, to_client: Vec::new(), orders: Vec::new(), starts: true }
    }

    /// One with the server running, and found to be the accepted one.
    pub(crate) fn open(server: Server) -> Self {
        let mut world = Self::of(server);
        world.front.up();
        world.go_on();
        assert!(world.front.is_open());
        world.take();
        world
    }

    pub(crate) fn hello(&mut self, capabilities: &Value) {
        let params =
            json!({ "protocolVersion": "2025-06-18", "capabilities": capabilities, "clientInfo": {} });
        self.client(&json!({ "jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": params }));
        self.client(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    }

    /// Carries out everything that is to be done.
    pub(crate) fn go_on(&mut self) {
        let mut steps = 0;
        while let Some(order) = self.front.next_order() {
            steps += 1;
            assert!(steps < 100_000, "this has no end");
            match order {
                Order::ToClient(line) => self.to_client.push(one_line(&line)),
                Order::ToServer(line) => {
                    for said in self.server.hear(&one_line(&line)) {
                        self.front.server(said.as_bytes());
                    }
                }
                Order::Start if self.starts => self.front.up(),
                Order::Log(text) => assert!(text.len() < 2_000, "{} bytes for the log", text.len()),
                other => self.orders.push(other),
            }
        }
    }

    /// The client says something.
    pub(crate) fn client(&mut self, message: &Value) {
        self.client_line(&message.to_string());
    }

    pub(crate) fn client_line(&mut self, line: &str) {
        self.front.client(line.as_bytes());
        self.go_on();
    }

    /// The server says something.
    pub(crate) fn say(&mut self, message: &Value) {
        self.say_line(&message.to_string());
    }

    pub(crate) fn say_line(&mut self, line: &str) {
        self.front.server(line.as_bytes());
        self.go_on();
    }

    /// The server says that its lists have changed.
    pub(crate) fn say_changed(&mut self) {
        for capability in ["tools", "prompts", "resources"] {
            self.say(&notification(&format!("notifications/{capability}/list_changed")));
        }
    }

    /// The server stops being deaf, and answers what it was asked.
    pub(crate) fn answer_at_last(&mut self) {
        self.server.is_deaf = false;
        for line in std::mem::take(&mut self.server.unanswered) {
            for said in self.server.hear(&line) {
                self.front.server(said.as_bytes());
            }
        }
        self.go_on();
    }

    /// The client asks something.
    pub(crate) fn ask(&mut self, id: impl Into<Value>, method: &str, params: &Value) {
        let id: Value = id.into();
        self.client(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
    }

    pub(crate) fn call(&mut self, id: impl Into<Value>, tool: &str) {
        self.ask(id, "tools/call", &json!({ "name": tool, "arguments": {} }));
    }

    /// A while passes.
    pub(crate) fn settle(&mut self) {
        self.front.settled();
        self.go_on();
    }

    /// What the client was told since the last time.
    pub(crate) fn take(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.to_client)
    }

    /// The answers to a request.
    pub(crate) fn answers(&self, id: impl Into<Value>) -> Vec<&Value> {
        let id: Value = id.into();
        self.to_client
            .iter()
            .filter(|line| line.get("id") == Some(&id) && line.get("method").is_none())
            .collect()
    }

    /// The one answer to a request.
    pub(crate) fn answer(&self, id: impl Into<Value>) -> &Value {
        let answers = self.answers(id);
        assert_eq!(answers.len(), 1, "{answers:?} of {:?}", self.to_client);
        answers[0]
    }

    /// How often the client was told this.
    pub(crate) fn told(&self, method: &str) -> usize {
        self.to_client.iter().filter(|line| line["method"] == method).count()
    }

    /// The names in a list, as the client reads it.
    pub(crate) fn names(&mut self, method: &str) -> Vec<String> {
        self.to_client.retain(|line| line["id"] != "names");
        self.ask("names", method, &json!({}));
        let (_, list) = LISTS.iter().find(|(asked, _)| *asked == method).unwrap();
        let key = match *list {
            "resources" => "uri",
            "resourceTemplates" => "uriTemplate",
            _ => "name",
        };
        let entries = self.answer("names")["result"][*list].as_array().unwrap();
        entries.iter().map(|entry| entry[key].as_str().unwrap().to_owned()).collect()
    }

    /// The changes that were told of, and whether each was of the whole.
    pub(crate) fn changes(&self) -> Vec<bool> {
        self.orders
            .iter()
            .filter_map(|order| if let Order::Changed { whole, .. } = order { Some(*whole) } else { None })
            .collect()
    }
}

/// Whether an answer says that something was refused, with this code.
pub(crate) fn is_refused(answer: &Value, code: &str) -> bool {
    let said = [&answer["error"]["message"], &answer["result"]["content"][0]["text"]];
    let is_error = answer.get("error").is_some() || answer["result"]["isError"] == true;
    is_error && said.iter().any(|text| text.as_str().is_some_and(|text| text.starts_with(code)))
}

pub(crate) fn notification(method: &str) -> Value {
    json!({ "jsonrpc": "2.0", "method": method })
}

/// The message of a line, which has one end.
pub(crate) fn one_line(line: &[u8]) -> Value {
    let text = std::str::from_utf8(line).unwrap().strip_suffix('\n').unwrap();
    assert!(!text.contains(['\n', '\r']), "two lines: {text}");
    serde_json::from_str(text).unwrap()
}
