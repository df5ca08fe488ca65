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
        rate: Some(Rate { count: NonZeroU32::new(3).unwrap(), per: Duration::from_secs(60) }),
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
