#![expect(clippy::string_slice, reason = "the code of tests may panic")]

use http_body_util::{BodyExt, Full};

use super::*;
use crate::credential::coding::tests::{brotli, gzip};
use crate::credential::key::tests::{TOKEN, binding, key};
use crate::credential::stream::tests::scrubber;

fn work(coding: Option<Coding>) -> (Option<Work>, String) {
    let key = key("K", TOKEN, binding(&["a.example.com"], &[]));
    let shown = key.placeholder().as_str().to_owned();
    let needles = scrubber(vec![key]);
    let tool = Tool::Everywhere(Stream::new(Arc::clone(&needles)));
    (Some(Work { coding, tool, trailers: Some(needles), owners: Vec::new(), keeps_length: true }), shown)
}

/// A body that comes in these frames, one a poll.
struct Frames(VecDeque<Frame<Bytes>>);

impl Body for Frames {
    type Data = Bytes;
    type Error = std::io::Error;
    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        Poll::Ready(self.0.pop_front().map(Ok))
    }
}

async fn collected(body: impl Body<Data = Bytes, Error = BodyError>) -> (String, Option<HeaderMap>) {
    let whole = Box::pin(body).collect().await.unwrap();
    let trailers = whole.trailers().cloned();
    (String::from_utf8(whole.to_bytes().to_vec()).unwrap(), trailers)
}

#[tokio::test]
async fn a_body_and_its_trailers_are_replaced_in() {
    let text = format!("one {TOKEN} two {TOKEN}");
    for piece in [1, 3, 10, 1000] {
        let (work, shown) = work(None);
        let mut frames: VecDeque<_> =
            text.as_bytes().chunks(piece).map(|piece| Frame::data(Bytes::copy_from_slice(piece))).collect();
        let mut trailers = HeaderMap::new();
        trailers.insert("x-token", TOKEN.parse().unwrap());
        frames.push_back(Frame::trailers(trailers));
        let (body, trailers) = collected(Rewritten::new(Frames(frames), work, Written::default())).await;
        assert_eq!(body, text.replace(TOKEN, &shown));
        assert_eq!(trailers.unwrap()["x-token"], shown);
    }
}

#[tokio::test]
async fn the_length_is_known_before_and_after() {
    let (work, _) = work(None);
    let mut body = Rewritten::new(Full::new(Bytes::from("0123456789 ghp_c4")), work, Written::default());
    assert_eq!(body.size_hint().exact(), Some(17));
    let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert_eq!((first.len(), body.size_hint().exact(), body.is_end_stream()), (11, Some(6), false));
    let last = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert_eq!((&last[..], body.is_end_stream()), (&b"ghp_c4"[..], true));
    assert!(body.frame().await.is_none());
}

#[tokio::test]
async fn an_encoded_body_is_decoded_and_replaced_in() {
    let text = format!("{}{TOKEN}{}", "x".repeat(5000), "y".repeat(5000));
    for (coding, bytes) in [(Coding::Gzip, gzip(text.as_bytes())), (Coding::Brotli, brotli(text.as_bytes()))]
    {
        let (work, shown) = work(Some(coding));
        let body = Rewritten::new(Full::new(Bytes::from(bytes)), work, Written::default());
        assert_eq!(body.size_hint().exact(), None);
        assert_eq!(collected(body).await.0, text.replace(TOKEN, &shown));
    }
}

#[tokio::test]
async fn a_body_that_ends_early_or_swells_ends_in_an_error() {
    let bomb = gzip(&vec![b'x'; 64 * 1024 * 1024]);
    for bytes in [bomb, gzip(b"some text of an answer")[..12].to_vec()] {
        let (work, _) = work(Some(Coding::Gzip));
        let mut body = Rewritten::new(Full::new(Bytes::from(bytes)), work, Written::default());
        let mut most = 0;
        let failed = loop {
            match body.frame().await {
                Some(Ok(frame)) => most = most.max(frame.data_ref().map_or(0, Bytes::len)),
                Some(Err(_)) => break true,
                None => break false,
            }
        };
        assert!(failed);
        assert!(most <= 8 * 1024 * 1024, "{most}");
        assert!(body.frame().await.is_none(), "nothing follows an error");
    }
}

#[tokio::test]
async fn a_silent_host_gets_nothing_through_but_what_is_no_beginning() {
    let (send, receive) = tokio::sync::mpsc::unbounded_channel();
    let (work, shown) = work(None);
    let mut body = Rewritten::new(Receiving(receive), work, Written::default());
    send.send(Bytes::from(format!("data: a\n\ndata: {}", &TOKEN[..9]))).unwrap();
    let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert_eq!(first, "data: a\n\ndata: ");
    let waiting = tokio::time::timeout(std::time::Duration::from_millis(20), body.frame()).await;
    assert!(waiting.is_err());
    send.send(Bytes::from(format!("{}\n\n", &TOKEN[9..]))).unwrap();
    let next = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert_eq!(next, format!("{shown}\n\n"));
}

/// A body that comes as it is sent.
struct Receiving(tokio::sync::mpsc::UnboundedReceiver<Bytes>);

impl Body for Receiving {
    type Data = Bytes;
    type Error = std::io::Error;
    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        self.0.poll_recv(cx).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }
}
