//! `Expect: 100-continue`: the body waits for the host's word (RFC 9110 §10.1.1).

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::time::Sleep;

/// Longest wait for the word of a host that may not know the question.
const LONGEST: Duration = Duration::from_secs(1);

/// What waits.
#[derive(Debug)]
pub(crate) struct Go {
    word: Arc<Word>,
    longest: Pin<Box<Sleep>>,
}

/// The word.
#[derive(Debug, Default)]
pub(crate) struct Word {
    given: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Word {
    pub(crate) fn give(&self) {
        self.given.store(true, Ordering::Release);
        let waker = self.waker.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Go {
    /// Waits until the word is given, or too long.
    pub(crate) fn on(word: Arc<Word>) -> Self {
        Self { word, longest: Box::pin(tokio::time::sleep(LONGEST)) }
    }
}

impl Future for Go {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        let mut waker = this.word.waker.lock().unwrap_or_else(PoisonError::into_inner);
        if this.word.given.load(Ordering::Acquire) {
            return Poll::Ready(());
        }
        *waker = Some(cx.waker().clone());
        drop(waker);
        this.longest.as_mut().poll(cx)
    }
}
