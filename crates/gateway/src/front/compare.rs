//! Comparing what a server offers with what was accepted, at its start and whenever its lists have changed.

use model::profile::Ability;
use serde_json::json;
use tools::{json, surface::Surface};

use super::{
    Front, Notice, Order, Phase,
    reading::{Next, Reading, Unlike},
};
use crate::guard;

/// As many times may a while pass until a call that waits is refused: about five minutes.
const MOST_WAITED: u32 = 200;

impl Front {
    /// A while has passed since [`Order::Settle`].
    pub fn settled(&mut self) {
        self.is_timed = false;
        let Some(reading) = self.reading() else { return };
        reading.rest();
        let has_settled = reading.introspection.has_settled();
        for call in self.waiting.age(MOST_WAITED) {
            let said = "FH-SERVER-BUSY: the server has not said for some minutes what it offers now, so that it could not \
                        be compared; try again later";
            self.refuse_call(&call.id, &call.subject, said);
        }
        self.read_again();
        if let Phase::Comparing { unlike: Some(unlike), .. } = &mut self.phase {
            match unlike.rest(has_settled) {
                Next::Wait => {}
                Next::LookAgain => {
                    let lines =
                        self.reading().map(|reading| reading.introspection.again()).unwrap_or_default();
                    self.tell_server(&lines);
                    self.compare();
                }
                Next::Refuse => {
                    let read = self.reading().and_then(|reading| reading.introspection.result());
                    let read = read.map(|read| read.map_err(|error| error.to_string()));
                    self.refuse(read.unwrap_or_else(|| Err("its lists do not come to rest".to_owned())));
                }
            }
        }
        self.time();
    }

    /// Hands a message of the server to the reading of its lists, and looks whether there is anything new.
    pub(super) fn heed(&mut self, line: &[u8], is_our_answer: bool) {
        let parsed = json::parse(line);
        let Some(reading) = self.reading() else { return };
        match parsed {
            Ok(message) => {
                let lines = reading.introspection.push(&message);
                self.tell_server(&lines);
                self.read_again();
                self.compare();
                self.time();
            }
            // What cannot be read without doubt cannot be compared.
            Err(error) if is_our_answer => self.refuse(Err(error.to_string())),
            Err(error) => self.log(format!("a line of the server was not heeded: {error}")),
        }
    }

    fn reading(&mut self) -> Option<&mut Reading> {
        match &mut self.phase {
            Phase::Comparing { reading, .. } | Phase::Open { reading } => Some(reading),
            Phase::Closed | Phase::Idle | Phase::Starting | Phase::Gone => None,
        }
    }

    /// Reads the lists anew where one has changed since, and it is time.
    fn read_again(&mut self) {
        let Some(reading) = self.reading() else { return };
        if reading.introspection.wants_again() && reading.may_begin() {
            let lines = reading.introspection.again();
            self.tell_server(&lines);
        }
    }

    /// Looks at a reading that has ended.
    fn compare(&mut self) {
        let Some(reading) = self.reading() else { return };
        if !reading.introspection.has_settled() {
            return;
        }
        let Some(read) = reading.introspection.result() else { return };
        let surface = match read {
            Ok(surface) => surface,
            Err(error) => return self.refuse(Err(error.to_string())),
        };
        let accepted = self.catalog.surface().map(Surface::fingerprint);
        let is_same = accepted == Some(surface.fingerprint());
        match &mut self.phase {
            Phase::Open { .. } => {
                if !is_same || guard::off("front-sticky") {
                    self.hold(surface);
                }
                self.release();
            }
            Phase::Comparing { .. } if is_same || guard::off("front-comparison") => self.open(),
            Phase::Comparing { unlike, .. } => {
                let seen = *surface.fingerprint();
                if unlike.get_or_insert_with(|| Unlike::first(seen)).seen(seen) == Next::Refuse {
                    self.refuse(Ok(surface));
                }
            }
            _ => {}
        }
    }

    /// The running server is the accepted one.
    fn open(&mut self) {
        let phase = std::mem::replace(&mut self.phase, Phase::Gone);
        let Phase::Comparing { reading, .. } = phase else {
            self.phase = phase;
            return;
        };
        self.phase = Phase::Open { reading };
        self.out.push_back(Order::Same);
        self.tell_roots();
        self.release();
    }

    /// Mid-session: what has changed is held, and stays held.
    fn hold(&mut self, now: Surface) {
        let touched = self.catalog.hold(&now);
        let fingerprint = *now.fingerprint();
        let Some(reading) = self.reading() else { return };
        if !reading.is_to_be_told(&fingerprint, !touched.is_empty()) {
            return;
        }
        self.tell_changed(touched);
        self.out.push_back(Order::Changed { now: Box::new(Ok(now)), whole: false });
    }

    /// Nothing of this server may be used.
    fn refuse(&mut self, now: Result<Surface, String>) {
        let reason = match &now {
            Ok(_) => "what it offers is not what was accepted any more".to_owned(),
            Err(error) => format!("what it offers cannot be compared with what was accepted ({error})"),
        };
        self.close(Notice { server: self.name(), reason, remedy: self.remedy() });
        self.out.push_back(Order::Changed { now: Box::new(now), whole: true });
    }

    /// Asks for a while to be told of, where something waits for it.
    pub(super) fn time(&mut self) {
        let waits = !self.waiting.is_empty();
        let is_needed = match &self.phase {
            Phase::Comparing { reading, unlike } => waits || unlike.is_some() || reading.is_tired(),
            Phase::Open { reading } => waits || reading.is_tired(),
            Phase::Closed | Phase::Idle | Phase::Starting | Phase::Gone => false,
        };
        if is_needed && !std::mem::replace(&mut self.is_timed, true) {
            self.out.push_back(Order::Settle);
        }
    }

    /// A server that counts on roots was told at its start that there are none; now it can ask the client.
    pub(super) fn tell_roots(&mut self) {
        if self.is_open() && self.can_be_asked(Ability::Roots) {
            self.tell_server(&[json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" })]);
        }
    }
}
