//! What the server of these trials offers, as the texts that it sends.

use serde_json::{Value, json};

/// Each list as the texts of its pages.
#[derive(Debug, Clone)]
pub(crate) struct Lists {
    pub(crate) server: Value,
    pub(crate) instructions: Value,
    pub(crate) tools: Vec<Value>,
    pub(crate) prompts: Vec<Value>,
    pub(crate) resources: Vec<Value>,
    pub(crate) templates: Vec<Value>,
    /// Tools that are on a second page, from the end.
    pub(crate) on_second_page: usize,
    /// How the text of a page is made of its value.
    pub(crate) written: fn(&Value) -> String,
}

impl Lists {
    /// What is reviewed: nothing in it that a reviewer would mind.
    pub(crate) fn accepted() -> Self {
        let point = json!({ "type": "object", "properties": {
            "latitude": { "type": "number", "minimum": -90, "maximum": 90 },
            "longitude": { "type": "number", "minimum": -180, "maximum": 180 },
        } });
        let place = json!({ "type": "object", "properties": {
            "name": { "type": "string", "maxLength": 100 },
            "point": point,
        } });
        let days = json!({ "type": "integer", "minimum": 1, "maximum": 14, "description": "How many days." });
        let forecast = json!({
            "name": "get_forecast",
            "title": "Forecast",
            "description": "Tells the weather of the next days at a place.",
            "icons": [{ "src": "data:image/png;base64,iVBORw0KGgo=", "mimeType": "image/png", "sizes": ["48x48"] }],
            "inputSchema": {
                "type": "object",
                "properties": { "place": { "$ref": "#/$defs/place" }, "days": days, "where": place },
                "$defs": { "place": { "type": "object", "properties": { "city": { "type": "string" } } } },
            },
            "annotations": { "readOnlyHint": true, "destructiveHint": false },
        });
        let plain = |name: &str, description: &str| json!({ "name": name, "description": description, "inputSchema": { "type": "object" } });
        Self {
            server: json!({ "name": "weather", "title": "Weather", "version": "1.0.0" }),
            instructions: json!("Weather of places in Europe."),
            tools: vec![
                forecast,
                plain("list_stations", "Lists the stations that measure."),
                plain("steady", "Says that it is there."),
            ],
            prompts: vec![json!({
                "name": "report",
                "description": "A report of the weather.",
                "arguments": [{ "name": "city", "description": "Of this city.", "required": true }],
            })],
            resources: vec![
                json!({ "uri": "weather://stations", "name": "stations", "description": "All stations." }),
            ],
            templates: vec![json!({
                "uriTemplate": "weather://station/{id}",
                "name": "station",
                "description": "One station.",
            })],
            on_second_page: 0,
            written: Value::to_string,
        }
    }

    /// With one change.
    pub(crate) fn with(change: impl FnOnce(&mut Self)) -> Self {
        let mut lists = Self::accepted();
        change(&mut lists);
        lists
    }

    /// The tool that most changes are about.
    pub(crate) fn forecast(&mut self) -> &mut Value {
        &mut self.tools[0]
    }

    /// The file that the server reads.
    pub(crate) fn text(&self) -> String {
        let first = self.tools.len() - self.on_second_page;
        let page = |entries: &[Value]| (self.written)(&Value::Array(entries.to_vec()));
        let mut tools = vec![page(&self.tools[..first])];
        if self.on_second_page > 0 {
            tools.push(page(&self.tools[first..]));
        }
        let changing = json!({ "listChanged": true });
        let capabilities = json!({ "tools": changing, "prompts": changing, "resources": changing });
        json!({
            "capabilities": (self.written)(&capabilities),
            "serverInfo": (self.written)(&self.server),
            "instructions": self.instructions.to_string(),
            "tools": tools,
            "prompts": [page(&self.prompts)],
            "resources": [page(&self.resources)],
            "resourceTemplates": [page(&self.templates)],
        })
        .to_string()
    }
}

/// The same value with the members of every object the other way round.
pub(crate) fn reversed(value: &Value) -> String {
    match value {
        Value::Array(entries) => format!("[{}]", entries.iter().map(reversed).collect::<Vec<_>>().join(",")),
        Value::Object(members) => {
            let members = members.iter().rev();
            let member = |(key, value): (&String, &Value)| format!("{}:{}", json!(key), reversed(value));
            format!("{{{}}}", members.map(member).collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}

/// The same value with white space wherever it may be, but for line ends, which end a message.
pub(crate) fn airy(value: &Value) -> String {
    match value {
        Value::Array(entries) => {
            format!("[ {}\t]", entries.iter().map(airy).collect::<Vec<_>>().join(" ,  "))
        }
        Value::Object(members) => {
            let member = |(key, value): (&String, &Value)| format!("\t{} : {}", json!(key), airy(value));
            format!("{{ {}  }}", members.iter().map(member).collect::<Vec<_>>().join("\t,"))
        }
        other => other.to_string(),
    }
}

/// The same value with every whole number written in another way.
pub(crate) fn otherwise_spelled(value: &Value) -> String {
    match value {
        Value::Array(entries) => {
            format!("[{}]", entries.iter().map(otherwise_spelled).collect::<Vec<_>>().join(","))
        }
        Value::Object(members) => {
            let member =
                |(key, value): (&String, &Value)| format!("{}:{}", json!(key), otherwise_spelled(value));
            format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(","))
        }
        Value::Number(number) => format!("{number}.0e0"),
        other => other.to_string(),
    }
}
