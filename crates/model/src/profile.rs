//! As which client Fumehood presents itself to a server: always the same one, whoever the real client is.

use std::{collections::BTreeSet, fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A fixed set of client capabilities. As text `plain`, or the abilities in order with `+` between them.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Profile(BTreeSet<Ability>);

/// Something a client can do for a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ability {
    /// Ask the person something (MCP 2025-11-25, client features, elicitation).
    Elicitation,
    /// Say which folders are meant (MCP 2025-11-25, client features, roots).
    Roots,
}

/// A text that is no profile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a client profile: write `plain`, `elicitation`, `roots` or `elicitation+roots`")]
pub struct ProfileError(pub String);

impl Profile {
    /// No capability.
    pub fn plain() -> Self {
        Self::default()
    }

    /// With these.
    pub fn with(abilities: impl IntoIterator<Item = Ability>) -> Self {
        Self(abilities.into_iter().collect())
    }

    /// Whether it has this one.
    pub fn has(&self, ability: Ability) -> bool {
        self.0.contains(&ability)
    }

    /// Its abilities in order.
    pub fn abilities(&self) -> impl Iterator<Item = Ability> + '_ {
        self.0.iter().copied()
    }
}

impl Ability {
    /// Every one.
    pub const ALL: [Self; 2] = [Self::Elicitation, Self::Roots];

    /// Its name, which is that of the capability.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Elicitation => "elicitation",
            Self::Roots => "roots",
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("plain");
        }
        let names: Vec<&str> = self.abilities().map(Ability::as_str).collect();
        f.write_str(&names.join("+"))
    }
}

impl FromStr for Profile {
    type Err = ProfileError;

    fn from_str(text: &str) -> Result<Self, ProfileError> {
        if text == "plain" {
            return Ok(Self::plain());
        }
        let ability = |word: &str| Ability::ALL.into_iter().find(|ability| ability.as_str() == word);
        let abilities: Option<BTreeSet<Ability>> = text.split('+').map(ability).collect();
        abilities.map(Self).ok_or_else(|| ProfileError(text.to_owned()))
    }
}

impl Serialize for Profile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Profile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_read_as_it_is_shown() {
        for text in ["plain", "elicitation", "roots", "elicitation+roots"] {
            assert_eq!(text.parse::<Profile>().unwrap().to_string(), text);
        }
        assert_eq!("roots+elicitation".parse::<Profile>().unwrap().to_string(), "elicitation+roots");
        for wrong in ["", "Plain", "sampling", "plain+roots", "roots+"] {
            assert!(wrong.parse::<Profile>().is_err(), "{wrong}");
        }
    }
}
