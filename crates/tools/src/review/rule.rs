//! The one interface of rules, and the rules that come with Fumehood.

use std::fmt;

use super::{finding::Finding, text::Text};

mod alphabet;
mod commands;
mod encoded;
mod harvest;
mod hidden;
mod links;
mod markup;
mod order;
mod patterns;
mod secrecy;
mod secret_files;
mod speaks;
mod terminal;

/// Something that is looked for in texts.
pub trait Rule: fmt::Debug + Send + Sync {
    /// What it is called, in every version: `asks-secrecy`.
    fn code(&self) -> &'static str;

    /// What it looks for, as the end of "a text that …".
    fn about(&self) -> &'static str;

    /// Looks at one text and adds what it finds, in time linear in the text.
    fn look(&self, text: &Text<'_>, out: &mut Vec<Finding>);
}

/// All of them.
pub(super) fn standard() -> Vec<Box<dyn Rule>> {
    let mut rules = words();
    rules.push(Box::new(encoded::Encoded::of(words())));
    rules.push(Box::new(hidden::Hidden));
    rules.push(Box::new(hidden::Direction));
    rules.push(Box::new(hidden::OutOfSight));
    rules.push(Box::new(terminal::Terminal));
    rules.push(Box::new(alphabet::Alphabet));
    rules
}

/// Those that go by what is said.
fn words() -> Vec<Box<dyn Rule>> {
    vec![
        Box::new(speaks::rule()),
        Box::new(secrecy::rule()),
        Box::new(order::Order::new()),
        Box::new(secret_files::rule()),
        Box::new(harvest::rule()),
        Box::new(commands::rule()),
        Box::new(markup::rule()),
        Box::new(links::Links::new()),
    ]
}
