//! The one sequence every request passes, in the clear or inside TLS, HTTP/1.1 or HTTP/2: judged, written, entered; and the
//! way back of its answer.

use std::sync::Arc;

use http::{Uri, request, response};

use crate::credential::body::BodyPlan;
use crate::credential::request::{Messages, substitute};
use crate::credential::response::{Scrub, ScrubPlan, scrub_head};
use crate::edge::Core;
use crate::flow::Flow;
use crate::passage::Passage;
use crate::path::CanonicalPath;
use crate::policy::Permit;
use crate::refusal::Code;
use crate::registry::Stop;

/// A request that may go on.
#[derive(Debug)]
pub(crate) struct Crossing {
    pub(crate) passage: Arc<Passage>,
    /// For its body.
    pub(crate) body: BodyPlan,
    /// For its answer.
    pub(crate) scrub: Scrub,
    /// For what the cell says on a WebSocket.
    pub(crate) messages: Option<Messages>,
}

impl Crossing {
    /// Judges a request for `target`, and writes what belongs into its head: `parts` are those for the host afterwards,
    /// with the target in origin form.
    pub(crate) fn begin(
        core: &Arc<Core>,
        flow: &Arc<Flow>,
        permit: &Arc<Permit>,
        alone: bool,
        parts: &mut request::Parts,
        target: &str,
    ) -> Result<Self, Stop> {
        let path = CanonicalPath::of(target);
        let passage = Passage::begin(core, flow, permit, alone, parts.method.as_str(), &path)?;
        parts.uri = passage
            .ticket
            .target()
            .parse::<Uri>()
            .map_err(|_| permit.refuse(Code::NotHttp, "a malformed target"))?;
        let written = substitute(parts, permit, passage.policy.keys())?;
        let later = written.body.work.iter().flat_map(|work| work.owners.iter().cloned());
        let spoken = written.messages.iter().flat_map(|messages| messages.names.iter().cloned());
        passage.uses(written.used, later.chain(spoken), written.body.written())?;
        Ok(Self { passage, body: written.body, scrub: written.scrub, messages: written.messages })
    }
}

/// Takes values out of the head of an answer, and says what becomes of its body.
pub(crate) fn answered(
    passage: &Passage,
    scrub: &Scrub,
    parts: &mut response::Parts,
) -> Result<ScrubPlan, Stop> {
    passage.answered(parts.status.as_u16());
    scrub_head(parts, scrub)
        .map_err(|error| passage.permit.refuse(Code::SecretEncoding, &error.to_string()).into())
}
