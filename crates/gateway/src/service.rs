//! Everything a face needs: what a caller may see, and the one way to have something done.

use std::{sync::Arc, time::Instant};

use access::{
    judge::Authorizer,
    limits::{Ceilings, Limits},
    principal::Principal,
    screen::Screen,
};
use arc_swap::ArcSwap;
use model::{config::Whose, digest::Digest, name::ServerName};
use store::audit::Audit;
use tokio::sync::{broadcast, watch};
use tools::surface::Kind;

use crate::{
    call::{Concluded, Received, Scope},
    pool::{CellKey, Holder, Pool, Told},
    road::{Identified, Recorded, Turned},
    shelf::{Offer, Shelf, Stock},
    view::{Glimpse, View},
};

mod both;
mod joined;

use both::Both;
pub use joined::{AuditOfEdges, ShelfOfPool};

/// What decides, as one whole: a call is judged by one policy from beginning to end.
#[derive(Clone)]
pub struct Policy {
    /// Who may do what.
    pub authorizer: Arc<dyn Authorizer>,
    /// Digest of the rules, for the record.
    pub version: Digest,
    /// What no argument may hold.
    pub screen: Arc<Screen>,
}

impl std::fmt::Debug for Policy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Policy").field("version", &self.version).finish_non_exhaustive()
    }
}

/// The service. Clones are the same one.
#[derive(Clone, Debug)]
pub struct Gateway(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    road: Road,
    pool: Pool,
}

/// Everything that a call passes before it is performed, and where its end is recorded. `fumehood run` has no more than
/// this: its server is at the other end of the same session.
#[derive(Debug)]
pub struct Road {
    shelf: Arc<Shelf>,
    policy: ArcSwap<Policy>,
    limits: Limits,
    audit: Audit,
}

impl Road {
    /// With these parts.
    pub fn new(shelf: Arc<Shelf>, policy: Policy, audit: Audit) -> Self {
        let limits = Limits::new(Ceilings::default(), Instant::now());
        Self { shelf, policy: ArcSwap::from_pointee(policy), limits, audit }
    }

    /// The road up to the point at which the call may be performed; whoever has the server performs it.
    ///
    /// # Errors
    ///
    /// [`Turned`]: it goes no further.
    pub async fn up_to_recorded(&self, received: Received) -> Result<Recorded, Turned> {
        let (stock, policy) = self.now();
        let walked = async {
            Identified::of(received, Some(policy.version))
                .look_up(&stock, &*policy.authorizer)?
                .bind(&policy.screen)?
                .facts()
                .judge(&*policy.authorizer)?
                .approve()?
                .enter(&self.limits)?
                .record(&self.audit)
                .await
        };
        walked.await.map_err(|turned| turned.without_secrets(&policy.screen))
    }

    /// Servers and rules that belong together: see [`Gateway::take_over`].
    fn now(&self) -> (Arc<Stock>, Arc<Policy>) {
        let mut policy = self.policy.load_full();
        loop {
            let stock = self.shelf.stock();
            let after = self.policy.load_full();
            if Arc::ptr_eq(&policy, &after) {
                return (stock, policy);
            }
            policy = after;
        }
    }

    /// The record.
    pub fn audit(&self) -> &Audit {
        &self.audit
    }
}

impl Gateway {
    /// With these parts.
    pub fn new(road: Road, pool: Pool) -> Self {
        Self(Arc::new(Inner { road, pool }))
    }

    /// What a caller may use now. It is made for one message of this caller, and for nobody else.
    pub fn view(&self, who: &Principal, scope: &Scope) -> View {
        let (stock, policy) = self.0.road.now();
        View::of(&stock, &*policy.authorizer, who, scope)
    }

    /// What a caller sees under one name; none where no server is meant. As [`Gateway::view`], without its lists.
    pub fn glimpse(&self, who: &Principal, scope: &Scope, kinds: &[Kind], name: &str) -> Option<Glimpse> {
        let (stock, policy) = self.0.road.now();
        Glimpse::of(&stock, &*policy.authorizer, who, scope, kinds, name)
    }

