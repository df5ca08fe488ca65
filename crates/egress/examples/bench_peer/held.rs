//! Connections that are kept open between orders, to see which of them are cut.

use crate::Fault;
use crate::target::{Connection, Found};

/// How many connections are opened at once.
const ABREAST: usize = 16;

/// Connections kept open.
#[derive(Default)]
pub(crate) struct Held(Vec<Connection>);

impl Held {
    /// Opens more, each of which has answered once.
    pub(crate) async fn add(&mut self, target: &Found, mut count: usize) -> Result<(), Fault> {
        while count > 0 {
            let now = count.min(ABREAST);
            let opening = (0..now).map(|_| tokio::spawn(one(target.clone())));
            for opened in opening.collect::<Vec<_>>() {
                self.0.push(opened.await??);
            }
            count -= now;
        }
        Ok(())
    }

    /// Tries each once more and closes it: how many answered, and how many were cut.
    pub(crate) async fn try_all(&mut self) -> (usize, usize) {
        let (mut answered, mut cut) = (0, 0);
        for mut connection in self.0.drain(..) {
            match connection.exchange().await {
                Ok(()) => answered += 1,
                Err(_) => cut += 1,
            }
        }
        (answered, cut)
    }
}

async fn one(target: Found) -> Result<Connection, Fault> {
    let mut connection = target.open().await?;
    connection.exchange().await?;
    Ok(connection)
}
