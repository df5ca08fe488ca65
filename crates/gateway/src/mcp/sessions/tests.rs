use model::name::ServerName;

use super::*;

fn opening(principal: &str) -> Opening {
    Opening {
        principal: principal.to_owned(),
        scope: Scope::All,
        capabilities: json!({}),
        client_info: json!({}),
    }
}

fn open(sessions: &Sessions, principal: &str, now: Instant) -> Result<Arc<Session>, OpenError> {
    sessions.open(opening(principal), now)
}

#[test]
fn a_session_is_its_callers_alone() {
    let (sessions, now) = (Sessions::new(10), Instant::now());
    let id = open(&sessions, "alice", now).unwrap().id.clone();
    assert_eq!(id.len(), 43);
    assert!(sessions.of(&id, "alice", &Scope::All, now).is_some());
    assert!(sessions.of(&id, "bob", &Scope::All, now).is_none());
    let other = Scope::Server(ServerName::new("weather").unwrap());
    assert!(sessions.of(&id, "alice", &other, now).is_none());
    assert!(sessions.of("", "alice", &Scope::All, now).is_none());
    let session = sessions.of(&id, "alice", &Scope::All, now).unwrap();
    sessions.end(&session);
    assert!(sessions.of(&id, "alice", &Scope::All, now).is_none());
}

#[test]
fn a_session_that_nobody_uses_ends() {
    let (sessions, start) = (Sessions::new(10), Instant::now());
    let id = open(&sessions, "alice", start).unwrap().id.clone();
    let almost = start + IDLE.checked_sub(Duration::from_secs(1)).unwrap();
    assert!(sessions.of(&id, "alice", &Scope::All, almost).is_some());
    assert!(sessions.of(&id, "alice", &Scope::All, start + IDLE).is_some());
    assert!(sessions.of(&id, "alice", &Scope::All, almost + IDLE + IDLE).is_none());
}

#[test]
fn ones_many_sessions_cost_nobody_elses() {
    let (sessions, now) = (Sessions::new(8), Instant::now());
    let bob = open(&sessions, "bob", now).unwrap();
    let alices: Vec<_> = (0..5).map(|_| open(&sessions, "alice", now).unwrap().id.clone()).collect();
    assert_eq!(lock(&sessions.open).len(), 3);
    assert!(sessions.of(&bob.id, "bob", &Scope::All, now).is_some());
    let kept = alices.iter().filter(|id| sessions.of(id, "alice", &Scope::All, now).is_some());
    assert_eq!(kept.count(), 2);
}

#[test]
fn a_session_in_use_makes_no_room() {
    let (sessions, now) = (Sessions::new(4), Instant::now());
    let held: Vec<_> = ["a", "b", "c", "d"].map(|who| open(&sessions, who, now).unwrap()).into();
    let in_flight: Vec<_> = held.iter().map(|session| session.begin(&json!(1)).unwrap()).collect();
    let later = now + YOUNG;
    assert!(matches!(open(&sessions, "e", later), Err(OpenError::Full)));
    assert!(matches!(open(&sessions, "a", later), Err(OpenError::Full)));
    drop(in_flight);
    assert!(open(&sessions, "e", later + YOUNG).is_ok());
    assert_eq!(lock(&sessions.open).len(), 4);
}

#[test]
fn requests_are_taken_back_by_their_ids() {
    let sessions = Sessions::new(1);
    let session = open(&sessions, "alice", Instant::now()).unwrap();
    let (one, mut cancelled) = session.begin(&json!(1)).unwrap();
    let (_other, mut still) = session.begin(&json!("1")).unwrap();
    assert!(session.begin(&json!(1)).is_err());
    session.cancel(&json!(1));
    assert!(cancelled.try_recv() == Err(oneshot::error::TryRecvError::Closed));
    assert!(still.try_recv() == Err(oneshot::error::TryRecvError::Empty));
    drop(one);
    assert!(session.begin(&json!(1)).is_ok());
}

#[tokio::test]
async fn questions_find_their_answers() {
    let sessions = Sessions::new(1);
    let session = open(&sessions, "alice", Instant::now()).unwrap();
    let (sender, receiver) = oneshot::channel();
    let (_asked, message) = session.ask("elicitation/create", &json!({"message": "m"}), sender).unwrap();
    session.answered(&json!("fumehood-7"), json!({"action": "accept"}));
    session.answered(&json!(0), json!({"action": "accept"}));
    session.answered(&message["id"], json!({"action": "decline"}));
    session.answered(&message["id"], json!({"action": "accept"}));
    assert_eq!(receiver.await.unwrap(), json!({"action": "decline"}));
    let (sender, receiver) = oneshot::channel();
    let (asked, _message) = session.ask("elicitation/create", &json!({}), sender).unwrap();
    drop(asked);
    assert!(receiver.await.is_err());
}

#[test]
fn one_stream_speaks() {
    let sessions = Sessions::new(1);
    let session = open(&sessions, "alice", Instant::now()).unwrap();
    let (one, two, three) = (session.stream(), session.stream(), session.stream());
    assert_eq!((one.speaks(), two.speaks(), three.speaks()), (false, false, true));
    drop(one);
    assert!(three.speaks());
    drop(three);
    assert!(two.speaks());
}

#[tokio::test]
async fn whoever_waits_for_the_end_of_a_session_is_told() {
    let sessions = Sessions::new(1);
    let session = open(&sessions, "alice", Instant::now()).unwrap();
    let waiting = tokio::spawn({
        let session = Arc::clone(&session);
        async move { session.ended().await }
    });
    tokio::task::yield_now().await;
    sessions.end(&session);
    waiting.await.unwrap();
    session.ended().await;
}
