//! What is accepted of a server, and what is asked of it when it has been compared.

use serde_json::json;
use tokio::time::{Duration, Instant};

use super::{Accepted, Answer, AskError, Upstream, call::Whose, cell::Cell, era::Modern, post::Said, wire};
use crate::front::{Front, Order};

/// How long a server that differs must have said nothing before that is its last word.
const QUIET: Duration = Duration::from_millis(1_500);
/// How long it may take to say which revisions it knows.
const DISCOVERY: Duration = Duration::from_secs(10);

impl Upstream {
    /// Looks what is accepted of the server now. Not while a cell of it runs.
    pub(super) fn look(&mut self) {
        if !matches!(self.cell, Cell::None) {
            return;
        }
        let found = match self.around.changes.accepted(&self.key.server) {
            Ok(found) => found,
            Err(why) => {
                self.shut = Some(AskError::NotAccepted(why));
                self.front = None;
                self.accepted = None;
                return;
            }
        };
        let is_same = self.accepted.as_ref().is_some_and(|known| is_offered_alike(known, &found));
        if is_same && self.accepted.as_ref().is_some_and(|known| known.version == found.version) {
            return;
        }
        self.failing.forget();
        // What is held of it stays held, and what has closed it counts, until something else is accepted.
        if !is_same || self.front.is_none() {
            let random = random();
            let mut front =
                Front::accepted(found.surface.clone(), found.profile.clone(), format!("fumehood-{random}-"))
                    .called(self.key.server.as_str())
                    .for_many();
            if found.is_pass_through {
                front = front.passing_through();
            }
            self.front = Some(front);
            self.shut = None;
        }
        self.accepted = Some(found);
    }

    /// What was accepted, or what cells depend on, may be another thing now.
    pub(super) fn reload(&mut self) {
        if matches!(self.cell, Cell::None) {
            return self.look();
        }
        let stays = self.around.changes.accepted(&self.key.server).is_ok_and(|found| {
            let known = self.accepted.as_ref();
            known.is_some_and(|known| is_offered_alike(known, &found) && known.version == found.version)
        });
        if !stays && self.leaving.is_none() {
            self.leaving = Some(Instant::now() + self.around.times.drain);
        }
    }

    /// Whether callers' requests can go to the server.
    pub(super) fn is_ready(&mut self) -> bool {
        let is_open = self.front.as_ref().is_some_and(Front::is_open);
        is_open && self.cell.up().is_some_and(|up| matches!(up.modern, Modern::Yes | Modern::No))
    }

    /// The running server is the accepted one.
    fn opened(&mut self) {
        let Some(up) = self.cell.up() else { return };
        up.modern = if up.speaks_http { Modern::Asked } else { Modern::No };
        if up.speaks_http {
            let mut params = wire::with_meta(
                json!({}),
                None,
                wire::Form::Modern { meta: &json!({}), able: &json!({}), is_pass_through: false },
            );
            if let Some(params) = params.as_object_mut() {
                params.retain(|key, _| key == "_meta");
            }
            self.ask_ourselves(Whose::Discovery, "server/discover", &params, DISCOVERY);
        }
        self.follow_again();
        self.tell_level();
    }

    /// It has said which revisions it knows, or will not.
    pub(super) fn discovered(&mut self, outcome: Result<Said, AskError>) {
        let answer = outcome.and_then(Said::answer);
        let knows = matches!(answer, Ok(Answer::Result(result)) if wire::is_modern(&result));
        if let Some(up) = self.cell.up() {
            up.modern = if knows { Modern::Yes } else { Modern::No };
        }
    }

    /// Does what the front has decided.
    pub(super) fn carry_out(&mut self) {
        while let Some(order) = self.front.as_mut().and_then(Front::next_order) {
            match order {
                Order::ToClient(line) => self.server_said(line),
                Order::ToServer(line) => {
                    self.unsaid = self.unsaid.saturating_add(line.len());
                    self.to_server.push_back(line);
                }
                // A cell is started for what waits here, before the front knows of it.
                // Calls were on the road before they came here.
                Order::Start | Order::Walk { .. } | Order::Answered { .. } | Order::Over { .. } => {}
                Order::Settle => {
                    self.settle.get_or_insert_with(|| Instant::now() + QUIET);
                }
                Order::Same => self.opened(),
                Order::Changed { now, whole } => {
                    self.around.changes.held(&self.key.server, &now, whole);
                    if whole {
                        let said = "what the server offers is not what was accepted any more";
                        self.shut = Some(AskError::Changed(said.to_owned()));
                        self.done_with();
                    }
                }
                Order::Refused { id, said } => self.refused(&id, &said),
                Order::Log(said) => self.log(&said),
            }
        }
    }
}

/// Whether callers are offered the same.
fn is_offered_alike(one: &Accepted, other: &Accepted) -> bool {
    one.surface == other.surface
        && one.profile == other.profile
        && one.is_pass_through == other.is_pass_through
}

/// Text that nobody can guess.
pub(super) fn random() -> String {
    let mut bytes = [0_u8; 8];
    // Without a source of random numbers nothing of this service is safe to use; ids are the least of it.
    if getrandom::fill(&mut bytes).is_err() {
        bytes.copy_from_slice(&uuid::Uuid::now_v7().as_u64_pair().1.to_be_bytes());
    }
    format!("{:016x}", u64::from_be_bytes(bytes))
}
