//! `./x demo`: a real server installed, accepted and used through a real client, a change of a server caught, hosts allowed
//! and taken away while a server runs, a key that is used and never seen, then the same attack outside and inside, two
//! users behind one address, and what all that proved.

use std::process::ExitCode;

use anyhow::Result;

use crate::setup::{self, For};
use crate::workspace::Workspace;

mod attack;
mod client;
mod confined;
mod gateway;
mod home;
mod network;
mod origin;
mod pinned;
mod secrets;

/// Builds, shows, and fails when anything that must not work did.
pub fn run(workspace: &Workspace) -> Result<ExitCode> {
    setup::prepare(workspace, For::Demo)?;
    eprintln!("x: building");
    let product = workspace.build_product()?;
    let home = home::Home::new(workspace, product)?;
    let acts = [
        pinned::show(workspace, &home)?,
        client::show(workspace, &home)?,
        network::show(&home)?,
        secrets::show(&home)?,
        attack::show(&home)?,
        gateway::show(&home)?,
    ];
    if acts.iter().any(|act| !act.held) {
        println!("\nNot proved: something above went otherwise than it must.");
        return Ok(ExitCode::FAILURE);
    }
    println!("\nProved on this machine:");
    for (at, act) in acts.iter().enumerate() {
        let end = if at + 1 == acts.len() { "." } else { ";" };
        println!("  {}{end}", act.proved.join("\n  "));
    }
    println!("What holds these walls here, layer by layer: fumehood doctor");
    Ok(ExitCode::SUCCESS)
}

/// One part of the demonstration, shown.
struct Act {
    /// Whether all went as it must.
    held: bool,
    /// What it proved if it held: a sentence without its end, in lines.
    proved: &'static [&'static str],
}
