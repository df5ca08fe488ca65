//! All servers, and what was accepted of them.
//!
//! A [`Stock`] is looked at as a whole: a call is judged by one, and a list is made from one, whatever is changed
//! meanwhile. Only a person's acceptance puts something on the shelf; a running server can only make it smaller.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

use arc_swap::ArcSwap;
use model::name::ServerName;
use tokio::sync::watch;
use tools::surface::{Kind, Surface};

mod entry;
mod offer;

pub use entry::{Entry, Shown};
pub use offer::{Fault, Notice, Offer, Terms};

/// The shelf: the stock of now, and whoever waits for another one.
pub struct Shelf {
    stock: ArcSwap<Stock>,
    /// Changes are made one after the other; looking is never in their way.
    writing: Mutex<()>,
    version: watch::Sender<u64>,
    /// Told of what a running server offers instead of what was accepted, so that it is kept until a person decides.
    keep: Keep,
}

/// Told of a server and of what it offers now.
type Keep = Box<dyn Fn(&ServerName, &Result<Surface, String>) + Send + Sync>;

/// Every server, at one moment.
#[derive(Debug, Default)]
pub struct Stock {
    offers: BTreeMap<ServerName, Arc<Offer>>,
    /// By kind and public name.
    public: HashMap<(Kind, String), Arc<Entry>>,
}

impl Shelf {
    /// With these servers. `keep` is called with what a running server was seen to offer instead of what was accepted.
    pub fn new(
        offers: impl IntoIterator<Item = Offer>,
        keep: impl Fn(&ServerName, &Result<Surface, String>) + Send + Sync + 'static,
    ) -> Self {
        Self {
            stock: ArcSwap::from_pointee(Stock::of(offers.into_iter().map(Arc::new))),
            writing: Mutex::default(),
            version: watch::Sender::new(0),
            keep: Box::new(keep),
        }
    }

    /// What is there now.
    pub fn stock(&self) -> Arc<Stock> {
        self.stock.load_full()
    }

    /// Counts up with each change.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.version.subscribe()
    }

    /// Replaces everything, after a reload. What was held of a server stays held as long as the same surface is
    /// accepted: nothing but a person's look at the change makes up for it.
    pub fn replace(&self, offers: impl IntoIterator<Item = Offer>) {
        self.change(|before| {
            let offers = offers.into_iter().map(|offer| match before.offer(offer.name()) {
                Some(known) => Arc::new(offer.after(known)),
                None => Arc::new(offer),
            });
            Some(Stock::of(offers))
        });
    }

    /// A running server offers something else than what was accepted. Where `whole`, nothing of it may be used; else what
    /// has changed is held.
    pub fn hold(&self, server: &ServerName, now: &Result<Surface, String>, whole: bool) {
        self.change(|before| {
            let offer = before.offer(server)?;
            let after = offer.holding(now, whole)?;
            let others = before.offers.values().filter(|other| other.name() != server).cloned();
            Some(Stock::of(others.chain([Arc::new(after)])))
        });
        (self.keep)(server, now);
    }

    /// Tells whoever listens that lists may be other ones now, because roles are.
    pub fn touch(&self) {
        self.version.send_modify(|version| *version = version.wrapping_add(1));
    }

    fn change(&self, change: impl FnOnce(&Stock) -> Option<Stock>) {
        let writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stock) = change(&self.stock.load()) {
            self.stock.store(Arc::new(stock));
            drop(writing);
            self.touch();
        }
    }
}

impl std::fmt::Debug for Shelf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shelf").field("stock", &self.stock.load()).finish_non_exhaustive()
    }
}

impl Stock {
    fn of(offers: impl IntoIterator<Item = Arc<Offer>>) -> Self {
        let offers: BTreeMap<_, _> = offers.into_iter().map(|offer| (offer.name().clone(), offer)).collect();
        let entries = offers.values().flat_map(|offer| offer.entries().iter());
        let public =
            entries.map(|entry| ((entry.kind(), entry.in_all().name.clone()), Arc::clone(entry))).collect();
        Self { offers, public }
    }

    /// Every server, by name.
    pub fn offers(&self) -> impl Iterator<Item = &Arc<Offer>> {
        self.offers.values()
    }

    /// One server.
    pub fn offer(&self, name: &ServerName) -> Option<&Arc<Offer>> {
        self.offers.get(name)
    }

    /// An entry by its public name.
    pub fn public(&self, kind: Kind, name: &str) -> Option<&Arc<Entry>> {
        self.public.get(&(kind, name.to_owned()))
    }
}
