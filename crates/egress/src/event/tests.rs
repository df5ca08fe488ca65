use super::*;
use crate::refusal::{Code, Subject};

fn refused(host: &str) -> Event {
    let server = model::name::ServerName::new("weather").unwrap();
    let subject = Subject { server: &server, host, port: Some(443), rule: None };
    Event::Refused(Refusal::new(Code::Host, subject, ""))
}

#[tokio::test(start_paused = true)]
async fn repeats_are_counted_and_told_when_they_have_doubled() {
    let log = Log::new(LogSettings::default());
    log.record(refused("a.com"));
    log.record(refused("b.com"));
    let first = log.since(0);
    assert_eq!(first.iter().map(|entry| entry.count).collect::<Vec<_>>(), [1, 1]);
    let mut told = 0;
    let mut revision = 2;
    for _ in 0..1000 {
        log.record(refused("a.com"));
        for entry in log.since(revision) {
            told += 1;
            revision = entry.revision;
        }
    }
    assert_eq!(told, 9, "2, 4, 8 … 512");
    let entries = log.since(0);
    assert_eq!(entries.len(), 2);
    assert_eq!(entries.iter().map(|entry| (entry.number, entry.count)).max(), Some((1, 1)));
    assert!(entries.iter().any(|entry| entry.number == 0 && entry.count == 1001));
    tokio::time::advance(Duration::from_mins(2)).await;
    log.record(refused("a.com"));
    assert_eq!(log.since(0).last().map(|entry| (entry.number, entry.count)), Some((2, 1)));
}

#[test]
fn the_log_and_the_counters_are_bounded() {
    let log = Log::new(LogSettings { entries: 10, rules: 5, ..Default::default() });
    for n in 0..1000 {
        log.record(refused(&format!("h{n}.com")));
        log.opened(&format!("h{n}.com"));
    }
    assert_eq!(log.since(0).len(), 10);
    assert_eq!(log.lock().counting.len(), 10);
    assert_eq!(log.lock().revised.len(), 10);
    assert!(log.usage().len() <= 6);
    assert_eq!(log.total().connections, 1000);
    assert_eq!(log.total().refused, 1000);
    // What was pushed out is told anew.
    log.record(refused("h0.com"));
    assert_eq!(log.since(0).last().map(|entry| entry.count), Some(1));
}

#[test]
fn what_is_new_is_told_in_the_order_of_its_change_and_nothing_else() {
    let log = Log::new(LogSettings { entries: 4, ..Default::default() });
    for host in ["a.com", "b.com", "a.com", "c.com", "b.com", "d.com", "a.com", "e.com", "b.com"] {
        log.record(refused(host));
    }
    let all: Vec<(u64, u64, u64)> =
        log.since(0).iter().map(|entry| (entry.revision, entry.number, entry.count)).collect();
    // The first entry was pushed out by `e.com`; a third time is counted, and no news.
    assert_eq!(all, [(4, 2, 1), (5, 1, 3), (6, 3, 1), (7, 4, 1)]);
    let later: Vec<u64> = log.since(5).iter().map(|entry| entry.revision).collect();
    assert_eq!((later, log.since(7).len()), (vec![6, 7], 0));
}

#[tokio::test]
async fn a_follower_hears_of_the_next_event() {
    let log = std::sync::Arc::new(Log::new(LogSettings::default()));
    let follower = tokio::spawn({
        let log = std::sync::Arc::clone(&log);
        async move { log.follow(0).await }
    });
    tokio::task::yield_now().await;
    log.record(refused("a.com"));
    let heard = tokio::time::timeout(Duration::from_secs(5), follower).await.unwrap().unwrap();
    assert_eq!(heard.len(), 1);
    let json = serde_json::to_value(&heard[0]).unwrap();
    assert_eq!(
        (&json["event"], &json["code"], &json["count"]),
        (&"refused".into(), &"FH-EGRESS-HOST".into(), &1.into())
    );
    assert_eq!(serde_json::from_value::<Entry>(json).unwrap(), heard[0]);
}

#[test]
fn bytes_and_connections_are_counted_by_rule() {
    let log = Log::new(LogSettings::default());
    log.opened("a.com");
    log.opened("a.com");
    log.carried("a.com", 10, 2000);
    log.closed("a.com");
    log.opened("*.b.com");
    assert_eq!(log.usage()["a.com"], Usage { connections: 2, open: 1, refused: 0, sent: 10, received: 2000 });
    assert_eq!(log.total(), Usage { connections: 3, open: 2, refused: 0, sent: 10, received: 2000 });
}
