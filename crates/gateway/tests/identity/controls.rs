//! The same attacks where the guard is taken away: each has to work. Built with the feature `guard-off` only.

use gateway::guard::without;
use gateway::identify::CELL_IDS;

use crate::attacks::{ATTACKS, tried};
use crate::{fetching, requests};

#[test]
fn control_every_attack_works_without_its_guard() {
    {
        let _all = without(&[]);
        for attack in ATTACKS {
            assert_eq!(tried(attack), Err(attack.code), "{}", attack.name);
        }
    }
    for attack in ATTACKS {
        let _off = without(attack.guards);
        assert_eq!(tried(attack), Ok(()), "{}", attack.name);
    }
}

#[test]
fn control_every_guard_of_a_pair_is_needed() {
    for attack in ATTACKS.iter().filter(|attack| attack.guards.len() > 1) {
        for guard in attack.guards {
            let _off = without(&[guard]);
            assert!(tried(attack).is_err(), "{} without {guard}", attack.name);
        }
    }
}

/// Runs an attack with its guard, where it has to fail, and without, where it has to work.
fn control<F: Future<Output = bool>>(guard: &'static str, attack: impl Fn() -> F) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    {
        let _all = without(&[]);
        assert!(!runtime.block_on(attack()), "`{guard}` does not stop this");
    }
    let _off = without(&[guard]);
    assert!(runtime.block_on(attack()), "this fails without `{guard}` too");
}

#[test]
fn control_the_door() {
    control("identify-two-headers", || async {
        requests::two_headers().await.is_ok_and(|who| who.subject() == "root")
    });
    control("identify-query", || async { requests::a_token_in_the_query("access_token").await.is_ok() });
    control("identify-key-server", || async {
        requests::a_server_key_elsewhere("/servers/orders/mcp").await.is_ok()
    });
    control("identify-cells", || async { requests::a_cell_asks(CELL_IDS.start).await.is_ok() });
    control("identify-forwarded", || async { requests::a_forwarded_name().await.is_ok() });
}

#[test]
fn control_the_keys() {
    control("jwks-pause", || async { fetching::flood_asks(20).await > 10 });
    control("jwks-fresh", fetching::revoked_counts);
    control("jwks-stale", fetching::used_after_a_day_without_the_issuer);
    control("jwks-issuer", || async { fetching::a_foreign_document().await == Ok(true) });
    control("jwks-https", || async { fetching::an_address_in_the_clear().await == Ok(true) });
    control("jwks-redirections", || async { fetching::a_redirection().await == Ok(true) });
    control("jwks-size", || async { fetching::a_huge_answer().await == Ok(true) });
}
