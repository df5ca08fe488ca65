//! The byte stream an attach is upgraded to: frames of a channel, a length and a payload.
//!
//! A frame is 1 byte channel, 3 zero bytes, 4 bytes big-endian length of the payload, and the payload. Frames do not
//! keep the boundaries of writes inside the cell. An empty frame on [`Channel::Stdin`] closes stdin; an empty frame on
//! stdout or stderr says that that stream has ended.

/// Value of the `Upgrade` header.
pub const PROTOCOL: &str = "fumehood-stdio/1";
/// Bytes before the payload.
pub const HEADER: usize = 8;
/// Longest payload of one frame, in bytes; a longer one ends the attach.
pub const MAX_PAYLOAD: usize = 1 << 20;

/// What a frame carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    /// Towards the process.
    Stdin,
    /// From the process.
    Stdout,
    /// From the process, where it was asked for.
    Stderr,
    /// How it ended: an [`crate::info::End`] as JSON. The last frame.
    Exit,
}

/// A frame that cannot be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// No channel has this number.
    #[error("no channel has the number {0}")]
    Channel(u8),
    /// The three reserved bytes were not zero.
    #[error("the reserved bytes of a frame are not zero")]
    Reserved,
    /// The payload is longer than allowed.
    #[error("a frame of {0} bytes is longer than {MAX_PAYLOAD}")]
    Length(u32),
}

impl Channel {
    fn number(self) -> u8 {
        match self {
            Self::Stdin => 0,
            Self::Stdout => 1,
            Self::Stderr => 2,
            Self::Exit => 3,
        }
    }
}

/// The bytes before a payload of `len` bytes; `len` above [`MAX_PAYLOAD`] is refused.
pub fn header(channel: Channel, len: usize) -> Result<[u8; HEADER], FrameError> {
    let len = u32::try_from(len).unwrap_or(u32::MAX);
    check_length(len)?;
    let [a, b, c, d] = len.to_be_bytes();
    Ok([channel.number(), 0, 0, 0, a, b, c, d])
}

/// Reads the bytes before a payload: its channel and length.
pub fn parse(header: [u8; HEADER]) -> Result<(Channel, usize), FrameError> {
    let [channel, r1, r2, r3, a, b, c, d] = header;
    let channel = match channel {
        0 => Channel::Stdin,
        1 => Channel::Stdout,
        2 => Channel::Stderr,
        3 => Channel::Exit,
        other => return Err(FrameError::Channel(other)),
    };
    if [r1, r2, r3] != [0; 3] {
        return Err(FrameError::Reserved);
    }
    let len = u32::from_be_bytes([a, b, c, d]);
    Ok((channel, check_length(len)?))
}

fn check_length(len: u32) -> Result<usize, FrameError> {
    match usize::try_from(len) {
        Ok(bytes) if bytes <= MAX_PAYLOAD => Ok(bytes),
        _ => Err(FrameError::Length(len)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        for channel in [Channel::Stdin, Channel::Stdout, Channel::Stderr, Channel::Exit] {
            for len in [0, 1, 255, 256, 65_536, MAX_PAYLOAD] {
                assert_eq!(parse(header(channel, len).unwrap()), Ok((channel, len)));
            }
        }
    }

    #[test]
    fn a_frame_that_cannot_be_is_refused() {
        assert_eq!(header(Channel::Stdin, MAX_PAYLOAD + 1), Err(FrameError::Length(1_048_577)));
        assert_eq!(parse([4, 0, 0, 0, 0, 0, 0, 0]), Err(FrameError::Channel(4)));
        assert_eq!(parse([0, 0, 1, 0, 0, 0, 0, 0]), Err(FrameError::Reserved));
        assert_eq!(parse([0, 0, 0, 0, 255, 0, 0, 0]), Err(FrameError::Length(0xff00_0000)));
    }

    #[test]
    fn the_layout_on_the_wire_is_the_documented_one() {
        assert_eq!(header(Channel::Stderr, 0x0001_0203), Ok([2, 0, 0, 0, 0, 1, 2, 3]));
    }
}
