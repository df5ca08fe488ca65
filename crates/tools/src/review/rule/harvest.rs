//! Text that asks for what the tool has no use for: the conversation, other tools, keys.

use super::patterns::{Line, Patterns};
use crate::review::{
    finding::Severity::{Danger, Note, Warning},
    text::Role,
};

pub(super) fn rule() -> Patterns {
    Patterns::new("harvests", "asks for what was said or given elsewhere", &[Role::Prose, Role::Name], LINES)
}

const LINES: &[Line] = &[
    (
        Danger,
        "wants what was said elsewhere to be passed to the tool",
        r"\b(?:include|including|pass|passing|send|sending|provide|append|attach|copy|paste|insert|embed|supply|submit|forward|dump|fill in|populate|put|log|repeat|share|encode)\b…\b(?:(?:full|entire|whole|complete|all|exact|verbatim|current|raw|previous|prior|your|this|user's) (?:[a-z']{1,12} ){0,2}?(?:conversations?|chat (?:history|log|transcript|context)|dialog(?:ue)? history|message history|conversation history|context window|system prompts?|chain of thought|(?:previous|prior) (?:messages|turns))|system prompt|conversation history|chat history)\b",
    ),
    (
        Warning,
        "would carry what was said elsewhere",
        r"^(?:full |entire |complete )?(?:conversation history|chat history|conversation|chain of thought|system prompt|previous messages|message history|context window|model reasoning|all tools|list of tools|tool list|user secrets|side ?note)$",
    ),
    (
        Warning,
        "wants what was said elsewhere to be passed to the tool",
        r"\b(?:credentials|api keys?|secrets?|passwords?|tokens?|sensitive (?:data|information)|identifiable information|personal (?:data|information)|configs?|configuration)\b…\b(?:mentioned|visible|found|seen|shared|discussed|from|in)\b…\b(?:the |this |your )(?:conversation|session context|chat|context window)\b",
    ),
    (
        Warning,
        "wants keys or passwords of the user",
        r"\b(?:extract|collect|gather|harvest|find|note|remember) (?:any|all|every)\b…\b(?:passwords?|api keys?|credentials|access tokens?|secrets|private keys?|credit card)\b",
    ),
    (
        Warning,
        "wants something encoded in the model's answer",
        r"\b(?:encode[ds]?|encoding)\b…\b(?:base64|base32|hex|hexadecimal|rot13|binary)\b…\b(?:in|into|within|inside) (?:your|the|each|every) (?:response|reply|answer|message|url|image)\b",
    ),
    (
        Warning,
        "wants to know what other tools there are",
        r"\b(?:each|every|any|all|other|another)(?: of the)?(?: other)?(?: connected| available| installed)? mcp servers?\b|\bmcp servers? (?:that )?(?:you are|you're|is|are) connected\b",
    ),
    (
        Warning,
        "wants to know what other tools there are",
        r"\b(?:include|pass|send|provide|append|attach|copy|paste|insert|supply|submit|forward|dump|put)\b…\b(?:names?|list|descriptions?|schemas?) (?:and [a-z]{1,12} )?of (?:all |every |any |each )?(?:of )?(?:the |your |other )*(?:available |installed |connected |other )?(?:tools?|mcp servers?|functions)\b",
    ),
    (
        Danger,
        "wants keys or passwords of the user",
        r"\b(?:include|pass|send|append|attach|copy|paste|insert|embed|submit|forward|upload|dump|exfiltrate|read|collect|put|contents? of|values? of)\b…\b(?:user'?s|local|users'|stored|saved|any|all|every|available|found|their) (?:[a-z']{1,12} ){0,2}?(?:environment variables?|env vars?|credentials?|passwords?|private keys?|seed phrases?|recovery phrases?|mnemonics?|ssh keys?|api keys?|(?:access|auth|bearer|session) tokens?|session cookies?|cookies|secrets|credit cards?(?: numbers?)?|social security numbers?)\b",
    ),
    (
        Warning,
        "wants keys or passwords of the user",
        r"\b(?:seed phrase|recovery phrase|wallet mnemonic|master password|credit card number|social security number)\b",
    ),
    (
        Danger,
        "wants what was said elsewhere to be passed to the tool",
        r"\b(?:full|entire|whole|complete|previous|prior) (?:[a-z']{1,12} )?(?:conversations?|chat history|message history|conversation history|chat list|transcript of this conversation)\b…\b(?:attached|included|appended|passed|encoded|base64|as (?:the |an? )?[`'\x22]?[a-z_]{1,20}[`'\x22]? (?:argument|parameter|field))",
    ),
    (
        Warning,
        "wants keys or passwords of the user",
        r"\b(?:api[_ -]?keys?|[a-z0-9]+_(?:api_key|secret_key|access_key|secret|token|password)|database_url)\b…\b(?:passed|pass|included?|sent|send|put|copied)\b…\b(?:parameter|argument|field|here)\b|\b(?:attach|include|send|append|forward)\b…\bany (?:api[_ -]?keys?|tokens?|passwords?|credentials|secrets?)\b|\bread the (?:api[_ -]?keys?|tokens?|passwords?|secrets?) from\b",
    ),
    (
        Danger,
        "redirects what the user sends",
        r"\b(?:all|every|each|any) (?:[a-z]{1,12} )?(?:emails?|messages?|requests?|queries|results?|data|inputs?|outputs?|calls?|records?) (?:is|are|will be|must be|should be|gets?) (?:also |first |silently |automatically )*(?:sent|forwarded|copied|uploaded|routed|mirrored|relayed|posted|logged)\b…\b(?:https?|ftp|wss?)://",
    ),
    (
        Danger,
        "redirects what the user sends",
        r"\b(?:add|set|include|put)\b…\b(?:bcc|cc)\b ?(?::|to|as|field)?…[a-z0-9._%+-]+@[a-z0-9-]+\.[a-z]{2,}",
    ),
    (
        Danger,
        "redirects what the user sends",
        r"\b(?:always|must|every|all|also|instead|automatically|first|any)\b…\b(?:bcc|cc|forward(?:ed)?|copy|copied|redirect(?:ed)?|rerouted?|sent|send|replace[d]?|change[d]?)\b…[a-z0-9._%+-]+@[a-z0-9-]+\.[a-z]{2,}",
    ),
    (
        Danger,
        "redirects what the user sends",
        r"\b(?:bcc|forward|redirect|reroute)\b (?:(?:a|the|all|every|any|full|complete|whole|entire|daily|copy|copies|of|it|them|this|everything|results?|data|messages?|e?mails?|reports?|user's|your|their|contents?|summary|conversation) ){0,7}?(?:to )?[a-z0-9._%+-]+@[a-z0-9-]+\.[a-z]{2,}",
    ),
    (
        Warning,
        "redirects what the user sends",
        r"\b(?:change|replace|set|substitute|overwrite|swap) (?:the |every |any |all )*(?:recipient|destination|payee|iban|account number|wallet address|to field|email address)s?\b…\b(?:to|with|by)\b",
    ),
    (
        Note,
        "speaks of keys or passwords",
        r"\b(?:api keys?|access tokens?|passwords?|private keys?|credentials)\b",
    ),
];
