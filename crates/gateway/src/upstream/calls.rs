//! Requests of callers: taken in, handed on, taken back, answered.

use serde_json::{Value, json};
use tokio::time::{Duration, Instant};

use super::{
    AskError, Holder, Upstream,
    call::{Call, Whose},
    era::Modern,
    post::{Asked, End, Ends, Said},
    wire::{self, Form},
};
use crate::guard;

/// As many bytes may wait for a server to read them; further requests are refused.
const MOST_UNSAID: usize = 64 << 20;
/// So long may a withdrawn request still be at work in a server that has not answered it.
const UNHEEDING: Duration = Duration::from_mins(5);

impl Upstream {
    /// A caller wants something.
    pub(super) fn asked(&mut self, asked: Asked) {
        if asked.reply.is_closed() {
            return;
        }
        if let Holder::User(_) = self.key.whose {
            self.user.clone_from(&asked.who);
        }
        let times = &self.around.times;
        let (number, call) = Call::asked(asked, times.start, times.total);
        self.keep(number, call);
        if self.front.as_ref().is_none_or(crate::front::Front::is_closed) {
            self.look();
        }
        self.waiting.push_back(number);
    }

    /// We want something of the server, which can be spoken to.
    pub(super) fn ask_ourselves(&mut self, whose: Whose, method: &str, params: &Value, within: Duration) {
        let number = self.around.number();
        self.keep(number, Call::ours(whose, within));
        self.ask_front(number, method, params);
    }

    fn keep(&mut self, number: u64, call: Call) {
        self.timers.insert((call.timer, number));
        self.calls.insert(number, call);
    }

    /// Forgets a call; its caller is still to be told.
    fn take(&mut self, number: u64) -> Option<Call> {
        let call = self.calls.remove(&number)?;
        self.timers.remove(&(call.timer, number));
        if let (Whose::Caller { call: name, .. }, Some(sent)) = (&call.whose, call.sent) {
            self.network.ended(name.clone(), sent);
        }
        if call.ask.is_some() {
            self.waiting.retain(|waiting| *waiting != number);
        }
        if call.open_questions > 0 {
            self.decline_questions_of(number);
        }
        Some(call)
    }

    /// What waits goes to the front, where the server can be asked.
    pub(super) fn hand_over(&mut self) {
        self.refuse_unsendable();
        if self.waiting.is_empty() || self.leaving.is_some() || !self.is_ready() {
            return;
        }
        while let Some(number) = self.waiting.pop_front() {
            let Some(call) = self.calls.get_mut(&number) else { continue };
            let Some((method, params, modern)) = call.ask.take() else { continue };
            if self.unsaid > MOST_UNSAID && !guard::off("pool-bounds") {
                let said = "the server does not read what it is asked";
                self.conclude(number, Err(AskError::Busy(said.to_owned())));
                continue;
            }
            let token = call.progress.is_some().then(|| self.ids.of(number));
            let able = self.abilities();
            let is_modern = self.cell.up().is_some_and(|up| up.modern == Modern::Yes);
            let form = match &modern {
                Some(meta) if is_modern => {
                    let is_pass_through = self.accepted.as_ref().is_some_and(|of| of.is_pass_through);
                    Form::Modern { meta, able: &able, is_pass_through }
                }
                _ => Form::Session,
            };
            let params = wire::with_meta(params, token.as_deref(), form);
            self.ask_front(number, &method, &params);
            self.carry_out();
            self.say();
        }
    }

    fn ask_front(&mut self, number: u64, method: &str, params: &Value) {
        let id = self.ids.of(number);
        let line = self.ids.request(&id, method, params);
        if let Some(front) = &mut self.front {
            front.ask(&id, method, params, line);
        }
    }

    /// The server may have read it from now on.
    pub(super) fn is_sent(&mut self, number: u64) {
        if let Some(call) = self.calls.get_mut(&number) {
            call.is_sent(self.around.times.total);
            let deadline = call.deadline;
            self.time_call(number, deadline);
        }
    }

    /// Whether nothing but what waits is there.
    pub(super) fn has_nothing_in_flight(&self) -> bool {
        self.calls.values().all(|call| call.ask.is_some())
    }

    /// The caller has gone.
    pub(super) fn cancelled(&mut self, number: u64) {
        // Taken first: whoever has gone is not told.
        if let Some(call) = self.take(number) {
            self.withdraw(number, &call, "the caller has withdrawn it");
        }
    }

    /// Tells the server that a call of its is not wanted any more.
    fn withdraw(&mut self, number: u64, call: &Call, why: &str) {
        if guard::off("pool-cancel") {
            return;
        }
        let Some(front) = &mut self.front else { return };
        let id = self.ids.of(number);
        if call.sent.is_some() {
            front.withdraw(&id, why);
            self.unheeding = Some(Instant::now() + UNHEEDING);
        } else if call.ask.is_none() {
            front.forget(&id);
            self.carry_out();
            let ids = &self.ids;
            self.to_server.retain(|line| ids.number_of_line(line) != Some(number));
            self.unsaid = self.to_server.iter().map(Vec::len).sum();
        }
    }

