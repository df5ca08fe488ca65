//! Where a body ends, whatever it arrives with.

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;

const LIMITS: GateLimits =
    GateLimits { head: 1024, headers: 16, time: Duration::from_secs(5), connect: false };

#[tokio::test]
async fn what_comes_with_the_rest_of_a_body_is_read_as_a_request() {
    let (mut cell, inner) = tokio::io::duplex(4096);
    let (mut gate, keeper) = Gate::new(inner, LIMITS);
    let head = "POST /a HTTP/1.1\r\nhost: h\r\ncontent-length: 6\r\n\r\n";
    let mut space = [0; 1024];
    cell.write_all(head.as_bytes()).await.unwrap();
    assert_eq!(gate.read(&mut space).await.unwrap(), head.len());
    assert!(keeper.next_head().unwrap().is_ok());
    // Two requests after the body, of which a strict reader takes the first only.
    let next = "GET /b HTTP/1.1\r\nhost: h\r\n\r\n";
    cell.write_all(format!("sixsix{next}GET /c HTTP/1.1\nhost: h\n\n").as_bytes()).await.unwrap();
    assert_eq!(gate.read(&mut space).await.unwrap(), 6, "the body's end is the end of what is not judged");
    let count = gate.read(&mut space).await.unwrap();
    assert_eq!(&space[..count], next.as_bytes());
    assert_eq!(keeper.next_head().unwrap().unwrap().method, "GET");
    let count = gate.read(&mut space).await.unwrap();
    assert_eq!(&space[..count], PLACEHOLDER);
    assert!(keeper.next_head().unwrap().is_err());
}
