//! Who asks, against everything that is known to have fooled others: keys made here, tokens made by hand.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the code of tests may panic"
)]

mod assembly;
mod attacks;
#[cfg(feature = "guard-off")]
mod controls;
mod fetching;
mod guards;
mod mint;
mod origin;
mod requests;
mod tokens;
