//! Text that changes when and how tools are used, other servers' above all.

use regex::bytes::Regex;

use super::{
    Rule,
    patterns::{Line, Patterns, compile},
};
use crate::{
    review::{
        finding::{
            Finding,
            Severity::{Danger, Note, Warning},
        },
        text::{Role, Text},
    },
    visible::excerpt,
};

const CODE: &str = "changes-order";
const ABOUT: &str = "changes when or how other tools are used";

/// The table, and a look at names of tools that are not the server's.
#[derive(Debug)]
pub(super) struct Order {
    patterns: Patterns,
    /// Captures a name that stands where a tool's name would.
    names: Vec<Regex>,
}

impl Order {
    pub(super) fn new() -> Self {
        Self {
            patterns: Patterns::new(CODE, ABOUT, &[Role::Prose], LINES),
            names: NAMES.map(compile).to_vec(),
        }
    }
}

impl Rule for Order {
    fn code(&self) -> &'static str {
        CODE
    }

    fn about(&self) -> &'static str {
        ABOUT
    }

    fn look(&self, text: &Text<'_>, out: &mut Vec<Finding>) {
        if text.role != Role::Prose {
            return;
        }
        self.patterns.look(text, out);
        for pattern in &self.names {
            for found in pattern.captures_iter(text.folded().as_bytes()).take(MOST) {
                let Some((whole, name)) = found.get(0).zip(found.get(1)) else { continue };
                let range = text.received(name.range());
                let name = text.text.get(range).unwrap_or_default();
                if !text.is_own(name) {
                    out.push(Finding {
                        code: CODE,
                        severity: Warning,
                        place: text.place.clone(),
                        range: text.received(whole.range()),
                        message: format!(
                            "speaks of a tool `{}` that the server does not have",
                            excerpt(name, 60)
                        ),
                    });
                }
            }
        }
    }
}

/// Most names that are looked at for one pattern in one text.
const MOST: usize = 40;

/// A name is taken for a tool's where it is called so, or is called; plain words are not, or `this tool` would be one.
const NAMES: [&str; 5] = [
    r"\b(?:must|should|also|then|first|always|please|and|to|afterwards?|immediately|after [a-z]{3,16},?|before [a-z]{3,16},?) (?:always |also |first |then )*(?:call|invoke) (?:the |a |an )?[`'\x22]?([a-z0-9]+(?:[_-][a-z0-9]+)+)\b",
    r"\b(?:use|run|execute) (?:the |a |an )[`'\x22]?([a-z0-9]+(?:[_-][a-z0-9]+)+)[`'\x22]? (?:tool|function)\b",
    r"\b(?:before|after|instead of|rather than|when|whenever|while|replaces?|overrides?|supersedes?|alongside|do not|don't|never|stop|avoid) (?:ever )?(?:using|calling|invoking|running|use|call|invoke|run|you (?:use|call|invoke|run)) (?:the |a |an |any )?[`'\x22]?([a-z0-9]+(?:[_-][a-z0-9]+)+)\b",
    r"\b(?:before|after|instead of|rather than|when|whenever|while|replaces?|overrides?|supersedes?|alongside|first|always|also|then) (?:[a-z]{1,10} ){0,3}?(?:the |a |an )?[`'\x22]?([a-z0-9]+(?:[_-][a-z0-9]+)+)[`'\x22]? (?:tool|function|mcp|is (?:called|used|invoked|run))\b",
    r"\b(mcp__[a-z0-9_-]{3,})",
];

