//! How far a change reaches.

use std::fmt;

use serde::{Serialize, Serializer};

/// What a model can be made to do after a change that the reviewer of the surface before has not seen. In this order.
///
/// | class | what it is |
/// |---|---|
/// | [`Class::Cosmetic`] | nothing: spelling, punctuation, letter case, white space; icons; versions; sizes and dates of resources; whatever is less than before (a tool, a prompt, a parameter, a capability that is gone, a bound that is tighter) |
/// | [`Class::WidenedInput`] | it can be made to hand over something else: a new parameter or argument, another type, a bound that is gone or looser, another default, other words about a parameter, anything in a schema that is not surely tighter |
/// | [`Class::NewCapability`] | it can be made to use something else: a new or renamed tool, prompt, resource or template, other words about what one does, another output, another hint (safer ones too: clients ask less), a new capability, another name of the server |
/// | [`Class::NowInstructs`] | it is told something: the server's instructions are new or others; or a text has something of the kind that rules warn of, or orders such as *always*, *never*, *do not*, *make sure* that it did not have |
///
/// A class is for the order in which a person looks; it accepts nothing. Spelling is judged strictly: the same words in the
/// same order, of which one of five letters or more may differ in one letter, and nothing that is a number, a path or an
/// address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Nothing that a model would act upon, or less than before.
    Cosmetic,
    /// It can be made to hand over something else.
    WidenedInput,
    /// It can be made to use something else.
    NewCapability,
    /// It is told something.
    NowInstructs,
}

impl Class {
    /// For people: `now instructs`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cosmetic => "cosmetic",
            Self::WidenedInput => "widened input",
            Self::NewCapability => "new capability",
            Self::NowInstructs => "now instructs",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for Class {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
