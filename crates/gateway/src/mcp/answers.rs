//! What people answer to questions of servers: it goes where arguments go, and is looked through as they are.

use access::{
    principal::{Actor, How, Principal},
    refusal::Code,
};
use serde_json::{Value, json};
use store::audit::{CallId, Event, Kind, Who};

use super::{
    Caller, Face,
    rpc::{Fault, REFUSED},
};

/// Whether nothing that has to stay here is among the answers; a finding is recorded.
///
/// # Errors
///
/// What the client is told.
pub(super) async fn screened(
    face: &Face,
    caller: &Caller,
    call: Option<CallId>,
    answers: &Value,
) -> Result<(), Fault> {
    let Some(finding) = face.gateway.policy().screen.find(answers) else { return Ok(()) };
    let mut event = Event::new(Kind::Denied);
    event.call = call;
    event.face = Some(crate::call::Face::Mcp.as_str().to_owned());
    event.principal = Some(who(&caller.principal));
    event.policy = Some(face.gateway.policy().version);
    event.code = Some(Code::SECRET_ARGUMENT.to_string());
    event.details.insert("answer".to_owned(), finding.path.clone().into());
    face.gateway.audit().note(event).await;
    let code = Code::SECRET_ARGUMENT.as_str();
    let why = format!("{code}: `{}` of the answer is {}, which goes nowhere", finding.path, finding.what);
    Err(Fault::new(REFUSED, why).data(json!({ "code": code })))
}

fn who(principal: &Principal) -> Who {
    let actor = |actor: &Actor| match &actor.issuer {
        Some(issuer) => format!("{} of {issuer}", actor.subject),
        None => actor.subject.clone(),
    };
    Who {
        issuer: principal.issuer().to_owned(),
        subject: principal.subject().to_owned(),
        tenant: principal.tenant().map(str::to_owned),
        actors: principal.actors().iter().map(actor).collect(),
        how: match principal.how() {
            How::Key(name) => format!("key:{name}"),
            How::Peer { uid } => format!("peer:{uid}"),
            other => other.word().to_owned(),
        },
        client: None,
    }
}