const LINES: &[Line] = &[
    (
        Warning,
        "wants to come before every other tool",
        r"\b(?:before|prior to) (?:using|calling|invoking|running|executing|doing|you (?:use|call))? ?(?:any|every|each|all|other)(?: of the)?(?: other)? (?:[a-z]{1,10} )?(?:tools?|functions?|actions?|tool calls?|mcp|commands?)\b",
    ),
    (
        Danger,
        "changes how other tools are used",
        r"\b(?:whenever|when|every time|each time|any time|if|after|before|while) …\b(?:another|other|any|different|every) (?:tool|server|mcp server|function)s?\b…\b(?:also|must|first|always|instead|include|append|add|pass|send|call|replace|change|copy|forward|prepend|modify|route|rewrite)\b",
    ),
    (
        Danger,
        "changes how other tools are used",
        r"\b(?:when|whenever|if|before|after) …\b(?:send_email|send_message|read_file|write_file|execute_command|run_command|create_payment|transfer)\b…\b(?:is|are) (?:called|used|invoked|run|present|available)\b",
    ),
    (
        Danger,
        "changes how other tools are used",
        r"\b(?:this tool |this function )?(?:modifies|changes|alters|overrides|replaces|redefines|extends|affects) (?:the )?(?:behaviou?rs?|meaning|output|parameters?|arguments?|rules|semantics|descriptions?|implementation) (?:of|for) (?:[a-z`'_]{1,20} ){0,3}?(?:other|another|all|every|existing|built-?in|the [a-z_`']{3,30}) (?:tools?|servers?|functions?)\b",
    ),
    (
        Warning,
        "sets itself in the place of other tools",
        r"\b(?:instead of|rather than|in place of|in preference to|in favou?r of this over|preferred over|over) (?:using |calling |the |any |all |your )*(?:other|existing|built-?in|native|default|standard|original|official|regular|similar|alternative|competing) (?:[a-z_`'-]{1,20} ){0,3}?(?:tools?|servers?|functions?|commands?)\b",
    ),
    (
        Warning,
        "sets itself in the place of other tools",
        r"\bother (?:[a-z]{1,12} )?(?:tools?|servers?|functions?) (?:is|are|have been|has been|may be|will be) (?:now )?(?:deprecated|broken|unsafe|insecure|vulnerable|compromised|unavailable|disabled|outdated|unreliable|inaccurate|malicious|obsolete)\b|\b(?:do not|don't|never|stop|avoid) (?:use|using|call|calling|trust|trusting) (?:any )?(?:other|another|alternative|similar|built-?in|existing) (?:[a-z_`'-]{1,20} ){0,2}?(?:tools?|servers?|functions?)\b",
    ),
    (
        Warning,
        "sets itself above other tools",
        r"\bthis (?:tool|function|server) (?:must|should|shall|has to|takes?|has|is|always) (?:always |to |be |be given |the )*(?:preferred|prioriti[sz]ed|chosen|selected|priority|precedence|highest priority|top priority|absolute priority|favou?red) …(?:over|above|before|tool|server)",
    ),
    (
        Warning,
        "wants to be called every time",
        r"\b(?:call|use|invoke|run|execute) this (?:tool |function )?(?:[a-z]{1,10} ){0,3}?(?:(?:before|after|on|for|at the (?:start|end|beginning) of) (?:every|each|all|any) (?:single )?(?:user )?(?:message|response|reply|request|turn|conversation|answer|interaction|prompt|query|step)s?)\b|\b(?:for|on|after|before) (?:every|each|all) (?:single )?(?:user )?(?:message|response|reply|turn|conversation|answer|interaction|prompt)s?\b…\b(?:call|use|invoke|run|execute) this\b",
    ),
    (
        Danger,
        "changes how other tools are used",
        r"\b(?:every|each|any|all) (?:tools?|tool calls?|tool invocations?|function calls?) (?:of|from|in|must|should|has to|have to|needs? to|is|are)\b…\b(?:logged|routed|passed|sent|also|through|also call|approved by this)\b|\b(?:any|every|all) tools? from (?:any|every|all|other) servers?\b",
    ),
    (
        Warning,
        "changes how other tools are used",
        r"\b(?:has|have) (?:a |an |very |important )*(?:side[- ]effects?|influence|impact|effect) on (?:the |any |all |other )(?:[a-z]{1,10} ){0,2}?[`'\x22]?[a-z0-9_]{2,40}[`'\x22]? (?:tools?|servers?)\b|\bintercepts?\b…\b(?:intended|meant|destined) for\b",
    ),
    (
        Note,
        "says when to call it",
        r"\bbefore (?:using|calling|running|invoking)\b|\binstead of\b|\b(?:call|use|run|invoke) this (?:tool |function )?first\b",
    ),
];
