//! A world with two hosts outside, one of which the key is bound to.

use std::{io, process::Command};

use testkit::world::{Caller, Ran, World};

use crate::origin::{Asked, Ca, Origin, Peer, say};

/// The host of the key.
pub(crate) const API: &str = "api.github.com";
/// Another one, which the cells are allowed as well.
pub(crate) const OTHER: &str = "other.example";
/// What the key is called.
pub(crate) const TOKEN: &str = "TOKEN";
/// The key.
pub(crate) const VALUE: &str = "ghp_R3alValue0fTheKey0123456789abcdefXY";

/// The world of one caller, and the hosts outside.
pub(crate) struct Scene {
    pub(crate) world: World,
    pub(crate) api: Origin,
    pub(crate) other: Origin,
}

/// Sends the request back, in the body and in a header.
pub(crate) fn echo(asked: &Asked, peer: &mut dyn Peer) -> io::Result<()> {
    let credential = asked.header("authorization").unwrap_or("none");
    say(peer, "200 OK", &format!("X-Echo: {credential}\r\n"), asked.whole().as_bytes())
}

impl Scene {
    /// Both hosts echo.
    pub(crate) fn new(caller: Caller) -> Self {
        Self::with(caller, echo)
    }

    /// The host of the key answers this way, the other echoes.
    pub(crate) fn with(
        caller: Caller,
        answer: impl Fn(&Asked, &mut dyn Peer) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        let ca = Ca::new();
        let (api, other) = (Origin::start(&ca, API, answer), Origin::start(&ca, OTHER, echo));
        let world = World::new(caller).unwrap();
        world.make_folder("config/fumehood").unwrap();
        let pem = world.make_file("ca.pem", &ca.pem(), 0o644).unwrap();
        let upstream = |name: &str, origin: &Origin| {
            let address = origin.address;
            let ca = pem.display();
            format!("[upstreams.\"{name}\"]\naddress = \"{address}\"\nloopback = true\nca = \"{ca}\"\n")
        };
        let text = upstream(API, &api) + &upstream(OTHER, &other);
        world.make_file("config/fumehood/config.toml", &text, 0o600).unwrap();
        Self { world, api, other }
    }

    /// Keeps a value in the vault; `binding` are the words of `secret set` that say where it may go.
    pub(crate) fn set(&self, name: &str, value: &str, binding: &[&str]) {
        self.secret(&[&["set", name], binding].concat(), value);
    }

    /// Any verb of `fumehood secret`, with the value on stdin.
    pub(crate) fn secret(&self, words: &[&str], value: &str) -> Ran {
        let ran = self.world.run(self.world.product(None).arg("secret").args(words), value).unwrap();
        assert!(ran.code == Some(0) && !ran.late, "{words:?}: {ran:?}");
        ran
    }

    /// `fumehood exec` of a shell script in a cell that uses the key and reaches the other host too.
    pub(crate) fn exec(&self, off: Option<&str>, flags: &[&str], script: &str) -> Command {
        let mut command = self.world.product(off);
        command.args(["exec", "--limit", "require=none", "--limit", "memory=1GiB"]).args(flags);
        command.args(["--", "sh", "-c", script]);
        command
    }

    /// Runs it to its end, and expects that nothing of it stayed.
    pub(crate) fn shell(&self, off: Option<&str>, flags: &[&str], script: &str) -> Ran {
        let ran = self.world.run(&mut self.exec(off, flags, script), "").unwrap();
        assert!(!ran.late && ran.remains.is_empty(), "{ran:?}");
        ran
    }
}
