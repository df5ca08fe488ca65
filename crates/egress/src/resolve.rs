//! From a name to addresses, at the moment of the dial and not before.

use std::fmt;
use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::name::HostName;

/// A look-up under way.
pub type Resolving<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;

/// Where addresses come from. The answers are not trusted: whoever dials checks every one.
pub trait Resolver: fmt::Debug + Send + Sync + 'static {
    /// All addresses of `name`, in the order in which they should be tried. No address is an error or an empty list.
    fn resolve<'a>(&'a self, name: &'a HostName) -> Resolving<'a>;
}

/// The resolver of this machine (`getaddrinfo(3)`), asked for the name as it stands: no search list is added to it.
#[derive(Debug)]
pub struct SystemResolver {
    /// A look-up that nobody waits for any more still holds a thread until the system gives up.
    threads: Arc<Semaphore>,
}

impl SystemResolver {
    /// Look-ups at once, each on a thread of its own; more wait.
    pub const AT_ONCE: usize = 16;

    /// The resolver of this machine.
    pub fn new() -> Self {
        Self { threads: Arc::new(Semaphore::new(Self::AT_ONCE)) }
    }
}

impl Default for SystemResolver {
    fn default() -> Self {
        Self::new()
    }
}

impl Resolver for SystemResolver {
    fn resolve<'a>(&'a self, name: &'a HostName) -> Resolving<'a> {
        let absolute = format!("{name}.");
        Box::pin(async move {
            let thread = Arc::clone(&self.threads).acquire_owned().await.map_err(io::Error::other)?;
            let answers = tokio::task::spawn_blocking(move || {
                let answers =
                    (absolute.as_str(), 0).to_socket_addrs().map(|all| all.map(|one| one.ip()).collect());
                drop(thread);
                answers
            });
            answers.await.map_err(io::Error::other)?
        })
    }
}

#[cfg(test)]
mod tests;
