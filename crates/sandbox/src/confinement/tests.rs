use super::*;

#[test]
fn a_kernel_without_landlock_is_said_and_what_holds_all_the_same() {
    let (with, without) = (describe(6), describe(0));
    assert_eq!(with.state, LayerState::Enforced);
    assert!(with.detail.contains("ABI 6") && with.remedy.is_empty());
    assert_eq!(without.state, LayerState::Missing);
    assert!(without.detail.contains("no programs") && without.remedy.contains("landlock"));
}

#[test]
fn a_process_with_a_second_thread_is_not_confined_by_half() {
    let (stay, stays) = std::sync::mpsc::channel::<()>();
    let second = std::thread::spawn(move || stays.recv());
    assert!(matches!(enter(&[]), Err(ConfinementError::Threads { threads: 2.. })));
    // What was refused changed nothing.
    assert!(std::fs::read_dir("/proc/self").is_ok());
    drop(stay);
    second.join().unwrap().unwrap_err();
}
