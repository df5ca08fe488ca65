//! How much a tool can do.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// How much a tool can do, as our own files say; what a server says of itself never counts. Written `1`, `2`, `3`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// It only reads. Recorded when it is done.
    One,
    /// It changes something. Recorded before it is done.
    #[default]
    Two,
    /// It destroys, pays or publishes. A person approves each call.
    Three,
}

impl Tier {
    /// Every one, from the least.
    pub const ALL: [Self; 3] = [Self::One, Self::Two, Self::Three];

    /// Its number.
    pub fn number(self) -> u8 {
        match self {
            Self::One => 1,
            Self::Two => 2,
            Self::Three => 3,
        }
    }

    /// The tier of a number; none but 1, 2 and 3 has one.
    pub fn of(number: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|tier| i64::from(tier.number()) == number)
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.number())
    }
}

impl Serialize for Tier {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(self.number())
    }
}

impl<'de> Deserialize<'de> for Tier {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = i64::deserialize(deserializer)?;
        Self::of(number)
            .ok_or_else(|| de::Error::custom(format!("`{number}` is not a tier: write 1, 2 or 3")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tier_is_its_number() {
        for tier in Tier::ALL {
            let text = serde_json::to_string(&tier).unwrap();
            assert_eq!(
                (text.as_str(), serde_json::from_str::<Tier>(&text).unwrap()),
                (&*tier.to_string(), tier)
            );
        }
        for wrong in ["0", "4", "-1", "\"2\"", "1.5"] {
            assert!(serde_json::from_str::<Tier>(wrong).is_err(), "{wrong}");
        }
        assert_eq!(Tier::default(), Tier::Two);
    }
}
