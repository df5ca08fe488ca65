//! Bounds: connections, heads, and those who are slow on purpose.

use std::time::Duration;

use egress::refusal::Code;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::alone::alone;
use crate::origins::{Origin, ask};
use crate::world::{Ending, Plan, ending, until, within};

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const GET: &str = "GET / HTTP/1.1\r\nHost: plain.example.com\r\n\r\n";

alone! {
    async fn connections_beyond_the_cells_number_are_reset() {
        let origin = Origin::echo().await;
        let plan = Plan::new(&["tcp://db.example.com:5432"]).pin("db.example.com", origin.address);
        let world = plan.limits(|limits| limits.connections = 3).start().await;
        let mut held = Vec::new();
        for _ in 0..3 {
            held.push(world.connect("db.example.com", 5432).await);
        }
        world.until_flows(3).await;
        for _ in 0..5 {
            let mut over = world.connect("db.example.com", 5432).await;
            assert_eq!(ending(&mut over).await, Ending::Reset);
        }
        // Five times the same is one entry.
        assert_eq!(world.codes(), [Code::Limit]);
        assert_eq!(world.entries().iter().map(|entry| entry.count).max(), Some(5));
        held.pop();
        world.until_flows(2).await;
        let mut next = world.connect("db.example.com", 5432).await;
        next.write_all(b"x").await.unwrap();
        within(next.read_exact(&mut [0])).await.unwrap();
    }
}

alone! {
    async fn one_host_cannot_take_all_connections() {
        let (one, two) = (Origin::http(OK).await, Origin::http(OK).await);
        let plan = Plan::new(&["plain.example.com", "other.example.com"])
            .pin("plain.example.com", one.address)
            .pin("other.example.com", two.address);
        let world = plan.limits(|limits| limits.connections_per_host = 2).start().await;
        let mut held = Vec::new();
        for _ in 0..2 {
            let mut stream = world.connect("plain.example.com", 80).await;
            assert!(ask(&mut stream, GET).await.ends_with("ok"));
            held.push(stream);
        }
        let mut over = world.connect("plain.example.com", 80).await;
        assert!(ask(&mut over, GET).await.contains("FH-EGRESS-LIMIT"));
        let mut other = world.connect("other.example.com", 80).await;
        let request = "GET / HTTP/1.1\r\nHost: other.example.com\r\n\r\n";
        assert!(ask(&mut other, request).await.ends_with("ok"));
    }
}

alone! {
    async fn heads_have_a_largest_size_and_number_of_lines() {
        let origin = Origin::http(OK).await;
        let plan = Plan::new(&["plain.example.com"]).pin("plain.example.com", origin.address);
        let world = plan
            .limits(|limits| {
                limits.head_bytes = 4096;
                limits.headers = 20;
            })
            .start()
            .await;
        let long = format!("GET / HTTP/1.1\r\nHost: plain.example.com\r\nX-A: {}\r\n\r\n", "a".repeat(5000));
        let many = format!("GET / HTTP/1.1\r\nHost: plain.example.com\r\n{}\r\n", "X-A: b\r\n".repeat(20));
        // Without an end: it must not be waited for.
        let endless = format!("GET /{}", "a".repeat(5000));
        for request in [long, many, endless] {
            let mut stream = world.connect("plain.example.com", 80).await;
            let answer = ask(&mut stream, &request).await;
            assert!(answer.starts_with("HTTP/1.1 431 ") && answer.contains("FH-EGRESS-SIZE"), "{answer}");
        }
        assert_eq!(origin.connections(), 0);
        let just = format!("GET / HTTP/1.1\r\nHost: plain.example.com\r\n{}\r\n", "X-A: b\r\n".repeat(19));
        let mut stream = world.connect("plain.example.com", 80).await;
        assert!(ask(&mut stream, &just).await.ends_with("ok"));
    }
}

alone! {
    async fn a_head_that_comes_drop_by_drop_is_given_up() {
        let origin = Origin::http(OK).await;
        let plan = Plan::new(&["plain.example.com"]).pin("plain.example.com", origin.address);
        let world = plan.limits(|limits| limits.head_time = Duration::from_millis(300)).start().await;
        let mut stream = world.connect("plain.example.com", 80).await;
        // Idle before the first byte is no offence.
        tokio::time::sleep(Duration::from_millis(500)).await;
        let begun = std::time::Instant::now();
        let mut sent = 0;
        for byte in format!("GET / HTTP/1.1\r\nX-Slow: {}", "z".repeat(200)).bytes() {
            if stream.write_all(&[byte]).await.is_err() {
                break;
            }
            sent += 1;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!(sent < 200, "{sent}");
        assert!(begun.elapsed() < Duration::from_secs(3));
        world.until_flows(0).await;
        until(|| world.codes() == [Code::NotHttp]).await;
        assert_eq!(origin.connections(), 0);
        // In time, the same pace is fine.
        let mut stream = world.connect("plain.example.com", 80).await;
        for piece in GET.as_bytes().chunks(8) {
            stream.write_all(piece).await.unwrap();
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert!(crate::origins::answer(&mut stream).await.ends_with("ok"));
    }
}

#[cfg(feature = "guard-off")]
alone! {
    async fn control_without_the_clock_a_slow_head_is_waited_for() {
        let _without = egress::guard::without(&["http-clock"]);
        let origin = Origin::http(OK).await;
        let plan = Plan::new(&["plain.example.com"]).pin("plain.example.com", origin.address);
        let world = plan.limits(|limits| limits.head_time = Duration::from_millis(100)).start().await;
        let mut stream = world.connect("plain.example.com", 80).await;
        for piece in GET.as_bytes().chunks(4) {
            stream.write_all(piece).await.unwrap();
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
        assert!(crate::origins::answer(&mut stream).await.ends_with("ok"));
    }
}
