//! Text that asks for something to be kept from the user.

use super::patterns::{Line, Patterns};
use crate::review::{
    finding::Severity::{Danger, Note, Warning},
    text::Role,
};

pub(super) fn rule() -> Patterns {
    Patterns::new("asks-secrecy", "asks the model to hide something", &[Role::Prose, Role::Name], LINES)
}

const LINES: &[Line] = &[
    (
        Danger,
        "asks the model to keep something from the user",
        r"\b(?:do not|don't|never|must not|should not|shouldn't|mustn't|avoid|refrain from|no need to|under no circumstances) (?:ever |you |to |also )*(?:tell|telling|mention|mentioning|inform|informing|reveal|revealing|disclose|disclosing|notify|notifying|show|showing|alert|alerting|explain|explaining|say|report|reporting|display|displaying|expose|exposing|describe|describing|warn|warning)\b (?:[a-z']{1,12} ){0,6}?(?:to |with )?(?:the |any |your |our )?(?:user|human|person|operator|customer|anyone|anybody|end-user)(?:[^a-z0-9's]|$)",
    ),
    (
        Danger,
        "asks the model not to speak of something",
        r"\b(?:do not|don't|never|must not|should not|avoid|refrain from) (?:ever |to )?(?:tell|mention|mentioning|reveal|revealing|disclose|disclosing|discuss|discussing|talk about|refer to|acknowledge|speak of|bring up) (?:this|that you|that this|it|these|any of this|anything about (?:this|it)|the above|what you|your instructions|having|doing)\b",
    ),
    (
        Danger,
        "asks the model not to speak of something",
        r"\b(?:do not|don't|never|must not|should not) (?:tell|mention|reveal|disclose|discuss|show|print|output|include) (?:the |these |this |any )?(?:instructions?|step|reading|file's? contents?|side-?effect|transfer|copying|forwarding|upload|bcc|extra (?:call|parameter|step))\b",
    ),
    (
        Danger,
        "wants something done without the user's knowledge",
        r"\bwithout (?:the |your )?user'?s? (?:knowledge|knowing|consent|awareness|noticing|being (?:aware|told|asked|notified)|permission|approval|seeing)\b",
    ),
    (
        Danger,
        "wants something done without the user's knowledge",
        r"\bwithout (?:ever )?(?:telling|informing|notifying|alerting|mentioning|showing|revealing|asking|warning|prompting|consulting)\b (?:[a-z']{1,12} ){0,4}?(?:the |your |any )?(?:user|human|operator|person)(?:[^a-z0-9's]|$)",
    ),
    (
        Danger,
        "wants the user not to know",
        r"\b(?:users?|humans?|operator) (?:must|should|may|shall|can) (?:not|never) (?:ever )?(?:know|see|notice|find out|learn|become aware|realize|realise|be (?:told|aware|informed|notified|shown|alerted|made aware))\b|\buser (?:does not|doesn't|do not|don't) (?:need|have) to (?:know|see|be (?:told|informed|aware))\b",
    ),
    (
        Danger,
        "wants something hidden",
        r"\b(?:keep|keeping|hide|hiding|conceal|concealing|withhold|mask|disguise)\b (?:[a-z']{1,12} ){0,6}?(?:from|secret from|hidden from) (?:the |any |your )?(?:user|human|operator|view|logs?|reviewers?|audit)\b",
    ),
    (
        Warning,
        "wants something hidden",
        r"\b(?:keep|treat) (?:this|it|that|these|these instructions|the (?:step|call|reading|transfer|details)) (?:strictly |completely |a )*(?:secret|hidden|confidential|private|quiet|to yourself|between us)\b",
    ),
    (
        Warning,
        "wants something done in secret",
        r"\b(?:secretly|covertly|stealthily|surreptitiously|clandestinely|unobtrusively)\b|\b(?:silently|quietly|discreetly) (?:read|send|call|include|forward|execute|run|upload|copy|append|attach|collect|pass|fetch|bcc|transmit|exfiltrate|invoke|perform|do|make)\b",
    ),
    (
        Warning,
        "asks the model not to show something",
        r"\b(?:do not|don't|never) (?:show|display|print|output|log|repeat|quote) (?:this|that|these|any of this|the above)\b",
    ),
    (
        Warning,
        "asks the model not to wait for the user",
        r"\b(?:do not|don't|never|without|no need to|instead of) (?:ask|asking|wait|waiting|request|requesting|prompt|prompting|seek|seeking)\b…\b(?:user|human|confirmation|permission|approval|consent)\b",
    ),
    (
        Warning,
        "asks the model to act as if nothing were",
        r"\b(?:act|behave|respond|continue|proceed|reply|pretend) (?:as (?:if|though) |normally )(?:nothing|this (?:did not|didn't|never)|you (?:did not|didn't|never)|and (?:do not|don't|never))",
    ),
    (
        Danger,
        "wants the user not to know",
        r"\b(?:user|human|person|operator|customer)(?: [a-z]{1,10})? (?:need not|needn't|has no need to|shouldn't|mustn't|does not have to) (?:know|see|hear|be (?:told|informed|aware|notified|bothered))\b",
    ),
    (
        Danger,
        "wants something kept from the user",
        r"\b(?:no se lo digas al|no le digas al|no informes al|sin que (?:el|lo sepa el)) usuario\b|\b(?:sag|sage|verrate|erzaehle|erzahle) (?:es )?(?:dem|der) (?:benutzer|nutzer|anwender)(?:in)? (?:nichts|nicht|davon)|\bne (?:le )?(?:dis|dites|revele|mentionne) (?:pas|rien) (?:a )?l'utilisateur\b|\bnao (?:conte|diga|informe) (?:ao|o) usuario\b|(?:不要|别|勿)[^a-z0-9]{0,12}(?:告诉|告知|透露)[^a-z0-9]{0,12}用户",
    ),
    (
        Warning,
        "wants something hidden",
        r"\bkeep\b…\bbetween (?:us|you and me|ourselves|you and this)\b|\bwithout further explanation\b",
    ),
    (
        Warning,
        "gives the model an excuse to tell",
        r"\bif (?:(?:you are |you're )?(?:asked|questioned)|(?:the user|anyone|they) (?:notices?|inquires?|becomes? suspicious))\b…\b(?:say|reply|respond|answer|claim|pretend)[^a-z0-9]{1,3}(?:that|this is|it is|it's|you are|you're|simply|standard)\b",
    ),
    (
        Warning,
        "wants something hidden",
        r"\b(?:hidden|invisible|unseen|concealed|white-on-white) (?:json |html |text |xml |markdown )?(?:block|section|comment|footer|note|message|paragraph|tag)\b",
    ),
    (Note, "says not to tell or show something", r"\b(?:do not|don't|never) (?:tell|mention|show)\b"),
];
