//! That the paths with a secret do what they are measured for, before they are.

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::load::Order;
use super::peer::{Client, Origin};
use super::{Path, Place, VALUE};

/// On each path that writes the secret the origin gets its value; and a cell gets its own placeholder back, not the value.
pub(super) fn written_and_scrubbed(
    paths: &[Path],
    outside: &mut Client,
    inside: &mut Client,
    origin: &mut Origin,
) -> Result<()> {
    let value = format!("Bearer {VALUE}");
    for path in paths.iter().filter(|path| path.writes) {
        let client = if path.place == Place::Cell { &mut *inside } else { &mut *outside };
        let echoed = client.order(&path.target, Order::Echo).with_context(|| path.name.to_owned())?;
        let text = |name: &str| echoed.get(name).and_then(Value::as_str).context("no echo");
        let (sent, told) = (text("sent")?, text("told")?);
        if origin.got()? != value || sent == value {
            bail!("{}: the origin did not get the value in place of what was sent", path.name);
        }
        if path.place == Place::Cell && told != sent {
            bail!("{}: the cell did not get its placeholder back", path.name);
        }
    }
    Ok(())
}