    /// The road, from a request to its end. Where the future is dropped, the caller went away: what is being done is taken
    /// back, and the record says so.
    pub async fn walk(&self, received: Received) -> Concluded {
        let call = received.call.clone();
        let recorded = match self.0.road.up_to_recorded(received).await {
            Ok(recorded) => recorded,
            Err(turned) => return turned.conclude(&self.0.road.audit).await,
        };
        match recorded.begin().perform(&self.0.pool, &self.0.road.audit).await {
            Some(performed) => performed.conclude(&self.0.road.audit).await,
            None => Concluded::lost(call),
        }
    }

    /// A request for what the application has not offered to its model: it is recorded as for something that does not exist.
    pub async fn not_offered(&self, received: Received) -> Concluded {
        let (policy, road) = (self.policy(), &self.0.road);
        let turned = Identified::of(received, Some(policy.version)).not_offered();
        turned.without_secrets(&policy.screen).conclude(&road.audit).await
    }

    /// Counts up whenever a list may be another one for somebody.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.0.road.shelf.changes()
    }

    /// What servers say that belongs to no call. Who may have it is for whoever passes it on: see [`Gateway::holder`].
    pub fn notices(&self) -> broadcast::Receiver<Told> {
        self.0.pool.notifications()
    }

    /// Whose cell of a server a caller's calls go to; none where there is no such server.
    pub fn holder(&self, who: &Principal, server: &ServerName) -> Option<CellKey> {
        let stock = self.0.road.shelf.stock();
        let offer = stock.offer(server)?;
        let whose = match &offer.terms().cell {
            Whose::Server => Holder::Server,
            Whose::User => Holder::User(who.key()),
            Whose::Group(name) => Holder::Group(name.to_string()),
        };
        Some(CellKey { server: server.clone(), whose })
    }

    /// Replaces what decides, and tells whoever listens for changes.
    pub fn set_policy(&self, policy: Policy) {
        self.0.road.policy.store(Arc::new(policy));
        self.0.road.shelf.touch();
    }

    /// Takes over servers, and the rules that were made for them. Meanwhile only what both rules let pass does, so that no call
    /// is judged for servers of the one by rules of the other. What is looked for in arguments stays.
    pub fn take_over(
        &self,
        offers: impl IntoIterator<Item = Offer>,
        authorizer: Arc<dyn Authorizer>,
        version: Digest,
    ) {
        let (rules, road) = (authorizer, &self.0.road);
        road.policy.rcu(|before| Policy {
            authorizer: Arc::new(Both(Arc::clone(&before.authorizer), Arc::clone(&rules))),
            version,
            screen: Arc::clone(&before.screen),
        });
        road.shelf.replace(offers);
        road.policy.rcu(|now| Policy {
            authorizer: Arc::clone(&rules),
            version,
            screen: Arc::clone(&now.screen),
        });
        road.shelf.touch();
    }

    /// What is looked for in arguments from now on; nothing else changes, whoever changes the rules meanwhile.
    pub fn set_screen(&self, screen: impl Fn() -> Arc<Screen>) {
        self.0.road.policy.rcu(|now| Policy { screen: screen(), ..Policy::clone(now) });
    }

    /// What decides now.
    pub fn policy(&self) -> Arc<Policy> {
        self.0.road.policy.load_full()
    }

    /// All servers.
    pub fn shelf(&self) -> &Arc<Shelf> {
        &self.0.road.shelf
    }

    /// The record.
    pub fn audit(&self) -> &Audit {
        &self.0.road.audit
    }

    /// Running cells.
    pub fn pool(&self) -> &Pool {
        &self.0.pool
    }

    /// How many calls are under way.
    pub fn under_way(&self) -> u32 {
        self.0.road.limits.running()
    }
}
