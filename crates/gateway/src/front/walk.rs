//! The road, where the client is the one whose session this is: each request about something of the server is handed out
//! before it goes to the server, and comes back as it may be asked, or as an answer in its place.

use super::{
    Front, Order,
    call::{Call, Subject},
    message::{self, Id},
};

/// Stands for one request that is on the road.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket {
    id: Id,
    /// A client may use an id again, once it has withdrawn what it stood for.
    number: u64,
}

/// What can become of a request other than an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// Its client has withdrawn it.
    Withdrawn,
    /// The server has ended, or what it said cannot be passed on. The client was told.
    Unanswered,
}

impl Front {
    /// Requests about something of the server come as [`Order::Walk`], and go on by [`Front::walked`].
    #[must_use]
    pub fn walking(mut self) -> Self {
        self.walks = true;
        self
    }

    /// Hands a request to the server, or out to be judged first.
    pub(super) fn hand_on(&mut self, call: Call) {
        if self.walks && call.subject != Subject::Session {
            self.tickets += 1;
            let ticket = Ticket { id: call.id.clone(), number: self.tickets };
            self.on_the_road.insert(call.id, (ticket.number, call.subject));
            self.out.push_back(Order::Walk { ticket, line: call.line });
        } else {
            self.out.push_back(Order::ToServer(call.line));
        }
    }

    /// A request may be asked, as `line`. Whether it goes to the server: it may have been withdrawn, or what it is about
    /// may have changed since it was handed out, and then its end was told by [`Order::Over`], or is now.
    pub fn walked(&mut self, ticket: &Ticket, line: Vec<u8>) -> bool {
        let Some(subject) = self.come_back(ticket) else { return false };
        let call = Call { id: ticket.id.clone(), subject, line };
        if self.is_open() && self.pass_again(&call) {
            self.asked.insert(ticket.id.clone(), ticket.number);
            self.out.push_back(Order::ToServer(message::with_end(&call.line)));
            return true;
        }
        self.in_flight.remove(&ticket.id);
        self.out.push_back(Order::Over { ticket: ticket.clone(), over: Over::Unanswered });
        false
    }

    /// A request is not asked; `line` is its answer.
    pub fn turned(&mut self, ticket: &Ticket, line: &[u8]) {
        if self.come_back(ticket).is_some() && self.in_flight.remove(&ticket.id) {
            self.answer_to(&ticket.id, message::with_end(line));
        }
    }

    fn come_back(&mut self, ticket: &Ticket) -> Option<Subject> {
        let is_this = self.on_the_road.get(&ticket.id).is_some_and(|(number, _)| *number == ticket.number);
        if is_this { self.on_the_road.remove(&ticket.id).map(|(_, subject)| subject) } else { None }
    }

    /// Whether a request was handed out and has not come back.
    pub(super) fn is_on_the_road(&self, id: &Id) -> bool {
        self.on_the_road.contains_key(id)
    }

    /// The server has answered a request: to the client, or first to whoever records it.
    pub(super) fn answered(&mut self, id: Id, line: &[u8]) {
        let line = self.in_its_era(&id, message::with_end(line));
        match self.asked.remove(&id) {
            Some(number) => self.out.push_back(Order::Answered { ticket: Ticket { id, number }, line }),
            None => self.out.push_back(Order::ToClient(line)),
        }
    }

    /// A request has come to another end than an answer.
    pub(super) fn over(&mut self, id: &Id, over: Over) {
        let on_the_road = self.on_the_road.remove(id).map(|(number, _)| number);
        if let Some(number) = on_the_road.or(self.asked.remove(id)) {
            self.out.push_back(Order::Over { ticket: Ticket { id: id.clone(), number }, over });
        }
    }
}
