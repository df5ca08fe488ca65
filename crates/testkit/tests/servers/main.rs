//! Real servers from npm and PyPI, through the official clients: what goes over the wire is the same whether a server
//! runs bare or confined.
//!
//! Each test runs its scenario (`clients/scenarios/*.json`) bare, then confined, each in folders of its own, and
//! compares the recorded JSON-RPC. A second confined session then shows what a bare run cannot: data that lasts, a
//! mount that stays read-only, an environment that was not handed in.
//!
//! `published` tries servers as a user adds them, from the registry on; `eras` tries clients of every revision.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "in a test, what does not hold is a failed test"
)]

mod account;
#[expect(dead_code, reason = "the tests of the service use all of it")]
#[path = "../gateway/drive.rs"]
mod drive;
mod eras;
mod published;
mod recording;
mod scenario;
mod world;

use account::Account;
use world::{Client, World};

fn same_bare_and_confined(server: &str, client: Client, account: Account) {
    if let Err(reason) = account.usable() {
        testkit::world::skip(&format!("servers::{server} as {account:?}"), &reason);
        return;
    }
    let bare = World::new(server, client, account).bare();
    let world = World::new(server, client, account);
    let confined = world.confined();
    recording::assert_same(&bare, &confined);
    world.once_more();
}

/// One module a server, one test a client and account.
macro_rules! servers {
    ($($module:ident = $server:literal: $($test:ident($client:ident, $account:ident)),*;)*) => {
        $(mod $module {
            use super::{Account, Client, same_bare_and_confined};
            $(
                #[test]
                fn $test() {
                    same_bare_and_confined($server, Client::$client, Account::$account);
                }
            )*
        })*
    };
}

// The Python environments may lie below a folder of root's, so the ordinary account runs what is installed for all.
servers! {
    everything = "everything": typescript(TypeScript, Myself), python(Python, Myself), ordinary(TypeScript, Ordinary);
    memory = "memory": typescript(TypeScript, Myself), python(Python, Myself), ordinary(TypeScript, Ordinary);
    filesystem = "filesystem": typescript(TypeScript, Myself), python(Python, Myself), ordinary(TypeScript, Ordinary);
    sequential_thinking = "sequential-thinking":
        typescript(TypeScript, Myself), python(Python, Myself), ordinary(TypeScript, Ordinary);
    time = "time": typescript(TypeScript, Myself), python(Python, Myself);
    git = "git": typescript(TypeScript, Myself), python(Python, Myself);
    sqlite = "sqlite": typescript(TypeScript, Myself), python(Python, Myself);
}

/// Without this, a comparison that sees nothing would pass every other test here.
#[test]
fn two_bare_runs_are_equal_and_a_changed_one_is_not() {
    let first = World::new("memory", Client::TypeScript, Account::Myself).bare();
    let second = World::new("memory", Client::TypeScript, Account::Myself).bare();
    recording::assert_same(&first, &second);
    let changed = second.with_received(|text| text.replacen("glass front", "steel front", 1));
    assert!(first.difference(&changed).is_some());
}
