//! The face for MCP with scripted servers behind it, for the protocol's own suites to be pointed at:
//! `cargo run -p gateway --example mcp_face -- 8931 modern`, then `http://127.0.0.1:8931/servers/free/mcp`, which passes
//! everything as it is, or `/servers/crm/mcp`, which does not. `legacy` has servers of before 2026-07-28 instead.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::too_many_lines,
    dead_code,
    reason = "it is the code of tests, of which it uses a part"
)]

#[path = "../tests/mcp/fixtures.rs"]
mod fixtures;
#[path = "../tests/mcp/servers.rs"]
mod servers;
#[path = "../tests/mcp/world.rs"]
mod world;

const CONFIG: &str = "
[servers.crm]
command = ['x']
[servers.free]
command = ['x']
profile = 'pass-through'
[roles.all]
tools = ['*']
prompts = ['*']
resources = ['*']
";

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let port = arguments.next().and_then(|port| port.parse().ok()).unwrap_or(8931);
    let modern = arguments.next().is_none_or(|era| era == "modern");
    let servers = ["crm", "free"].map(|name| servers::Scripted { modern, ..servers::Scripted::new(name) });
    let world = world::World::at(port, CONFIG, &servers).await;
    println!("http://{}/servers/free/mcp", world.address);
    std::future::pending::<()>().await;
}
