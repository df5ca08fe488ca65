//! The edge of one cell as its parts share it: where sockets come from, who is connected, what is known of names.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::net::TcpStream;

use crate::dial::Dialer;
use crate::event::{End, Log};
use crate::intake::{Intake, unpaced};
use crate::limits::Limits;
use crate::policy::Permit;
use crate::registry::{Entry, Registry, Stop};
use crate::sink::Sinks;
use crate::splice::Pipes;
use crate::synthetic::Synthetic;
use crate::tls::authority::Authority;
use crate::tls::client::Client;

/// What the parts of an egress share.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) intake: Box<dyn Intake>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) synthetic: Synthetic,
    pub(crate) dialer: Dialer,
    pub(crate) log: Arc<Log>,
    pub(crate) limits: Limits,
    pub(crate) pipes: Arc<Pipes>,
    pub(crate) ending: AtomicBool,
    /// Who vouches for hosts inside the cell.
    pub(crate) authority: Option<Arc<Authority>>,
    pub(crate) client: Client,
    /// Connections whose host is played by this process.
    pub(crate) sinks: Sinks,
}

impl Core {
    /// Dials what was permitted and adds the connection to the flow, unless the flow was cut meanwhile.
    pub(crate) async fn connect(&self, entry: &Entry, permit: &Arc<Permit>) -> Result<Arc<TcpStream>, Stop> {
        entry.dialling(true)?;
        let dialled = match self.dialer.dial(permit).await {
            Ok(dialled) => dialled,
            Err(refusal) => {
                entry.dialling(false)?;
                return Err(refusal.into());
            }
        };
        // Small messages are not held back; without this option they are only slower.
        drop(dialled.stream.set_nodelay(true));
        if dialled.address.is_some_and(|address| address.ip().is_loopback()) {
            unpaced(&dialled.stream);
        }
        let stream = Arc::new(dialled.stream);
        entry.attach(permit, Arc::clone(&stream), dialled.address, &self.log)?;
        Ok(stream)
    }

    /// Why flows that are cut now end.
    pub(crate) fn cut_end(&self) -> End {
        if self.ending.load(Ordering::Acquire) { End::CellEnded } else { End::Cut }
    }
}
