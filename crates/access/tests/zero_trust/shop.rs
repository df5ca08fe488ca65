//! A shop whose tools do what they are given, and remember it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Instant;

use access::judge::{Authorizer, Facts, judge};
use access::principal::{Known, Principal};
use access::{Allowance, Ceilings, Limits, Object, Refusal, Rules, Screen, ToolGate, Verb};
use model::config::Operator;
use model::name::ServerName;
use model::needle::{Needle, NeedleKey};
use serde_json::{Value, json};

/// A value of the vault.
pub(crate) const SECRET: &str = "sk-live-51Hx/9+Qm2";

const FILE: &str = r#"
[roles.customer]
tools = ["shop/get_order", "shop/leave_note", "shop/remember"]
[roles.admin]
tools = ["*"]
[servers.shop]
command = ["shop"]
[servers.shop.tools.get_order]
tier = 1
bind.user_id = "claims.sub"
bind.tenant_id = "tenant"
concurrency = 2
[servers.shop.tools.leave_note]
rate = "3/h"
[servers.shop.tools.remember]
bind.user_id = "subject"
[servers.shop.tools.issue_refund]
tier = 3
"#;

/// The shop, and everything between a model and it.
pub(crate) struct Shop {
    rules: Rules,
    gates: BTreeMap<String, ToolGate>,
    screen: Screen,
    limits: Limits,
    done: RefCell<Vec<Value>>,
}

impl Shop {
    pub(crate) fn new() -> Self {
        let operator = Operator::resolve("config.toml", FILE.as_bytes(), None).unwrap();
        let server = ServerName::new("shop").unwrap();
        let tools = operator.servers()[&server].tools();
        let id = json!({"type": "string", "pattern": "^ORD-[0-9]{6,10}$"});
        let order =
            json!({"properties": {"order_id": id}, "required": ["order_id"], "additionalProperties": false});
        let mine = json!({
            "type": "object",
            "properties": {"order_id": id, "user_id": {"type": "string"}, "tenant_id": {"type": "string"}},
            "required": ["order_id", "user_id", "tenant_id"],
            "additionalProperties": false,
        });
        let inputs = [
            ("get_order", mine),
            ("delete_order", order.clone()),
            ("issue_refund", order),
            ("leave_note", json!({})),
            ("remember", json!({"properties": {"user_id": {"type": "string"}, "note": {"type": "string"}}})),
        ];
        let gates = inputs.into_iter().map(|(name, input)| {
            let tool = json!({"name": name, "inputSchema": input});
            let rule = tools.get(name).cloned().unwrap_or_default();
            (name.to_owned(), ToolGate::new(&server, &tool, &rule, false).unwrap())
        });
        let key = NeedleKey::new([3; 32]);
        let needle = Needle::of(SECRET.as_bytes(), &key).unwrap();
        Self {
            rules: Rules::new(&operator, [(&server, tools)]),
            gates: gates.collect(),
            screen: Screen::new(key, vec![("STRIPE".to_owned(), needle)]),
            limits: Limits::new(Ceilings::default(), Instant::now()),
            done: RefCell::default(),
        }
    }

    /// Whether the tool is in this caller's list.
    pub(crate) fn lists(&self, who: &str, tool: &str) -> bool {
        let gate = self.gates.get(tool);
        gate.is_some_and(|gate| self.rules.sees(&principal(who), gate.object()))
    }

    /// A call as a model proposes it, by whoever is acting.
    pub(crate) fn call(&self, who: &str, tool: &str, arguments: Value) -> Result<Object, Refusal> {
        let (object, _turn) = self.begin(who, tool, arguments)?;
        Ok(object)
    }

    /// The same, where the call goes on until what comes back is dropped.
    pub(crate) fn begin(
        &self,
        who: &str,
        tool: &str,
        arguments: Value,
    ) -> Result<(Object, access::Turn), Refusal> {
        let who = principal(who);
        let gate = self.gates.get(tool).ok_or_else(|| Refusal::unknown(Verb::CallTool))?;
        let object = gate.object().clone();
        if !access::guard::off("roles") && !self.rules.sees(&who, &object) {
            return Err(Refusal::unknown(Verb::CallTool));
        }
        let bound = gate.bind(arguments, &who, &self.screen)?;
        let permit = judge(&self.rules, &who, object.clone(), bound, gate.tier(), &Facts::default())?;
        let turn = self.limits.enter(&who, &object, Instant::now(), &Allowance::of(gate.rule()))?;
        self.done.borrow_mut().push(Value::Object(permit.into_bound().into_arguments()));
        Ok((object, turn))
    }

    /// What the tools were given.
    pub(crate) fn done(&self) -> Vec<Value> {
        self.done.borrow().clone()
    }
}

/// Texts that hold what must not leave, and what that is.
pub(crate) fn secrets() -> Vec<(String, &'static str)> {
    let vault = "the secret `STRIPE`";
    let pem = "a private key (PEM)";
    let body = "MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF";
    vec![
        (SECRET.to_owned(), vault),
        (format!("Authorization: Bearer {SECRET}"), vault),
        ("c2stbGl2ZS01MUh4LzkrUW0y".to_owned(), vault),
        ("sk-live-51Hx%2F9%2BQm2".to_owned(), vault),
        ("736b2d6c6976652d353148782f392b516d32".to_owned(), vault),
        (format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----"), pem),
        (format!("-----BEGIN OPENSSH PRIVATE KEY-----\n{body}\n"), pem),
    ]
}

fn principal(name: &str) -> Principal {
    let (tenant, role) = match name {
        "bob" => (None, "customer"),
        "root" => (Some("acme"), "admin"),
        _ => (Some("acme"), "customer"),
    };
    let known = Known {
        subject: name.to_owned(),
        tenant: tenant.map(str::to_owned),
        roles: std::iter::once(role.to_owned()).collect(),
    };
    Principal::of_key(name, known, None)
}
