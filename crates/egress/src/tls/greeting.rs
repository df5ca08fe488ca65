//! The greeting of a TLS client, taken from a connection and held against the host it may speak to.

use std::io;
use std::time::Duration;

use tokio::io::AsyncReadExt;

use super::hello::{self, Hello, HelloError, Progress};
use crate::half::Half;
use crate::name::HostName;
use crate::policy::Permit;
use crate::refusal::{Code, Refusal};

/// Why a greeting was not taken.
#[derive(Debug)]
pub(crate) enum GreetingError {
    /// It was refused.
    Refused(Box<Refusal>),
    /// The connection ended or broke before it was complete.
    Lost,
}

impl From<Refusal> for GreetingError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}

/// Reads the greeting, at most [`hello::MAX_HELLO`] bytes (and what came with the last) and within `time`, and checks that it is for the permit's host.
/// Returns the half with everything read in front again, and the greeting; none where a control of the tests let
/// something else pass. An encrypted part is taken only if somebody here can answer in its place (`answered`).
pub(crate) async fn read(
    mut half: Half,
    permit: &Permit,
    time: Duration,
    answered: bool,
) -> Result<(Half, Option<Hello>), GreetingError> {
    let mut bytes = Vec::new();
    let hello = match tokio::time::timeout(time, complete(&mut half, &mut bytes)).await {
        Ok(read) => read.map_err(|_| GreetingError::Lost)?,
        Err(_) => return Err(permit.refuse(Code::NotTls, "the TLS greeting took too long").into()),
    };
    let hello = match hello {
        Ok(hello) => {
            agree(&hello, permit, answered)?;
            Some(hello)
        }
        Err(HelloError::Name) if crate::guard::off("sni") => None,
        Err(error @ HelloError::Name) => return Err(permit.refuse(Code::Sni, &error.to_string()).into()),
        Err(_) if crate::guard::off("tls") => None,
        Err(error) => return Err(permit.refuse(Code::NotTls, &error.to_string()).into()),
    };
    Ok((half.with_early(&bytes), hello))
}

/// Reads until the greeting is complete or cannot become one.
async fn complete(half: &mut Half, bytes: &mut Vec<u8>) -> io::Result<Result<Hello, HelloError>> {
    let mut need = 0;
    loop {
        if bytes.len() >= need {
            match hello::parse(bytes) {
                Ok(Progress::Complete(hello)) => return Ok(Ok(hello)),
                Ok(Progress::Incomplete { need: more }) => need = more,
                Err(error) => return Ok(Err(error)),
            }
        }
        let mut space = [0_u8; 2048];
        let count = half.read(&mut space).await?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes.extend_from_slice(space.get(..count).unwrap_or_default());
    }
}

fn agree(hello: &Hello, permit: &Permit, answered: bool) -> Result<(), Refusal> {
    if hello.ech && !answered && !crate::guard::off("ech") {
        return Err(permit.refuse(Code::Ech, ""));
    }
    if crate::guard::off("sni") {
        return Ok(());
    }
    let Some(sni) = &hello.sni else { return Err(permit.refuse(Code::SniMissing, "")) };
    // RFC 6066 §3: no trailing dot; a server that is sent one may take it for another name.
    let same =
        !sni.ends_with('.') && HostName::from_wire(sni.as_bytes()).is_ok_and(|name| name == *permit.name());
    if same { Ok(()) } else { Err(permit.refuse(Code::Sni, &format!("`{sni}`"))) }
}
