//! Letters of one alphabet that pass for those of another.

use super::Rule;
use crate::review::{
    finding::{Finding, Severity},
    fold::{look_alike, styled},
    text::{Role, Text},
};

#[derive(Debug)]
pub(super) struct Alphabet;

const CODE: &str = "mixed-alphabets";

impl Rule for Alphabet {
    fn code(&self) -> &'static str {
        CODE
    }

    fn about(&self) -> &'static str {
        "has letters in it that pass for others"
    }

    fn look(&self, text: &Text<'_>, out: &mut Vec<Finding>) {
        let mut begin = 0;
        for word in text.text.split_inclusive(|c: char| !c.is_alphanumeric()) {
            let bare = word.trim_end_matches(|c: char| !c.is_alphanumeric());
            let range = begin..begin + bare.len();
            begin += word.len();
            if bare.is_ascii() {
                continue;
            }
            let latin = bare.chars().any(|c| c.is_ascii_alphabetic());
            let passing = bare.chars().filter(|c| look_alike(*c).is_some()).count();
            let foreign = bare.chars().any(|c| !c.is_ascii() && c.is_alphabetic() && look_alike(c).is_none());
            let shaped = bare.chars().filter(|c| styled(*c).is_some()).count();
            let (severity, message) = if passing > 0 && latin {
                (Severity::Warning, "mixes letters of two alphabets that look the same in one word")
            } else if passing > 0 && !foreign && text.role == Role::Name {
                (Severity::Warning, "is a name in letters that pass for others")
            } else if shaped >= 3 {
                (Severity::Warning, "has letters in it that are made to look like letters and are none")
            } else {
                continue;
            };
            out.push(Finding {
                code: CODE,
                severity,
                place: text.place.clone(),
                range,
                message: message.to_owned(),
            });
        }
    }
}
