//! The write end of a process's stdin, which can be closed by somebody else than whoever is writing.

use std::{
    cell::{Cell as Slot, RefCell},
    io,
};

use tokio::{io::AsyncWriteExt, net::unix::pipe, sync::Notify};

/// The stream. Writes come from the one attach at most.
#[derive(Debug)]
pub(crate) struct Stdin {
    pipe: RefCell<Option<pipe::Sender>>,
    closed: Slot<bool>,
    closing: Notify,
}

impl Stdin {
    pub(crate) fn new(pipe: pipe::Sender) -> Self {
        Self { pipe: RefCell::new(Some(pipe)), closed: Slot::new(false), closing: Notify::new() }
    }

    /// The process sees the end of its stdin, even while a write waits for it.
    pub(crate) fn close(&self) {
        self.closed.set(true);
        self.pipe.borrow_mut().take();
        self.closing.notify_one();
    }

    /// Writes all of it, or drops it where stdin is closed on either side: a process that does not read its stdin is
    /// no error of whoever writes.
    pub(crate) async fn write(&self, bytes: &[u8]) {
        let Some(mut pipe) = self.pipe.borrow_mut().take() else { return };
        let written: io::Result<()> = tokio::select! {
            written = pipe.write_all(bytes) => written,
            () = self.closing.notified() => return,
        };
        if written.is_ok() && !self.closed.get() {
            *self.pipe.borrow_mut() = Some(pipe);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{rc::Rc, time::Duration};

    use tokio::io::AsyncReadExt;

    use super::*;

    #[tokio::test(flavor = "current_thread")]
    async fn closing_ends_a_write_that_waits() {
        let (sender, mut receiver) = pipe::pipe().unwrap();
        let stdin = Rc::new(Stdin::new(sender));
        let large = vec![7; 4 << 20];
        let write = stdin.write(&large);
        let close = async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            stdin.close();
        };
        tokio::join!(write, close);
        let mut read = Vec::new();
        receiver.read_to_end(&mut read).await.unwrap();
        assert!(!read.is_empty() && read.len() < large.len());
        stdin.write(b"after").await;
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_process_that_closed_its_stdin_is_no_error() {
        let (sender, receiver) = pipe::pipe().unwrap();
        drop(receiver);
        let stdin = Stdin::new(sender);
        stdin.write(b"nobody reads").await;
        stdin.write(b"still nobody").await;
    }
}
