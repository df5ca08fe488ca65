//! From an order to a tree in the store.

use std::io;

use model::digest::Digest;

use crate::{
    ask,
    fault::InstallError,
    npm,
    order::{Order, Record},
    progress::Progress,
    shop::{self, Built, Shop},
    sources::{Sources, SourcesError},
    store::{self, Claim, Made, Package, Staging, Store, StoreError},
    uv,
    words::{Asked, Client},
    workshop::Workshop,
};

/// What was installed, and is in the store.
#[derive(Debug)]
pub struct Installed {
    /// The tree. As long as this is held, no [`Store::gc`] takes it away.
    pub package: Package,
    /// What is told of it.
    pub record: Record,
}

/// Installs what is ordered, or finds that it is in the store. Who orders the same at the same time waits, and the work is
/// done once. Dropping the future ends the cell and removes what there is; who is killed meanwhile leaves nothing that
/// counts, and the next installation removes it.
///
/// # Errors
///
/// [`InstallError`] where nothing was installed.
pub async fn install<W: Workshop>(
    order: Order<'_>,
    store: &Store,
    workshop: &W,
    progress: &mut dyn FnMut(Progress),
) -> Result<Installed, InstallError> {
    check(&order)?;
    let pinned = order.pinned.and_then(|pin| pin.content);
    let claim = Claim::take(store, &shop::key(&order), &mut || progress(Progress::Waiting)).await?;
    if let Some(installed) = claim.result(pinned).and_then(|record| reuse(store, record)) {
        progress(Progress::Done);
        return Ok(installed);
    }
    // Its failure is no reason not to install.
    store::sweep(store, &|data| workshop.data_folder(&model::mount::Data { name: data.clone(), size: 0 }))
        .ok();
    progress(Progress::Asking);
    let sources = sources(order.asked, order.pinned.is_some()).await?;
    let mut staging = Staging::begin(store)?;
    let mut shop = Shop::open(order, workshop, &sources, staging.data.clone(), progress)?;
    staging.make_data_folder(shop.folder())?;
    let built = match order.asked.client {
        Client::Npm => npm::build(&mut shop).await?,
        Client::Uv => uv::build(&mut shop).await?,
    };
    shop.tell(Progress::Digesting { files: 0 });
    let (staging, mut made) = copy(staging, &built, &mut shop).await?;
    if let Some(pinned) = pinned.filter(|pinned| *pinned != made.content()) {
        return Err(InstallError::Content { pinned, found: made.content() });
    }
    if let (Client::Npm, Some(compiled)) = (order.asked.client, npm::compile(&mut shop, &made.tree()).await) {
        made.add_compiled(&compiled)?;
    }
    let Shop { notes, hosts, .. } = shop;
    let package = staging.publish(store, &made)?;
    drop(staging);
    let Built {
        version,
        source,
        integrity,
        tree_file,
        tree_name,
        platform,
        scripts_not_run,
        dependencies,
        ..
    } = built;
    let tree_file = String::from_utf8(tree_file)
        .map_err(|error| InstallError::Strange { what: tree_name.to_owned(), why: error.to_string() })?;
    let record = Record {
        version,
        source,
        integrity,
        tree_file,
        tree_name: tree_name.to_owned(),
        content: package.content(),
        platform,
        notes,
        scripts_not_run,
        dependencies,
        registry_hosts: hosts,
    };
    claim.keep(&record)?;
    progress(Progress::Done);
    Ok(Installed { package, record })
}

impl std::ops::Deref for Installed {
    type Target = Record;

    fn deref(&self) -> &Record {
        &self.record
    }
}

fn check(order: &Order<'_>) -> Result<(), InstallError> {
    match order.asked.client {
        Client::Npm => npm::check(order.asked)?,
        Client::Uv => uv::check(order.asked)?,
    }
    match order.pinned {
        Some(pin) => {
            let found = Digest::of(pin.tree_file);
            if found == pin.tree { Ok(()) } else { Err(InstallError::TreeFile { pinned: pin.tree, found }) }
        }
        None => Ok(()),
    }
}

/// What came of the same order, where it is still right.
fn reuse(store: &Store, record: Record) -> Option<Installed> {
    let package = store.find(&record.content)?;
    package.verify().ok()?;
    Some(Installed { package, record })
}

/// Asks the client of this machine, which takes as long as it does: others go on meanwhile.
async fn sources(asked: &Asked, pinned: bool) -> Result<Sources, InstallError> {
    let asked = asked.clone();
    let answer = tokio::task::spawn_blocking(move || match asked.client {
        Client::Npm => npm::sources(&asked).map_err(InstallError::Sources),
        Client::Uv => uv::sources(&asked, pinned),
    });
    answer.await.map_err(|error| SourcesError::Unanswered(ask::AskError::lost(&error)))?
}

/// Copies the tree to the staging folder. Others go on meanwhile.
async fn copy<W: Workshop>(
    staging: Staging,
    built: &Built,
    shop: &mut Shop<'_, W>,
) -> Result<(Staging, Made), InstallError> {
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let tree = built.tree.clone();
    let work = tokio::task::spawn_blocking(move || {
        // Whoever listens has gone: then nobody wants to know.
        let made = staging.copy(&tree, &mut |files| tell.send(files).unwrap_or_default());
        made.map(|made| (staging, made))
    });
    while let Some(files) = told.recv().await {
        shop.tell(Progress::Digesting { files });
    }
    let copied =
        work.await.map_err(|error| StoreError::io("copying", &built.tree)(io::Error::other(error)))?;
    Ok(copied?)
}

#[cfg(test)]
mod tests;
