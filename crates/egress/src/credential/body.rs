//! Bodies on their way: decoded if they must be, replaced in, trailers too.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use model::secret::SecretName;

use self::region::Regions;
use super::coding::{Coding, Decoder};
use super::heading::edit_headers;
use super::search::Needles;
use super::stream::Stream;

pub(crate) mod region;

/// What becomes of the body of one request.
#[derive(Debug, Default)]
pub struct BodyPlan {
    pub(crate) work: Option<Work>,
    pub(crate) written: Written,
}

/// Which keys were written into one body so far.
#[derive(Debug, Clone, Default)]
pub struct Written(Arc<Mutex<Vec<SecretName>>>);

/// What is done to a body.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) coding: Option<Coding>,
    pub(crate) tool: Tool,
    /// For trailers.
    pub(crate) trailers: Option<Arc<Needles>>,
    /// Names of the owners of what is written.
    pub(crate) owners: Vec<SecretName>,
    /// Whether as many bytes come out as go in.
    pub(crate) keeps_length: bool,
}

#[derive(Debug)]
pub(crate) enum Tool {
    Everywhere(Stream),
    Regions(Regions),
}

/// An error of a body.
pub type BodyError = Box<dyn std::error::Error + Send + Sync>;

impl BodyPlan {
    /// Whether the body goes on as it is.
    pub fn passes(&self) -> bool {
        self.work.is_none()
    }

    /// Tells which keys were written into the body, after it has gone.
    pub fn written(&self) -> Written {
        self.written.clone()
    }

    /// The body as it goes on.
    pub fn wrap<B>(self, body: B) -> Rewritten<B> {
        Rewritten::new(body, self.work, self.written)
    }
}

impl Written {
    /// Their names, each once.
    pub fn names(&self) -> Vec<SecretName> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn add(&self, name: &SecretName) {
        let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
}

/// A body that is replaced in as it passes. What is held back is bounded by the length of the needles, what is decoded at
/// once by [`Decoder::PIECE`]. Nothing is kept from the other side but a true beginning of something that is replaced;
/// when the sender is silent it waits with it.
#[derive(Debug)]
pub struct Rewritten<B> {
    body: B,
    work: Option<Work>,
    decoder: Option<Decoder>,
    written: Written,
    /// Came, and is not decoded yet.
    pending: Bytes,
    ready: VecDeque<Frame<Bytes>>,
    ended: bool,
}

impl<B> Rewritten<B> {
    pub(crate) fn new(body: B, work: Option<Work>, written: Written) -> Self {
        let decoder = work.as_ref().and_then(|work| work.coding).map(Decoder::new);
        Self { body, work, decoder, written, pending: Bytes::new(), ready: VecDeque::new(), ended: false }
    }

    /// Replaces in what is no longer encoded.
    fn take(&mut self, bytes: Bytes) {
        let Some(work) = &mut self.work else { return };
        let (out, seen) = match &mut work.tool {
            Tool::Everywhere(stream) => (stream.push(&bytes), stream.take_seen()),
            Tool::Regions(regions) => (regions.push(bytes), regions.take_seen()),
        };
        self.put(out, &seen);
    }

    fn put(&mut self, out: Bytes, seen: &[usize]) {
        let owners = self.work.iter().flat_map(|work| &work.owners);
        let owners: Vec<&SecretName> = owners.collect();
        seen.iter().filter_map(|owner| owners.get(*owner)).for_each(|name| self.written.add(name));
        if !out.is_empty() {
            self.ready.push_back(Frame::data(out));
        }
    }

    fn decode_some(&mut self) -> std::io::Result<()> {
        let piece = self.pending.split_to(self.pending.len().min(Decoder::PIECE));
        if let Some(decoder) = &mut self.decoder {
            let out = decoder.push(&piece)?;
            self.take(Bytes::from(out));
        }
        Ok(())
    }

    /// The end of the data; trailers or nothing follow.
    fn end(&mut self) -> std::io::Result<()> {
        self.ended = true;
        if let Some(decoder) = &mut self.decoder {
            let out = decoder.finish()?;
            self.take(Bytes::from(out));
        }
        let Some(work) = &mut self.work else { return Ok(()) };
        let (out, seen) = match &mut work.tool {
            Tool::Everywhere(stream) => (stream.finish(), stream.take_seen()),
            Tool::Regions(regions) => (regions.finish(), regions.take_seen()),
        };
        self.put(out, &seen);
        Ok(())
    }

    fn edit(&self, trailers: &mut HeaderMap) {
        let needles = self.work.as_ref().and_then(|work| work.trailers.as_ref());
        if let Some(needles) = needles {
            edit_headers(trailers, needles);
        }
    }

    fn held(&self) -> usize {
        match self.work.as_ref().map(|work| &work.tool) {
            Some(Tool::Everywhere(stream)) => stream.held(),
            Some(Tool::Regions(regions)) => regions.held(),
            None => 0,
        }
    }

    fn fail<T>(&mut self, error: impl Into<BodyError>) -> Poll<Option<Result<T, BodyError>>> {
        self.ended = true;
        self.ready.clear();
        self.pending = Bytes::new();
        Poll::Ready(Some(Err(error.into())))
    }
}

impl<B> Body for Rewritten<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<BodyError>,
{
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = self.get_mut();
        if this.work.is_none() {
            return Pin::new(&mut this.body).poll_frame(cx).map_err(Into::into);
        }
        loop {
            if let Some(frame) = this.ready.pop_front() {
                return Poll::Ready(Some(Ok(frame)));
            }
            if this.pending.has_remaining() {
                if let Err(error) = this.decode_some() {
                    return this.fail(error);
                }
                continue;
            }
            if this.ended {
                return Poll::Ready(None);
            }
            let frame = match std::task::ready!(Pin::new(&mut this.body).poll_frame(cx)) {
                Some(Ok(frame)) => frame,
                Some(Err(error)) => return this.fail(error),
                None => match this.end() {
                    Ok(()) => continue,
                    Err(error) => return this.fail(error),
                },
            };
            match frame.into_data() {
                Ok(data) if this.decoder.is_some() => this.pending = data,
                Ok(data) => this.take(data),
                Err(frame) => {
                    if let Err(error) = this.end() {
                        return this.fail(error);
                    }
                    if let Ok(mut trailers) = frame.into_trailers() {
                        this.edit(&mut trailers);
                        this.ready.push_back(Frame::trailers(trailers));
                    }
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self.work {
            None => self.body.is_end_stream(),
            Some(_) if self.ended => self.ready.is_empty() && !self.pending.has_remaining(),
            Some(_) => {
                let quiet = self.ready.is_empty() && !self.pending.has_remaining() && self.held() == 0;
                // A decoder has a say when the body ends.
                quiet && self.decoder.is_none() && self.body.is_end_stream()
            }
        }
    }

    fn size_hint(&self) -> SizeHint {
        let Some(work) = &self.work else { return self.body.size_hint() };
        if !work.keeps_length || self.decoder.is_some() {
            return SizeHint::new();
        }
        let waiting: usize = self.ready.iter().filter_map(Frame::data_ref).map(Bytes::len).sum();
        let more = (self.held() + waiting) as u64;
        let inner = if self.ended { SizeHint::with_exact(0) } else { self.body.size_hint() };
        let mut hint = SizeHint::new();
        hint.set_lower(inner.lower().saturating_add(more));
        if let Some(upper) = inner.upper() {
            hint.set_upper(upper.saturating_add(more));
        }
        hint
    }
}

#[cfg(test)]
mod tests;
