//! Both ends of a measured way: an HTTP origin, and a client that loads it as it is ordered. `./x bench egress` starts
//! them, the client once at each place it measures from.
//!
//! Each is one thread, as a Node program or a worker of a web server is. They end when their stdin does.

mod client;
mod held;
mod load;
mod origin;
mod target;

use std::error::Error;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Anything that went wrong; it ends the measurement.
pub(crate) type Fault = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), Fault> {
    let now = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: now.maximum, maximum: now.maximum })?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match std::env::args().nth(1).as_deref() {
        Some("origin") => runtime.block_on(origin::serve()),
        Some("client") => client::obey(&runtime),
        _ => Err("the role is `origin` or `client`".into()),
    }
}
