//! Raw bytes: declared TCP ports, half-close, back-pressure, much data, silence.

use std::time::Duration;

use egress::event::{End, Event};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::alone::alone;
use crate::origins::Origin;
use crate::world::{Ending, Plan, World, ending, until, within};

async fn world_of(origin: &Origin) -> World {
    Plan::new(&["tcp://db.example.com:5432"]).pin("db.example.com", origin.address).start().await
}

alone! {
    async fn the_host_may_speak_first() {
        let origin = Origin::new(|mut tap| async move {
            tap.stream.write_all(b"hello, who is there?").await.unwrap();
            tap.read(&mut [0; 16]).await;
        })
        .await;
        let world = world_of(&origin).await;
        let mut stream = world.connect("db.example.com", 5432).await;
        let mut greeting = [0; 20];
        within(stream.read_exact(&mut greeting)).await.unwrap();
        assert_eq!(&greeting, b"hello, who is there?");
        stream.write_all(b"me").await.unwrap();
        until(|| origin.all() == "me").await;
    }
}

alone! {
    async fn ports_that_no_rule_names_are_closed() {
        let origin = Origin::echo().await;
        let world = world_of(&origin).await;
        for port in [80, 443, 5433] {
            let address = world.address("db.example.com", port).await;
            let error = TcpStream::connect(address).await.unwrap_err();
            assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused, "{port}");
        }
    }
}

alone! {
    async fn the_end_of_one_side_leaves_the_other_open() {
        let origin = Origin::new(|mut tap| async move {
            let mut all = Vec::new();
            tap.stream.read_to_end(&mut all).await.unwrap();
            tokio::time::sleep(Duration::from_millis(50)).await;
            tap.stream.write_all(format!("{} bytes", all.len()).as_bytes()).await.unwrap();
        })
        .await;
        let world = world_of(&origin).await;
        let mut stream = world.connect("db.example.com", 5432).await;
        stream.write_all(&[1; 1000]).await.unwrap();
        stream.shutdown().await.unwrap();
        assert_eq!(ending(&mut stream).await, Ending::Closed(b"1000 bytes".to_vec()));
        world.until_flows(0).await;
        let closed: Vec<Event> = world.entries().into_iter().map(|entry| entry.event).collect();
        assert!(
            closed.iter().any(|event| matches!(event, Event::Closed { sent: 1000, received: 10, end: End::Finished, .. })),
            "{closed:?}"
        );
    }
}

alone! {
    async fn much_data_arrives_whole_both_ways_at_once() {
        const SIZE: usize = 24 << 20;
        let origin = Origin::echo().await;
        let world = world_of(&origin).await;
        let stream = world.connect("db.example.com", 5432).await;
        let (mut read, mut write) = stream.into_split();
        let writer = tokio::spawn(async move {
            let mut state = 1_u32;
            for _ in 0..SIZE / 4096 {
                write.write_all(&noise(&mut state)).await.unwrap();
            }
            write.shutdown().await.unwrap();
        });
        let mut state = 1_u32;
        let mut chunk = [0; 4096];
        for at in 0..SIZE / 4096 {
            within(read.read_exact(&mut chunk)).await.unwrap();
            assert!(chunk == noise(&mut state), "differs in chunk {at}");
        }
        assert_eq!(within(read.read(&mut chunk)).await.unwrap(), 0);
        writer.await.unwrap();
        world.until_flows(0).await;
        let usage = world.egress.usage();
        assert_eq!((usage.sent, usage.received), (SIZE as u64, SIZE as u64));
    }
}

/// Bytes that differ everywhere, so that a swapped or repeated piece shows.
fn noise(state: &mut u32) -> [u8; 4096] {
    let mut bytes = [0; 4096];
    for four in bytes.chunks_exact_mut(4) {
        *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        four.copy_from_slice(&state.to_le_bytes());
    }
    bytes
}

alone! {
    async fn whoever_reads_slowly_holds_the_sender_back_and_gets_all() {
        const SIZE: usize = 32 << 20;
        let origin = Origin::new(|mut tap| async move {
            let mut state = 7_u32;
            for _ in 0..SIZE / 4096 {
                if tap.stream.write_all(&noise(&mut state)).await.is_err() {
                    return;
                }
            }
        })
        .await;
        let world = world_of(&origin).await;
        let mut stream = world.connect("db.example.com", 5432).await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        let waiting = world.egress.usage().received;
        // What sockets and a pipe hold, and not the whole.
        assert!(waiting < SIZE as u64 * 3 / 4, "{waiting}");
        let (mut state, mut chunk) = (7_u32, [0; 4096]);
        for at in 0..SIZE / 4096 {
            within(stream.read_exact(&mut chunk)).await.unwrap();
            assert!(chunk == noise(&mut state), "differs in chunk {at}");
        }
    }
}

alone! {
    async fn a_reset_of_the_host_is_a_reset_for_the_tool() {
        let origin = Origin::new(|mut tap| async move {
            tap.read(&mut [0; 16]).await;
            tap.stream.set_zero_linger().unwrap();
        })
        .await;
        let world = world_of(&origin).await;
        let mut stream = world.connect("db.example.com", 5432).await;
        stream.write_all(b"x").await.unwrap();
        assert_eq!(ending(&mut stream).await, Ending::Reset);
        world.until_flows(0).await;
    }
}

alone! {
    async fn silence_ends_a_connection_and_anything_said_prolongs_it() {
        let origin = Origin::echo().await;
        let plan = Plan::new(&["tcp://db.example.com:5432"]).pin("db.example.com", origin.address);
        let world = plan.limits(|limits| limits.idle = Duration::from_millis(400)).start().await;
        let mut silent = world.connect("db.example.com", 5432).await;
        let mut lively = world.connect("db.example.com", 5432).await;
        for _ in 0..8 {
            lively.write_all(b"x").await.unwrap();
            within(lively.read_exact(&mut [0])).await.unwrap();
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        assert_eq!(ending(&mut silent).await, Ending::Reset);
        lively.write_all(b"x").await.unwrap();
        within(lively.read_exact(&mut [0])).await.unwrap();
        assert_eq!(ending(&mut lively).await, Ending::Reset);
        let idle = world.entries().into_iter().filter(|entry| matches!(entry.event, Event::Closed { end: End::Idle, .. }));
        assert_eq!(idle.count(), 2);
    }
}
