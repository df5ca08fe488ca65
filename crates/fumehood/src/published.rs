//! Ports of this machine's loopback that lead to a port inside a cell.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    num::NonZeroU16,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::Context;
use cell_api::client::{Attached, Client};
use tokio::{
    io::AsyncReadExt,
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::JoinHandle,
};

use crate::stop::{Stop, USAGE};

/// Connections at once; more wait in the kernel's queue.
const MOST: usize = 256;
/// How often it is tried whether the server has come up.
const LOOK: Duration = Duration::from_millis(50);

/// `[127.0.0.1:]PORT:INSIDE`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Publish {
    /// Where it listens here; port 0 for any that is free.
    pub(crate) here: SocketAddr,
    /// The port inside.
    pub(crate) inside: NonZeroU16,
}

impl Publish {
    /// On any free port.
    pub(crate) fn anywhere(inside: NonZeroU16) -> Self {
        Self { here: SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0), inside }
    }

    /// Reads the value of `--publish`.
    pub(crate) fn parse(text: &str) -> anyhow::Result<Self> {
        let wrong = |why: &str| -> anyhow::Error {
            let hint = "write `8080:80`, `127.0.0.1:8080:80` or `[::1]:8080:80`; port 0 is any that is free";
            Stop::new(USAGE, format!("`--publish {text}`: {why}"), hint).into()
        };
        let (front, inside) = text.rsplit_once(':').ok_or_else(|| wrong("there is no port inside"))?;
        let inside = inside.parse().map_err(|_| wrong("the port inside is not a number from 1 to 65535"))?;
        let here = match front.parse::<u16>() {
            Ok(port) => SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port),
            Err(_) => {
                front.parse().map_err(|_| wrong("this is not an address of this machine with a port"))?
            }
        };
        let is_loopback = match here.ip() {
            IpAddr::V4(address) => address.is_loopback(),
            IpAddr::V6(address) => address.is_loopback(),
        };
        if is_loopback { Ok(Self { here, inside }) } else { Err(wrong("only loopback is listened on")) }
    }
}

/// The listeners of one cell; they close when it is dropped.
#[derive(Debug, Default)]
pub(crate) struct Published {
    tasks: Vec<JoinHandle<()>>,
}

impl Published {
    /// Listens on all of them.
    pub(crate) async fn open(
        cell: &Path,
        ports: &[Publish],
    ) -> anyhow::Result<(Self, Vec<(SocketAddr, Publish)>)> {
        let mut published = Self::default();
        let mut places = Vec::new();
        for port in ports {
            let listener =
                TcpListener::bind(port.here).await.with_context(|| format!("listening on {}", port.here))?;
            places.push((listener.local_addr()?, *port));
            let cell = cell.to_owned();
            published.tasks.push(tokio::spawn(accept(listener, cell, port.inside.get())));
        }
        Ok((published, places))
    }
}

impl Drop for Published {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

/// Waits until something inside takes connections on the port.
pub(crate) async fn until_up(cell: &Path, inside: NonZeroU16) {
    while connect(cell, inside.get()).await.is_err() {
        tokio::time::sleep(LOOK).await;
    }
}

async fn accept(listener: TcpListener, cell: PathBuf, inside: u16) {
    let room = Arc::new(Semaphore::new(MOST));
    loop {
        let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // Out of descriptors: others have to be closed first.
            tokio::time::sleep(LOOK).await;
            continue;
        };
        let cell = cell.clone();
        tokio::spawn(async move {
            let _place = place;
            // Whoever connected sees the end of the connection; there is nobody else to tell.
            relay(stream, &cell, inside).await.ok();
        });
    }
}

async fn relay(mut here: TcpStream, cell: &Path, inside: u16) -> io::Result<()> {
    let attached = connect(cell, inside).await?;
    let (from, to) = attached.stream.into_split();
    let mut there = tokio::io::join(io::Cursor::new(attached.early).chain(from), to);
    here.set_nodelay(true)?;
    tokio::io::copy_bidirectional(&mut here, &mut there).await?;
    Ok(())
}

async fn connect(cell: &Path, inside: u16) -> io::Result<Attached> {
    let client = Client::connect(cell).await.map_err(io::Error::other)?;
    client.connect_inside(inside).await.map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_is_listened_on() {
        let parsed = |text: &str| Publish::parse(text).map(|port| (port.here.to_string(), port.inside.get()));
        assert_eq!(parsed("9000:8080").unwrap(), ("127.0.0.1:9000".to_owned(), 8080));
        assert_eq!(parsed("127.0.0.2:0:80").unwrap(), ("127.0.0.2:0".to_owned(), 80));
        assert_eq!(parsed("[::1]:9000:8080").unwrap(), ("[::1]:9000".to_owned(), 8080));
        for wrong in [
            "8080",
            "0.0.0.0:1:2",
            "[::]:1:2",
            "192.0.2.1:1:2",
            "1:0",
            "x:1:2",
            "1:2:3",
            "[::ffff:127.0.0.1]:1:2",
        ] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }
}
