//! What is spoken inside TLS that is looked into.

/// What both sides agreed on (RFC 7301).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Alpn {
    /// Nothing was said: HTTP/1.1.
    None,
    /// HTTP/1.1.
    One,
    /// HTTP/2.
    Two,
}

const ONE: &[u8] = b"http/1.1";
const TWO: &[u8] = b"h2";

impl Alpn {
    pub(super) const ALL: [Self; 3] = [Self::None, Self::One, Self::Two];

    /// What was agreed on, by its name on the wire.
    pub(crate) fn of(name: Option<&[u8]>) -> Self {
        match name {
            Some(TWO) => Self::Two,
            Some(ONE) => Self::One,
            _ => Self::None,
        }
    }

    /// The names on the wire.
    pub(super) fn protocols(self) -> Vec<Vec<u8>> {
        match self {
            Self::None => Vec::new(),
            Self::One => vec![ONE.to_vec()],
            Self::Two => vec![TWO.to_vec()],
        }
    }

    /// Of what a client offers, what we can speak, in its order.
    pub(super) fn known(offered: &[Vec<u8>]) -> Vec<Vec<u8>> {
        offered.iter().filter(|name| matches!(name.as_slice(), ONE | TWO)).cloned().collect()
    }

    /// What to speak with a client that is only told why nobody answers.
    pub(crate) fn alone(offered: &[Vec<u8>]) -> Self {
        let offers = |name: &[u8]| offered.iter().any(|offer| offer == name);
        if offers(ONE) {
            Self::One
        } else if offers(TWO) {
            Self::Two
        } else {
            Self::None
        }
    }
}
