//! What servers want to know from their callers.

use std::time::Duration;

use gateway::pool::{Ask, CellKey, Holder, Times};
use model::name::ServerName;
use serde_json::{Value, json};

use crate::world::{World, ask, asked, key, pass, rest, result};

/// What the server was told in answer to its question.
fn told(answer: &Value) -> &Value {
    &answer["answered"]["result"]
}

#[tokio::test(start_paused = true)]
async fn the_one_caller_is_asked() {
    let world = World::new();
    let (call, mut put) = asked("ask", json!({}));
    let call = world.asking(key("one"), call);
    let question = put.recv().await.unwrap();
    assert_eq!(
        (question.method.as_str(), &question.params["message"]),
        ("elicitation/create", &json!("who are you?"))
    );
    // People take longer than servers may.
    pass(Duration::from_mins(2)).await;
    let said = json!({ "action": "accept", "content": { "name": "ada" } });
    question.answer.send(said.clone()).unwrap();
    assert_eq!(told(&result(call.await.unwrap())), &said);
}

#[tokio::test(start_paused = true)]
async fn a_bystander_is_not_asked() {
    let world = World::new();
    let (bystander, mut bystanders) = asked("silent", json!({}));
    let waits = world.asking(key("one"), bystander);
    rest().await;
    let (call, mut callers) = asked("ask", json!({}));
    let answer = result(world.asking(key("one"), call).await.unwrap());
    assert_eq!(told(&answer), &json!({ "action": "cancel" }));
    assert!(bystanders.try_recv().is_err() && callers.try_recv().is_err());
    waits.abort();
}

/// Who was here before may be meant.
#[tokio::test(start_paused = true)]
async fn a_caller_after_one_who_has_gone_is_not_asked() {
    for (whose, is_asked) in [(Holder::Server, false), (Holder::User("aa".repeat(32)), true)] {
        let world = World::new();
        let key = CellKey { server: ServerName::new("one").unwrap(), whose };
        let gone = world.asking(key.clone(), ask("silent", json!({})));
        rest().await;
        gone.abort();
        rest().await;
        let (call, mut put) = asked("ask", json!({}));
        let call = world.asking(key.clone(), call);
        rest().await;
        if is_asked {
            drop(put.recv().await.unwrap());
        } else {
            assert!(put.try_recv().is_err());
        }
        assert_eq!(told(&result(call.await.unwrap())), &json!({ "action": "cancel" }));
        // After some minutes, or its answer, nothing can come of it any more.
        pass(Duration::from_secs(301)).await;
        let (call, mut put) = asked("ask", json!({}));
        let call = world.asking(key, call);
        put.recv().await.unwrap().answer.send(json!({ "action": "decline" })).unwrap();
        assert_eq!(told(&result(call.await.unwrap())), &json!({ "action": "decline" }));
    }
}

#[tokio::test(start_paused = true)]
async fn a_late_answer_makes_the_next_caller_certain() {
    let world = World::new();
    world.state(|state| state.answers_withdrawn = true);
    let gone = world.calling("stubborn", json!({}));
    rest().await;
    gone.abort();
    rest().await;
    let (call, mut put) = asked("ask", json!({}));
    let call = world.asking(key("one"), call);
    put.recv().await.unwrap().answer.send(json!({ "action": "decline" })).unwrap();
    assert_eq!(told(&result(call.await.unwrap())), &json!({ "action": "decline" }));
}

#[tokio::test(start_paused = true)]
async fn who_cannot_be_asked_has_not_said_no() {
    let world = World::new();
    let answer = result(world.call("ask", json!({})).await);
    assert_eq!(told(&answer), &json!({ "action": "cancel" }));
    // One that is not heard is not answered.
    let (call, put) = asked("ask", json!({}));
    drop(put);
    let answer = result(world.asking(key("one"), call).await.unwrap());
    assert_eq!(told(&answer), &json!({ "action": "cancel" }));
}

#[tokio::test(start_paused = true)]
async fn a_question_ends_with_its_call() {
    let world = World::new();
    let (call, mut put) = asked("ask", json!({}));
    let call = world.asking(key("one"), call);
    let question = put.recv().await.unwrap();
    call.abort();
    rest().await;
    let answers = |state: &mut crate::world::State| {
        let answers = state.heard.iter().filter(|(_, line)| line["id"] == "q0").map(|(_, line)| line.clone());
        answers.collect::<Vec<_>>()
    };
    let cancelled = json!({ "jsonrpc": "2.0", "id": "q0", "result": { "action": "cancel" } });
    assert_eq!(world.state(answers), std::slice::from_ref(&cancelled));
    question.answer.send(json!({ "action": "accept", "content": {} })).ok();
    rest().await;
    assert_eq!(world.state(answers), [cancelled]);
}

#[tokio::test(start_paused = true)]
async fn the_callers_model_is_used_by_nobody_who_may_not() {
    let world = World::new();
    let (call, mut put) = asked("sample", json!({}));
    let answer = result(world.asking(key("one"), call).await.unwrap());
    assert_eq!(answer["answered"]["error"]["code"], -32601);
    assert!(put.try_recv().is_err());

    let world = World::with("plain", Times::default());
    world.state(|state| state.pass_through = true);
    let (call, mut put) = asked("sample", json!({}));
    let call = world.asking(key("one"), call);
    let question = put.recv().await.unwrap();
    assert_eq!(question.method, "sampling/createMessage");
    question.answer.send(json!({ "error": { "code": -1, "message": "no" } })).unwrap();
    assert_eq!(result(call.await.unwrap())["answered"]["error"], json!({ "code": -1, "message": "no" }));
    let said = &world.heard("initialize")[0]["params"]["capabilities"];
    assert_eq!(said, &json!({ "elicitation": { "form": {}, "url": {} }, "roots": {}, "sampling": {} }));
}

#[tokio::test(start_paused = true)]
async fn a_server_is_told_what_its_cell_has() {
    let world = World::new();
    let call = Ask { deadline: Duration::from_secs(5), ..ask("roots", json!({})) };
    let answer = result(world.asking(key("one"), call).await.unwrap());
    assert_eq!(told(&answer), &json!({ "roots": [{ "uri": "file:///data" }] }));
    let world = World::with("plain", Times::default());
    let answer = result(world.call("roots", json!({})).await);
    assert_eq!(answer["answered"]["error"]["code"], -32601);
}
