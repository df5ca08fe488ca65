use std::net::SocketAddr;

use http_body_util::BodyExt;

use super::*;

struct Fixed(&'static str, Standing);

impl Cause for Fixed {
    fn name(&self) -> &'static str {
        self.0
    }

    fn state(&self) -> BoxFuture<'_, Standing> {
        Box::pin(std::future::ready(self.1.clone()))
    }
}

struct Mute;

impl Cause for Mute {
    fn name(&self) -> &'static str {
        "mute"
    }

    fn state(&self) -> BoxFuture<'_, Standing> {
        Box::pin(std::future::pending())
    }
}

fn from(connection: Connection) -> Request {
    let mut request = Request::new(Body::empty());
    request.extensions_mut().insert(connection);
    request
}

fn here() -> Request {
    from(Connection::Tcp(SocketAddr::from(([127, 0, 0, 1], 9))))
}

async fn told_of(causes: Vec<Arc<dyn Cause>>, request: Request) -> (StatusCode, Value) {
    let response = is_ready(State(Arc::new(causes)), request).await;
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, serde_json::from_slice(&body).unwrap())
}

#[tokio::test]
async fn what_keeps_the_service_from_serving_is_named() {
    let good: Arc<dyn Cause> = Arc::new(Fixed("database", Standing::Good));
    let full: Arc<dyn Cause> = Arc::new(Fixed("audit", Standing::Limited("the disk is full".into())));
    let (status, body) = told_of(vec![good.clone(), full], here()).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(
        body,
        json!({"ready": true, "causes": {"database": {"state": "good"}, "audit": {"state": "limited", "reason": "the disk is full"}}})
    );
    let locked: Arc<dyn Cause> = Arc::new(Fixed("vault", Standing::Failed("locked\u{1b}".into())));
    let (status, body) = told_of(vec![good, locked], here()).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(body["ready"], false);
    assert_eq!(body["causes"]["vault"], json!({"state": "failed", "reason": "locked<U+001B>"}));
}

#[tokio::test]
async fn a_cause_that_says_nothing_has_failed() {
    let (status, body) = told_of(vec![Arc::new(Mute)], here()).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(body["causes"]["mute"]["reason"], "no answer within 2 s");
}

#[tokio::test]
async fn reasons_are_told_on_this_machine_only() {
    let locked: Arc<dyn Cause> = Arc::new(Fixed("vault", Standing::Failed("no such file `v`".into())));
    let mut passed_on = here();
    passed_on.headers_mut().insert("x-forwarded-for", HeaderValue::from_static("192.0.2.1"));
    for request in [
        from(Connection::Tcp(SocketAddr::from(([192, 0, 2, 1], 9)))),
        from(Connection::Unix { uid: crate::identify::CELL_IDS.start }),
        passed_on,
        Request::new(Body::empty()),
    ] {
        let (_, body) = told_of(vec![locked.clone()], request).await;
        assert_eq!(body["causes"]["vault"], json!({"state": "failed"}));
    }
    for request in
        [here(), from(Connection::Unix { uid: 1000 }), from(Connection::Tcp("[::1]:9".parse().unwrap()))]
    {
        let (_, body) = told_of(vec![locked.clone()], request).await;
        assert_eq!(body["causes"]["vault"]["reason"], "no such file `v`");
    }
}
