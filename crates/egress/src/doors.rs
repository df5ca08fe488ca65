//! The listeners inside the cell: one for each address of a host and port of it, opened and closed as the policy changes.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::edge::Core;
use crate::intake::{Intake, listener};
use crate::name::HostName;
use crate::policy::Policy;
use crate::refusal::Refusal;
use crate::rule::Kind;
use crate::serve::{self, Door};
use crate::synthetic::{Addresses, Assigned};

/// Most listeners of hosts that were taken away: the oldest close before their time when there are more.
const MOST_FAREWELLS: usize = 256;

/// How long an accept loop waits after an error that is not about one connection (no descriptor left).
const BREATH: Duration = Duration::from_millis(50);

/// A port of an allowed host that could not be listened on, so that the host is not reached there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unopened {
    /// The host.
    pub host: String,
    /// The TCP port.
    pub port: u16,
    /// Why.
    pub error: String,
}

/// The listeners there are.
#[derive(Debug, Default)]
pub(crate) struct Doors {
    open: Mutex<HashMap<(HostName, u16), Open>>,
    /// One change at a time.
    changing: tokio::sync::Mutex<()>,
    changed: Notify,
}

#[derive(Debug)]
struct Open {
    kind: Kind,
    tasks: Vec<JoinHandle<()>>,
    /// When it closes, if the policy does not want it any more.
    until: Option<Instant>,
    /// Last time its name was asked for.
    asked: Instant,
}

impl Drop for Open {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

/// What became of a door that might have been open already.
enum Kept {
    Yes,
    Taken(Open),
    None,
}

impl Open {
    /// Ends when the listeners are gone.
    async fn close(mut self) {
        for task in std::mem::take(&mut self.tasks) {
            task.abort();
            // Aborted is what it was meant to be.
            drop(task.await);
        }
    }
}

impl Doors {
    fn open(&self) -> MutexGuard<'_, HashMap<(HostName, u16), Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens what the policy's own names need, and gives the others, but names of its wildcards, their last time.
    pub(crate) async fn arrange(&self, core: &Arc<Core>, policy: &Policy) -> Vec<Unopened> {
        let turn = self.changing.lock().await;
        let now = Instant::now();
        let until = now + core.limits.farewell;
        for ((name, port), open) in &mut *self.open() {
            let wanted = policy.reach(name).and_then(|reach| reach.ports.get(port).copied());
            match wanted {
                Some(kind) if kind == open.kind => open.until = None,
                _ => _ = open.until.get_or_insert(until),
            }
        }
        let mut unopened = Vec::new();
        let mut names: Vec<&HostName> = policy.names().collect();
        names.sort();
        for name in names {
            match self.open_name(core, policy, name).await {
                Ok((_, failed)) => unopened.extend(failed),
                Err(refusal) => {
                    unopened.push(Unopened { host: name.to_string(), port: 0, error: refusal.to_string() });
                }
            }
        }
        self.close_due(core, policy);
        drop(turn);
        self.changed.notify_one();
        unopened
    }

    /// Opens what a name needs that was just asked for.
    pub(crate) async fn admit(
        &self,
        core: &Arc<Core>,
        policy: &Policy,
        name: &HostName,
    ) -> Result<(Assigned, Vec<Unopened>), Refusal> {
        if self.is_ready(policy, name) {
            return Ok((core.synthetic.assign(policy, name)?, Vec::new()));
        }
        let turn = self.changing.lock().await;
        // The one that was asked by may have been replaced while this waited.
        let policy = core.registry.policy();
        self.make_room(core, &policy);
        let opened = self.open_name(core, &policy, name).await;
        drop(turn);
        opened
    }

    /// Whether everything a name needs is open; notes that it was asked for.
    fn is_ready(&self, policy: &Policy, name: &HostName) -> bool {
        let Some(reach) = policy.reach(name) else { return false };
        let mut open = self.open();
        let mut all = true;
        for (port, kind) in &reach.ports {
            match open.get_mut(&(name.clone(), *port)) {
                Some(door) if door.kind == *kind && door.until.is_none() => door.asked = Instant::now(),
                _ => all = false,
            }
        }
        all
    }

    async fn open_name(
        &self,
        core: &Arc<Core>,
        policy: &Policy,
        name: &HostName,
    ) -> Result<(Assigned, Vec<Unopened>), Refusal> {
        let assigned = core.synthetic.assign(policy, name)?;
        let mut unopened = Vec::new();
        for (&port, &kind) in &assigned.reach.ports {
            let key = (name.clone(), port);
            match self.keep_or_take(&key, kind) {
                Kept::Yes => continue,
                // Of another kind: its listeners must be gone before the new ones can have the address.
                Kept::Taken(gone) => gone.close().await,
                Kept::None => {}
            }
            let door = Door::Host { name: name.clone(), port, kind };
            match open_door(core, assigned.addresses, port, &door).await {
                Ok(tasks) => {
                    let open = Open { kind, tasks, until: None, asked: Instant::now() };
                    self.open().insert(key, open);
                }
                Err(error) => {
                    unopened.push(Unopened { host: name.to_string(), port, error: error.to_string() });
                }
            }
        }
        Ok((assigned, unopened))
    }

