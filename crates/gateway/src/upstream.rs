//! One running server, which several callers use at once.

mod ask;
mod key;
mod running;
mod surroundings;
mod times;
mod told;

pub use ask::{Answer, Ask, AskError, Question};
pub use key::{CellKey, Holder};
pub use running::{Cells, Control, Heard, Running, StartError};
pub use surroundings::{Accepted, Changes, Record, Seen};
pub use times::Times;
pub use told::{Level, Told};
