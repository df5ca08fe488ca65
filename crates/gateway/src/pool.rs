//! Running cells by whom they are for: started, frozen when idle, stopped, woken.
//!
//! A call names the cell that it is for. Where that one does not run it is started, and the call waits; where it is frozen
//! it is thawed. A call is handed to a server once at most: what a server had when it ended is answered with that, and is
//! not asked again.
//!
//! Nothing here is keyed by a session or by a connection: those are names, not rights.

pub use crate::upstream::{
    Accepted, Answer, Ask, AskError, CellKey, Cells, Changes, Control, Heard, Holder, Level, Question,
    Record, Running, Seen, StartError, Times, Told,
};