    /// Keeps a door that is of the right kind, or takes the one that is not.
    fn keep_or_take(&self, key: &(HostName, u16), kind: Kind) -> Kept {
        let mut open = self.open();
        match open.get_mut(key) {
            Some(there) if there.kind == kind => {
                there.until = None;
                Kept::Yes
            }
            _ => open.remove(key).map_or(Kept::None, Kept::Taken),
        }
    }

    /// Closes the listeners of the wildcard names that were not asked for the longest, if there are too many.
    fn make_room(&self, core: &Core, policy: &Policy) {
        let mut open = self.open();
        let mut wild: HashMap<HostName, Instant> = HashMap::new();
        for ((name, _), door) in &*open {
            if policy.reach(name).is_some_and(|reach| !reach.exact) {
                let asked = wild.entry(name.clone()).or_insert(door.asked);
                *asked = door.asked.max(*asked);
            }
        }
        let mut wild: Vec<(Instant, HostName)> =
            wild.into_iter().map(|(name, asked)| (asked, name)).collect();
        wild.sort();
        let over = (wild.len() + 1).saturating_sub(core.limits.wildcard_names.max(1));
        for (_, name) in wild.into_iter().take(over) {
            open.retain(|(other, _), _| *other != name);
        }
        drop(open);
        self.give_back(core, policy);
    }

    /// Closes what has had its time, and what is too much.
    fn close_due(&self, core: &Core, policy: &Policy) {
        let now = Instant::now();
        let mut open = self.open();
        let mut leaving: Vec<Instant> = open.values().filter_map(|door| door.until).collect();
        leaving.sort();
        let over = leaving.len().saturating_sub(MOST_FAREWELLS);
        let latest = over.checked_sub(1).and_then(|last| leaving.get(last)).copied();
        open.retain(|_, door| {
            door.until.is_none_or(|until| until > now && latest.is_none_or(|latest| until > latest))
        });
        let room = open.len().saturating_mul(2);
        open.shrink_to(room);
        drop(open);
        self.give_back(core, policy);
    }

    /// Frees the addresses of names that have no listener and are not in the policy.
    fn give_back(&self, core: &Core, policy: &Policy) {
        let open = self.open();
        let listening: std::collections::HashSet<&HostName> = open.keys().map(|(name, _)| name).collect();
        core.synthetic
            .retain(|name| listening.contains(name) || policy.reach(name).is_some_and(|reach| reach.exact));
    }

    /// Closes listeners when their last time is over, for as long as the egress lives.
    pub(crate) async fn keep_closing(&self, core: &Core) {
        loop {
            let next = self.open().values().filter_map(|door| door.until).min();
            let due = async {
                match next {
                    Some(next) => tokio::time::sleep_until(next).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = due => {
                    let turn = self.changing.lock().await;
                    self.close_due(core, &core.registry.policy());
                    drop(turn);
                }
                () = self.changed.notified() => {}
            }
        }
    }

    /// Listeners there are, and how many of them are in their last time.
    pub(crate) fn count(&self) -> (usize, usize) {
        let open = self.open();
        (open.len(), open.values().filter(|door| door.until.is_some()).count())
    }

    /// Closes all, without waiting.
    pub(crate) fn close(&self) {
        self.open().clear();
    }

    /// Closes all, and ends when they are closed.
    pub(crate) async fn until_closed(&self) {
        let open = std::mem::take(&mut *self.open());
        for (_, door) in open {
            door.close().await;
        }
    }
}

/// Listens at all addresses of a host, or at none.
pub(crate) async fn open_door(
    core: &Arc<Core>,
    addresses: Addresses,
    port: u16,
    door: &Door,
) -> io::Result<Vec<JoinHandle<()>>> {
    let intake: &dyn Intake = core.intake.as_ref();
    let mut listeners = vec![listener(intake, SocketAddr::new(IpAddr::V4(addresses.v4), port)).await?];
    if let Some(v6) = addresses.v6 {
        listeners.push(listener(intake, SocketAddr::new(IpAddr::V6(v6), port)).await?);
    }
    let start = |listener| tokio::spawn(accept(Arc::clone(core), door.clone(), listener));
    Ok(listeners.into_iter().map(start).collect())
}

async fn accept(core: Arc<Core>, door: Door, listener: TcpListener) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => drop(tokio::spawn(serve::run(Arc::clone(&core), door.clone(), stream))),
            Err(_) => tokio::time::sleep(BREATH).await,
        }
    }
}