    /// Whether a withdrawn call may still be at work.
    pub(super) fn is_any_unheeding(&self) -> bool {
        self.unheeding.is_some_and(|until| Instant::now() < until)
            && self.front.as_ref().is_some_and(crate::front::Front::is_any_withdrawn)
    }

    /// Everything in flight ends now.
    pub(super) fn cut(&mut self, why: &str) {
        let in_flight: Vec<u64> =
            self.calls.iter().filter(|(_, call)| call.ask.is_none()).map(|(number, _)| *number).collect();
        for number in in_flight {
            self.give_up(number, why, |was_sent| AskError::Ended { why: why.to_owned(), was_sent });
        }
        self.carry_out();
        self.say();
    }

    /// Nobody waits for a call any more, the server among them.
    fn give_up(&mut self, number: u64, why: &str, error: impl FnOnce(bool) -> AskError) {
        if let Some(call) = self.take(number) {
            self.withdraw(number, &call, why);
            let was_sent = call.sent.is_some();
            call.settle(Err(error(was_sent)), None);
        }
    }

    /// A call has its end.
    pub(super) fn conclude(&mut self, number: u64, outcome: Result<Said, AskError>) {
        let Some(call) = self.take(number) else { return };
        if let Whose::Discovery = call.whose {
            return self.discovered(outcome);
        }
        let follows = call.granted(&outcome).map(|uri| {
            self.follow(uri.clone());
            Ends::new(self.own.clone(), End::Following(uri))
        });
        call.settle(outcome, follows);
    }

    /// The front did not let a call pass, or nothing comes of it.
    pub(super) fn refused(&mut self, id: &str, said: &str) {
        let Some(number) = self.ids.number(id) else { return };
        let Some(call) = self.calls.get(&number) else { return };
        let was_sent = call.sent.is_some();
        let (code, why) = said.split_once(": ").unwrap_or(("", said));
        let why = why.to_owned();
        let error = match code {
            "FH-MALFORMED" => AskError::Malformed(why),
            // Whatever else it is: nobody knows what came of it.
            _ if was_sent => AskError::Ended { why, was_sent },
            "FH-SERVER-BUSY" => AskError::Busy(why),
            "FH-CHANGED" => AskError::Changed(why),
            "FH-NOT-ACCEPTED" => self.shut.clone().unwrap_or(AskError::NotAccepted(why)),
            _ => AskError::Ended { why, was_sent },
        };
        self.conclude(number, Err(error));
    }

    /// Everything that waits is told the same.
    pub(super) fn refuse_waiting(&mut self, error: &AskError) {
        for number in std::mem::take(&mut self.waiting) {
            self.conclude(number, Err(error.clone()));
        }
    }

    /// What waits for a server that is not to be had is refused.
    pub(super) fn refuse_unsendable(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let objection = match &self.shut {
            Some(shut) => Some(shut.clone()),
            None if matches!(self.cell, super::cell::Cell::None) => self.failing.objection(),
            None => None,
        };
        if let Some(objection) = objection {
            self.refuse_waiting(&objection);
        }
    }

    /// Looks after the calls whose time has come.
    pub(super) fn look_after_calls(&mut self, now: Instant) {
        while let Some((at, number)) = self.timers.first().copied()
            && at <= now
        {
            self.timers.pop_first();
            let Some(call) = self.calls.get_mut(&number) else { continue };
            if call.deadline <= now {
                // Where it is taken off the timers it stands there no more.
                let (after, is_ours) = (call.each, !call.is_callers());
                if is_ours {
                    self.conclude(number, Err(AskError::Timeout { after, was_sent: true }));
                } else {
                    self.give_up(number, "it took too long", |was_sent| AskError::Timeout {
                        after,
                        was_sent,
                    });
                }
                continue;
            }
            let mut next = call.deadline;
            if let Some(progress) = &mut call.progress {
                if progress.due().is_some_and(|due| due <= now) {
                    progress.flush();
                }
                next = progress.due().map_or(next, |due| next.min(due.max(now + Duration::from_millis(1))));
            }
            call.timer = next;
            self.timers.insert((next, number));
        }
    }

    /// A timer for what is sooner than the one that is set.
    pub(super) fn time_call(&mut self, number: u64, at: Instant) {
        if let Some(call) = self.calls.get_mut(&number)
            && at < call.timer
        {
            self.timers.remove(&(call.timer, number));
            call.timer = at;
            self.timers.insert((at, number));
        }
    }

    /// What the server may count on, as `clientCapabilities` has it.
    fn abilities(&self) -> Value {
        let profile = self.accepted.as_ref().map(|accepted| &accepted.profile);
        let abilities = profile.into_iter().flat_map(model::profile::Profile::abilities);
        Value::Object(abilities.map(|ability| (ability.as_str().to_owned(), json!({}))).collect())
    }
}
