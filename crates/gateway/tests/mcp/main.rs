//! MCP over HTTP, from outside: a gateway with everything in it but real cells, and clients that say exactly what a test says.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::match_bool,
    clippy::needless_pass_by_value,
    clippy::too_many_lines,
    reason = "the code of tests may panic"
)]

mod client;
mod fixtures;
mod servers;
mod world;

mod calls;
#[cfg(feature = "guard-off")]
mod controls;
mod listening;
mod lists;
mod modern;
mod rim;
mod rounds;
mod sessions;

use client::Client;
use servers::Scripted;
use world::World;

/// Two servers: one is guarded, one passes as it is. `all` may use everything; `part` a few things of the first.
pub(crate) const CONFIG: &str = "
[servers.crm]
command = ['x']
[servers.crm.tools.test_x_mcp_header]
bind.user = 'subject'
[servers.free]
command = ['x']
profile = 'pass-through'
[roles.all]
tools = ['*']
prompts = ['*']
resources = ['*']
[roles.part]
tools = ['crm/echo', 'crm/ask']
resources = ['crm/test://static-text']
[roles.nothing]
";

pub(crate) fn servers() -> Vec<Scripted> {
    vec![Scripted::new("crm"), Scripted::new("free")]
}

pub(crate) async fn world() -> (World, Client) {
    let world = World::new(CONFIG, &servers()).await;
    let client = Client::new(world.address);
    (world, client)
}

/// The same with servers that speak 2026-07-28.
pub(crate) async fn modern_world() -> (World, Client) {
    let servers: Vec<_> = servers().into_iter().map(|server| Scripted { modern: true, ..server }).collect();
    let world = World::new(CONFIG, &servers).await;
    let client = Client::new(world.address);
    (world, client)
}
