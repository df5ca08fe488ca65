use super::*;

#[tokio::test]
async fn the_system_is_asked_and_says_what_it_has() {
    let resolver = SystemResolver::new();
    let none = resolver.resolve(&HostName::parse("does-not-exist.invalid").unwrap()).await;
    assert!(none.is_err() || none.unwrap().is_empty());
    assert_eq!(resolver.threads.available_permits(), SystemResolver::AT_ONCE);
}
