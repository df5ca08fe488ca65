//! The same attack, outside and inside.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::Act;
use super::home::Home;

/// More than any cell may start, and harmless outside.
const PROCESSES: &str = "200";

/// What became of one attempt.
struct Attempt {
    worked: bool,
    detail: String,
}

/// Attacks from outside, where it works, and from inside, where it must not.
pub(super) fn show(home: &Home) -> Result<Act> {
    println!("\nThe same attack, outside and inside");
    let outside = attack(Command::new("node"), home)?;
    let mut confined = home.fumehood();
    confined.args(["exec", "--", "node"]);
    let inside = attack(confined, home)?;
    let mut held = inside.len() == outside.len();
    for (what, inside) in &inside {
        let outside = outside.get(what).map_or("nothing", |attempt| attempt.detail.as_str());
        held &= !inside.worked;
        let verdict = if inside.worked { "IT WORKED" } else { "refused" };
        println!("  {what:<28} outside: {outside:<28} inside: {verdict} ({})", inside.detail);
    }
    Ok(Act {
        held,
        proved: &[
            "code in a cell read no key of yours and no password file, reached no address of the network,",
            "and could not start more processes than its ceiling",
        ],
    })
}

fn attack(mut around: Command, home: &Home) -> Result<BTreeMap<String, Attempt>> {
    let output = around
        .args(["--input-type=module", "-e", include_str!("attack.mjs"), "--"])
        .arg(home.key())
        .arg(PROCESSES)
        .envs(home.environment())
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("the attack could not be started")?;
    let mut attempts = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let told: Value =
            serde_json::from_str(line).with_context(|| format!("the attack printed `{line}`"))?;
        let field = |name: &str| told.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let worked = told
            .get("worked")
            .and_then(Value::as_bool)
            .context("the attack did not say whether it worked")?;
        attempts.insert(field("what"), Attempt { worked, detail: field("detail") });
    }
    if attempts.len() < 4 {
        bail!("the attack told of {} attempts instead of 4 ({})", attempts.len(), output.status);
    }
    Ok(attempts)
}
