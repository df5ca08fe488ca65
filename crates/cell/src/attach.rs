//! Relays between an attached connection and a process, in frames of `cell_api::frame`.

use std::{io, time::Duration};

use cell_api::{
    frame::{self, Channel, HEADER},
    info::End,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::unix::pipe,
    sync::mpsc,
};

use crate::process::{PIECE, Process, Seat};

/// How long output is waited for after the process itself has ended: something it started may still hold the pipe.
const STRAGGLERS: Duration = Duration::from_secs(1);

/// Relays until the process has ended and all it said was handed over, or the connection is closed. `end` resolves
/// when the process has ended; its value becomes the exit frame. `all_gone_at_end` says that nothing which holds the
/// streams can be left by then, so that their own end is waited for.
pub(crate) async fn relay(
    from: impl AsyncRead + Unpin,
    to: impl AsyncWrite + Unpin,
    mut seat: Seat,
    end: impl Future<Output = End>,
    all_gone_at_end: bool,
) -> io::Result<()> {
    let mut stdout = seat.stdout.take();
    let mut stderr = seat.stderr.take();
    let result = tokio::select! {
        result = inwards(from, seat.process()) => result,
        result = outwards(to, &mut stdout, &mut stderr, end, all_gone_at_end) => result,
    };
    seat.stdout = stdout;
    result
}

/// Connection → stdin. Ends with the connection.
async fn inwards(mut from: impl AsyncRead + Unpin, process: &Process) -> io::Result<()> {
    let mut buffer = Vec::new();
    loop {
        let mut header = [0; HEADER];
        match from.read_exact(&mut header).await {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error),
        }
        let (channel, len) = frame::parse(header).map_err(invalid)?;
        if channel != Channel::Stdin {
            return Err(invalid(format!("a frame of {channel:?} was sent towards the process")));
        }
        if len == 0 {
            process.stdin.close();
            continue;
        }
        let mut left = len;
        while left > 0 {
            buffer.clear();
            buffer.reserve(PIECE.min(left));
            let read = (&mut from).take(PIECE.min(left) as u64).read_buf(&mut buffer).await?;
            if read == 0 {
                return Ok(());
            }
            left -= read;
            process.stdin.write(&buffer).await;
        }
    }
}

/// Stdout, stderr and the end → connection.
async fn outwards(
    mut to: impl AsyncWrite + Unpin,
    stdout: &mut Option<pipe::Receiver>,
    stderr: &mut Option<mpsc::Receiver<Vec<u8>>>,
    end: impl Future<Output = End>,
    all_gone_at_end: bool,
) -> io::Result<()> {
    let mut end = std::pin::pin!(end);
    let mut ended: Option<End> = None;
    // The header's place comes first, so that a frame is one write.
    let mut buffer = vec![0; HEADER];
    loop {
        if let Some(end) = &ended
            && stdout.is_none()
            && stderr.is_none()
        {
            return last_frame(&mut to, end).await;
        }
        buffer.truncate(HEADER);
        buffer.reserve(PIECE);
        let straggling = ended.is_some() && !all_gone_at_end;
        tokio::select! {
            biased;
            read = read_some(stdout, &mut buffer), if stdout.is_some() => {
                if read? == 0 {
                    *stdout = None;
                }
                send(&mut to, Channel::Stdout, &mut buffer).await?;
            }
            piece = next_piece(stderr), if stderr.is_some() => match piece {
                Some(piece) => {
                    buffer.extend_from_slice(&piece);
                    send(&mut to, Channel::Stderr, &mut buffer).await?;
                }
                None => *stderr = None,
            },
            value = &mut end, if ended.is_none() => ended = Some(value),
            () = tokio::time::sleep(STRAGGLERS), if straggling => {
                if let Some(end) = &ended {
                    return last_frame(&mut to, end).await;
                }
            }
        }
    }
}

async fn read_some(stdout: &mut Option<pipe::Receiver>, buffer: &mut Vec<u8>) -> io::Result<usize> {
    match stdout {
        Some(pipe) => pipe.read_buf(buffer).await,
        None => std::future::pending().await,
    }
}

async fn next_piece(stderr: &mut Option<mpsc::Receiver<Vec<u8>>>) -> Option<Vec<u8>> {
    match stderr {
        Some(pieces) => pieces.recv().await,
        None => std::future::pending().await,
    }
}

async fn last_frame(to: &mut (impl AsyncWrite + Unpin), end: &End) -> io::Result<()> {
    let mut buffer = vec![0; HEADER];
    serde_json::to_writer(&mut buffer, end)?;
    send(to, Channel::Exit, &mut buffer).await?;
    to.shutdown().await
}

/// Sends what lies behind the header's place; the buffers never hold more than a frame may.
async fn send(to: &mut (impl AsyncWrite + Unpin), channel: Channel, buffer: &mut [u8]) -> io::Result<()> {
    let header = frame::header(channel, buffer.len().saturating_sub(HEADER)).map_err(invalid)?;
    for (place, byte) in buffer.iter_mut().zip(header) {
        *place = byte;
    }
    to.write_all(buffer).await
}

fn invalid(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

#[cfg(test)]
mod tests;
