//! How a cell's end becomes words and an exit code.

use cell_api::info::End;
use model::exit::{Cause, Exit};

/// What is worth saying about an end; nothing where it went as it should. A server goes on until it is asked to end, so
/// its exit codes are worth a word; those of a command are its answer.
pub(crate) fn in_words(name: &str, end: &End, is_server: bool) -> Option<String> {
    match (end.cause, end.exit) {
        (Cause::Finished | Cause::Asked, Some(Exit::Code(0))) => None,
        (Cause::Finished, Some(Exit::Code(_))) if !is_server => None,
        _ => Some(format!("{name} ended: {}", end.detail)),
    }
}

/// The code a shell would report; 1 where nobody knows.
pub(crate) fn code(end: &End) -> u8 {
    end.exit.map_or(1, |exit| u8::try_from(exit.shell_code()).unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_good_end_is_silent_and_a_signal_is_128_and_its_number() {
        let end = |cause, exit| End { cause, exit, detail: "d".into() };
        let said = |end: &End, is_server| in_words("w", end, is_server).is_some();
        assert!(!said(&end(Cause::Finished, Some(Exit::Code(0))), true));
        assert!(said(&end(Cause::Finished, Some(Exit::Code(1))), true));
        assert!(!said(&end(Cause::Finished, Some(Exit::Code(1))), false));
        assert!(said(&end(Cause::Finished, Some(Exit::Signal(9))), false));
        assert!(said(&end(Cause::DataQuota, Some(Exit::Code(0))), false));
        assert_eq!(code(&end(Cause::Finished, Some(Exit::Signal(9)))), 137);
        assert_eq!(code(&end(Cause::JailLost, None)), 1);
    }
}
