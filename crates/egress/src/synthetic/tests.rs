use std::collections::HashSet;

use super::*;
use crate::policy::tests::policy;

const RANGE: Range = Range { v4: Ipv4Addr::new(198, 18, 0, 0), v6: Some([0xfd, 0x46, 0x48, 0, 0, 0, 0, 1]) };

fn name(text: &str) -> HostName {
    HostName::parse(text).unwrap()
}

#[test]
fn each_name_has_one_address_and_keeps_it() {
    let table = Synthetic::new(RANGE, WildcardSettings::default());
    let policy = policy(1, &["a.com", "b.com"]);
    let a = table.assign(&policy, &name("a.com")).unwrap();
    assert_eq!(a.addresses.v4.to_string(), "198.18.1.1");
    assert_eq!(a.addresses.v6.unwrap().to_string(), "fd46:4800:0:1::101");
    assert!(a.first && a.reach.exact);
    let b = table.assign(&policy, &name("b.com")).unwrap();
    assert_ne!(a.addresses, b.addresses);
    let again = table.assign(&policy, &name("a.com")).unwrap();
    assert_eq!((again.addresses, again.first), (a.addresses, false));
    for address in [IpAddr::from(a.addresses.v4), a.addresses.v6.unwrap().into()] {
        assert!(RANGE.contains(address));
        assert_eq!(table.name(address), Some(name("a.com")));
    }
    for nobody in [
        "198.18.0.53",
        "198.18.9.9",
        "127.0.0.1",
        "8.8.8.8",
        "fd46:4800:0:1::53",
        "fd46:4800:0:1:1::101",
        "::1",
    ] {
        assert_eq!(table.name(nobody.parse().unwrap()), None, "{nobody}");
    }
    assert_eq!(RANGE.name_server().v4.to_string(), "198.18.0.53");
    assert_eq!(RANGE.name_server().v6.unwrap().to_string(), "fd46:4800:0:1::53");
    assert_eq!(RANGE.proxy().v4.to_string(), "198.18.0.54");
    assert!(
        !RANGE.contains("198.20.0.0".parse().unwrap()) && RANGE.contains("198.19.255.255".parse().unwrap())
    );
}

#[test]
fn a_name_without_a_rule_gets_none() {
    let table = Synthetic::new(RANGE, WildcardSettings::default());
    assert_eq!(table.assign(&policy(1, &["a.com"]), &name("b.com")).unwrap_err().code, Code::Host);
    assert!(table.is_empty());
}

#[test]
fn ten_thousand_changes_leave_a_table_of_the_size_of_the_rules() {
    let table = Synthetic::new(RANGE, WildcardSettings::default());
    let kept = table.assign(&policy(0, &["kept.com"]), &name("kept.com")).unwrap().addresses;
    let mut seen = HashSet::new();
    for round in 1..=10_000 {
        let host = format!("h{round}.com");
        let policy = policy(round, &["kept.com", &host]);
        let found = table.assign(&policy, &name(&host)).unwrap();
        assert!(seen.insert(found.addresses.v4), "an address is used again too early");
        table.retain(|name| name.as_str() == "kept.com");
    }
    assert_eq!(table.len(), 1);
    assert_eq!(table.known(&name("kept.com")), Some(kept));
    let guard = table.lock();
    assert!(guard.offsets.capacity() < 64 && guard.names.capacity() < 64);
}

#[test]
fn when_every_address_is_used_the_next_name_is_refused() {
    let table = Synthetic::new(RANGE, WildcardSettings::default());
    {
        let mut guard = table.lock();
        while let Some(offset) = guard.free() {
            guard.names.insert(offset, name("x.com"));
        }
    }
    let refusal = table.assign(&policy(1, &["a.com"]), &name("a.com")).unwrap_err();
    assert_eq!(refusal.code, Code::Limit);
}

#[tokio::test(start_paused = true)]
async fn names_under_a_wildcard_cannot_carry_much_nor_fast() {
    let settings =
        WildcardSettings { burst: 3, every: Duration::from_secs(1), names: 6, ..Default::default() };
    let table = Synthetic::new(RANGE, settings);
    let policy = policy(1, &["*.ok.com", "spelled.ok.com"]);
    let code = |host: &str| table.assign(&policy, &name(host)).map_err(|refusal| refusal.code);
    let long = "a".repeat(63);
    assert_eq!(code(&format!("{long}.bb.ok.com")).unwrap_err(), Code::Wildcard);
    assert_eq!(code("a.b.c.d.e.ok.com").unwrap_err(), Code::Wildcard);
    for host in ["1.ok.com", "2.ok.com", "3.ok.com"] {
        assert!(code(host).is_ok(), "{host}");
    }
    assert_eq!(code("4.ok.com").unwrap_err(), Code::Wildcard);
    assert!(code("1.ok.com").is_ok(), "known names cost nothing");
    assert!(code("spelled.ok.com").is_ok(), "spelled out names cost nothing");
    tokio::time::advance(Duration::from_secs(1)).await;
    assert!(code("4.ok.com").is_ok());
    assert_eq!(code("5.ok.com").unwrap_err(), Code::Wildcard);
    tokio::time::advance(Duration::from_mins(1)).await;
    assert!(code("5.ok.com").is_ok() && code("6.ok.com").is_ok());
    assert_eq!(code("7.ok.com").unwrap_err(), Code::Wildcard, "more names than are kept");
    let refusal = table.assign(&policy, &name("7.ok.com")).unwrap_err();
    assert_eq!(
        (refusal.remedy.as_str(), refusal.rule.as_deref()),
        ("fumehood allow weather 7.ok.com", Some("*.ok.com"))
    );
}
