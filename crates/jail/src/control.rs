//! The jail's end of the control socket.

use std::{
    io::{IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};

use crate::message::{MAX_SOCKETS, Order, Report};

/// Largest datagram either side sends. What may be longer travels as a memfd.
pub const MAX_DATAGRAM: usize = 64 * 1024;
/// Most fds one order carries.
const MAX_FDS: usize = 4;

/// What came in.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// An order and the fds that came with it.
    Order(Order, Vec<OwnedFd>),
    /// The supervisor is gone.
    Closed,
    /// Something that is no order; ignored, since only our supervisor holds the other end.
    Noise,
}

#[derive(Debug)]
pub(crate) struct Control(OwnedFd);

impl Control {
    pub(crate) fn new(socket: OwnedFd) -> Self {
        Self(socket)
    }

    /// Tells the supervisor. An error means that it is gone, which the next `receive` says too.
    pub(crate) fn report(&self, report: &Report) {
        let Ok(text) = serde_json::to_vec(report) else { return };
        let mut none = SendAncillaryBuffer::default();
        sendmsg(&self.0, &[IoSlice::new(&text)], &mut none, SendFlags::NOSIGNAL).ok();
    }

    /// Tells the supervisor and gives it fds, at most [`MAX_SOCKETS`].
    pub(crate) fn hand_over(&self, report: &Report, fds: &[OwnedFd]) {
        let Ok(text) = serde_json::to_vec(report) else { return };
        let fds: Vec<BorrowedFd<'_>> = fds.iter().map(OwnedFd::as_fd).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_SOCKETS))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        ancillary.push(SendAncillaryMessage::ScmRights(&fds));
        sendmsg(&self.0, &[IoSlice::new(&text)], &mut ancillary, SendFlags::NOSIGNAL).ok();
    }

    /// The next order; waits for it.
    pub(crate) fn receive(&self) -> Incoming {
        let mut text = vec![0_u8; MAX_DATAGRAM];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let got =
            recvmsg(&self.0, &mut [IoSliceMut::new(&mut text)], &mut ancillary, RecvFlags::CMSG_CLOEXEC);
        let length = match got {
            Ok(message) if message.bytes > 0 => message.bytes,
            Err(rustix::io::Errno::INTR) => return Incoming::Noise,
            Ok(_) | Err(_) => return Incoming::Closed,
        };
        let mut fds = Vec::new();
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(received) = message {
                fds.extend(received);
            }
        }
        match text.get(..length).map(serde_json::from_slice) {
            Some(Ok(order)) => Incoming::Order(order, fds),
            Some(Err(_)) | None => Incoming::Noise,
        }
    }
}

impl AsFd for Control {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
