use model::name::ServerName;

use super::*;
use crate::object::Verb;

fn object(name: &str) -> Object {
    Object { verb: Verb::CallTool, server: ServerName::new("crm").unwrap(), name: name.to_owned() }
}

#[test]
fn a_rate_lets_so_many_through_and_then_one_by_one() {
    let start = Instant::now();
    let limits = Limits::new(Ceilings::default(), start);
    let ann = Principal::local("ann");
    let allowance = Allowance {
        rate: Some(Rate { count: NonZeroU32::new(3).unwrap(), per: Duration::from_mins(1) }),
        concurrency: None,
    };
    let enter = |seconds: u64, who: &Principal, name: &str| {
        limits.enter(who, &object(name), start + Duration::from_secs(seconds), &allowance).map(drop)
    };
    assert!((0..3).all(|_| enter(0, &ann, "x").is_ok()));
    let refused = enter(0, &ann, "x").unwrap_err();
    assert_eq!((refused.code, refused.remedy.as_deref()), (Code::LIMIT_RATE, Some("try again in 20 s")));
    assert!(enter(0, &ann, "y").is_ok() && enter(0, &Principal::local("bob"), "x").is_ok());
    assert!(enter(19, &ann, "x").is_err());
    assert!(enter(20, &ann, "x").is_ok());
    assert!(enter(20, &ann, "x").is_err());
}

#[test]
fn no_more_run_at_once_than_may() {
    let now = Instant::now();
    let limits = Limits::new(Ceilings { everybody: 4, caller: 3 }, now);
    let (ann, bob) = (Principal::local("ann"), Principal::local("bob"));
    let one = Allowance { rate: None, concurrency: Some(2) };
    let enter = |who: &Principal, name: &str| limits.enter(who, &object(name), now, &one);
    let first = enter(&ann, "x").unwrap();
    let _second = enter(&ann, "x").unwrap();
    let refused = enter(&ann, "x").unwrap_err();
    assert_eq!(
        (refused.code, refused.reason.as_str()),
        (Code::LIMIT_CONCURRENCY, "you have as many calls of this tool under way as it takes (2)")
    );
    let _third = enter(&ann, "y").unwrap();
    assert_eq!(
        enter(&ann, "z").unwrap_err().reason,
        "you have as many calls under way as one caller may (3)"
    );
    let _fourth = enter(&bob, "x").unwrap();
    assert_eq!(
        enter(&bob, "y").unwrap_err().reason,
        "the service has as many calls under way as it takes (4)"
    );
    assert_eq!(limits.running(), 4);
    drop(first);
    assert_eq!(limits.running(), 3);
    assert!(enter(&ann, "x").is_ok());
}

#[test]
fn who_is_refused_for_one_reason_is_not_charged_for_another() {
    let now = Instant::now();
    let limits = Limits::new(Ceilings::default(), now);
    let ann = Principal::local("ann");
    let rate = Rate { count: NonZeroU32::new(2).unwrap(), per: Duration::from_mins(1) };
    let allowance = Allowance { rate: Some(rate), concurrency: Some(1) };
    let turn = limits.enter(&ann, &object("x"), now, &allowance).unwrap();
    for _ in 0..10 {
        assert_eq!(
            limits.enter(&ann, &object("x"), now, &allowance).unwrap_err().code,
            Code::LIMIT_CONCURRENCY
        );
    }
    drop(turn);
    assert!(limits.enter(&ann, &object("x"), now, &allowance).is_ok());
    let refused = limits.enter(&ann, &object("x"), now, &allowance).unwrap_err();
    assert_eq!(
        (refused.code, refused.reason.as_str()),
        (Code::LIMIT_RATE, "no more than 2/m of these calls are let through")
    );
}

#[test]
fn what_is_kept_is_bounded_and_what_says_nothing_is_thrown_away() {
    let start = Instant::now();
    let limits = Limits::new(Ceilings { everybody: u32::MAX, caller: u32::MAX }, start);
    let kept = || limits.counts.lock().unwrap().kept.len();
    let rate = Rate { count: NonZeroU32::new(1).unwrap(), per: Duration::from_secs(1) };
    let allowance = Allowance { rate: Some(rate), concurrency: None };
    // Nobody's rate is used up any more when the next one comes.
    for number in 0..5_000_u64 {
        let who = Principal::local(&number.to_string());
        limits
            .enter(&who, &object("x"), start + Duration::from_secs(2 * number), &allowance)
            .map(drop)
            .unwrap();
    }
    assert!(kept() <= 1024, "{}", kept());
    // Everybody comes at once: some are refused, and nothing grows further.
    let late = start + Duration::from_secs(20_000);
    let refused = (0..70_000)
        .filter(|number| {
            let who = Principal::local(&format!("late{number}"));
            limits.enter(&who, &object("x"), late, &allowance).map(drop).is_err()
        })
        .count();
    assert!(refused > 0 && kept() <= MOST_KEPT, "{refused} {}", kept());
    assert!(
        limits
            .enter(&Principal::local("later"), &object("x"), late + Duration::from_secs(2), &allowance)
            .is_ok()
    );
    assert_eq!(limits.running(), 0);
}

#[test]
fn another_rate_begins_anew() {
    let now = Instant::now();
    let limits = Limits::new(Ceilings::default(), now);
    let ann = Principal::local("ann");
    let of = |count: u32| Allowance {
        rate: Some(Rate { count: NonZeroU32::new(count).unwrap(), per: Duration::from_mins(1) }),
        concurrency: None,
    };
    let enter = |count: u32| limits.enter(&ann, &object("x"), now, &of(count)).map(drop);
    assert!(enter(1).is_ok() && enter(1).is_err());
    assert!(enter(3).is_ok() && enter(3).is_ok() && enter(3).is_ok() && enter(3).is_err());
}

proptest::proptest! {
    /// In every window of a rate's time no more than twice its calls begin (all at once at its end, and those that come back),
    /// and in the long run no more than it says.
    #[test]
    fn never_do_more_calls_begin_than_the_rate_says(
        count in 1_u32..20,
        per_ms in 1_u64..5_000,
        steps in proptest::collection::vec(0_u64..2_000_000, 1..300),
    ) {
        let start = Instant::now();
        let limits = Limits::new(Ceilings::default(), start);
        let ann = Principal::local("ann");
        let per = Duration::from_millis(per_ms);
        let allowance = Allowance { rate: Some(Rate { count: NonZeroU32::new(count).unwrap(), per }), concurrency: None };
        let (mut now, mut begun) = (Duration::ZERO, Vec::new());
        for step in steps {
            now += Duration::from_micros(step);
            if limits.enter(&ann, &object("x"), start + now, &allowance).is_ok() {
                begun.push(now);
            }
        }
        for (index, first) in begun.iter().enumerate() {
            for (later, last) in begun.iter().enumerate().skip(index) {
                let most = u128::from(count) + u128::from(count) * last.saturating_sub(*first).as_nanos() / per.as_nanos();
                proptest::prop_assert!(u128::try_from(later - index + 1).unwrap() <= most);
            }
        }
    }
}
