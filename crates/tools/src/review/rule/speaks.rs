//! Text that gives orders to the model rather than saying what a tool does.

use super::patterns::{Line, Patterns};
use crate::review::{
    finding::Severity::{Danger, Note, Warning},
    text::Role,
};

pub(super) fn rule() -> Patterns {
    Patterns::new("speaks-to-model", "gives orders to the model", &[Role::Prose, Role::Name], LINES)
}

const LINES: &[Line] = &[
    // Frames that set a text apart from its surroundings, as poisoned descriptions do.
    (
        Danger,
        "is framed as an order to the model",
        r"</?[^a-z0-9<>]{0,2}(?:important|system|instructions?|override|directive|mandatory|critical|urgent|system[ _-]reminder)(?:[ _-][a-z _-]{0,24})?[^a-z0-9<>]{0,2}>(?:[^<]{0,400}</[^<>]{1,40}>)?",
    ),
    (
        Danger,
        "is framed as an order to the model",
        r"</[^a-z0-9<>]{0,2}(?:secret|hidden|admin|assistant|priority|sys|task|prompt|context)[^a-z0-9<>]{0,2}>",
    ),
    (
        Danger,
        "has marks of a chat template, which a model may take for another speaker",
        r"<\|[^a-z0-9<>|]{0,2}(?:im_start|im_end|system|user|assistant|tool|endoftext|eot_id|begin_of_text|start_header_id|end_header_id|channel|message)[^a-z0-9<>|]{0,2}\|?>",
    ),
    (
        Danger,
        "has marks of a chat template, which a model may take for another speaker",
        r"\[/?inst\]|<</?sys>>|<start_of_turn>|<end_of_turn>|\[/?system(?: message| prompt)?\]",
    ),
    (
        Warning,
        "speaks as another speaker of the conversation",
        r"(?:^|[.!?\n] ?)(?:#{1,4} ?)?(?:system|assistant|developer|human|user) ?(?:prompt|message|override)?: ?(?:you |ignore|the following|do not|don't|new |override|from now|always|never|call |read |please)",
    ),
    (
        Warning,
        "speaks as another speaker of the conversation",
        r"#{2,4} ?(?:system|new system|system prompt|system message|assistant|end of (?:system|tool|description|instructions))\b",
    ),
    // Taking back what was said before.
    (
        Danger,
        "asks to set earlier instructions aside",
        r"\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget|overrid(?:e|es|ing)|bypass(?:ing)?|discard|do not follow|don't follow|stop following|do not obey|pay no attention to|set aside|supersedes?|replaces?|cancels?)\b (?:[a-z']{1,12} ){0,5}?(?:previous|prior|earlier|above|preceding|existing|foregoing|original|system|safety|user'?s?|other|past|initial|all|any|your) (?:[a-z']{1,12} ){0,3}?(?:instructions?|prompts?|guidelines?|directions?|directives?|guardrails?)\b",
    ),
    (
        Danger,
        "asks to set earlier instructions aside",
        r"\b(?:ignore|disregard|forget) (?:[a-z']{1,12} ){0,3}?(?:previous|prior|above|your|safety|preceding) (?:[a-z']{1,12} ){0,2}?(?:rules|messages|context|constraints|training|polic(?:y|ies)|commands|restrictions|conversation)\b",
    ),
    (
        Danger,
        "asks to set earlier instructions aside",
        r"\b(?:ignore|disregard|forget) (?:everything|anything|whatever|all that|what) (?:[a-z']{1,12} ){0,4}?(?:above|before|said|told|instructed|previously|prior)\b",
    ),
    (
        Danger,
        "claims to stand above other instructions",
        r"\b(?:takes?|has|have|with) (?:absolute |full |the highest |highest |top )?(?:precedence|priority) over (?:[a-z']{1,12} ){0,4}?(?:instructions?|prompts?|guidelines?|requests?|user|rules)\b",
    ),
    (Note, "says to ignore something", r"\bignore (?:all|previous)\b"),
    // Another role, another mode.
    (
        Danger,
        "gives the model another role",
        r"\b(?:you are|you're) (?:now|no longer|from now on) (?:a|an|in|the|acting|operating|under|free|unrestricted|running|required|authori[sz]ed|allowed|bound|restricted|limited|subject)\b",
    ),
    (
        Danger,
        "gives the model another role",
        r"\bfrom (?:now|this point|here) on(?:wards?)?\b…\b(?:you (?:must|will|shall|are|should|have to)|always|never|every|all|respond|reply|act|call|include|treat|obey)\b",
    ),
    (
        Warning,
        "gives the model another role",
        r"\b(?:pretend|act as (?:if|though)|roleplay|role-play|simulate being) (?:that )?(?:you|there are no|the user)\b|\b(?:developer|debug|dan|god|admin|maintenance|jailbreak|unrestricted|sudo) mode (?:is |has been )?(?:on|enabled|active|activated)\b|\bdo anything now\b|\bwithout (?:any )?(?:safety|ethical|content) (?:restrictions|filters|checks|guidelines)\b",
    ),
    // Authority.
    (
        Danger,
        "claims an authority that a description does not have",
        r"\b(?:system|admin(?:istrator)?|security|developer|compliance|operator|root) (?:override|directive|instructions?|command|notice|mandate)\b ?(?::|-|is|are|to|from)",
    ),
    (
        Danger,
        "claims an authority that a description does not have",
        r"\b(?:this|the following) (?:is|are|message is) (?:a |an |the )?(?:mandatory |official |important )?(?:system|admin|administrator|developer|security|platform|anthropic|openai) (?:message|override|instructions?|directive|command|update|notice|requirement|prompt)\b",
    ),
    (
        Danger,
        "gives the model new instructions",
        r"\b(?:new|updated|revised|real|actual|additional|special|secret|hidden) (?:system )?(?:instructions?|directives?|orders) ?(?:for (?:the |this |all )?(?:ai|model|assistant|agent|llm)s?)? ?:",
    ),
    (
        Warning,
        "addresses the model itself",
        r"\b(?:attention|note|notes|message|instructions?|notice|reminder|directive|requirement)s? (?:to|for) (?:the |all |any |every |this )?(?:ai|llm|model|assistant|agent|claude|chatgpt|gpt|copilot|gemini|cursor|language model)s?(?: (?:agent|model|assistant)s?)? ?[:,;-]",
    ),
    (
        Warning,
        "tells the model what it must do besides calling the tool",
        r"\b(?:ai|llm|language model|assistant|agent|claude|chatgpt|copilot|gemini)s?(?: agents?| models?| assistants?)? (?:must|shall|has to|have to|needs? to|is required to|are required to|is instructed to|are instructed to) (?:always |never |not |first |also |immediately )*(?:send|read|include|execute|run|ignore|fetch|open|forward|append|copy|upload|obey|follow|disclose|reveal)\b",
    ),
    (
        Warning,
        "threatens with what happens otherwise",
        r"\b(?:failure to (?:do so|comply|follow|include)|non-?compliance|if you (?:refuse|disobey|do not comply|don't comply|fail to comply))\b",
    ),
    (
        Warning,
        "threatens with what happens otherwise",
        r"\bif you (?:do not|don't|fail to|forget to) (?:read|open|send|include|forward|attach|upload|copy)\b…\b(?:will not|won't|cannot|can't|will (?:fail|break|crash|lose|be))\b",
    ),
    (
        Warning,
        "orders something to be done first",
        r"\b(?:do|perform|complete|execute|carry out|follow) (?:this|these|the following)(?: steps?| actions?| instructions?)? (?:first,? |immediately,? |right away,? )?(?:before (?:anything|everything|doing|you)|without (?:asking|question|hesitation|delay|exception)|no matter what|at all costs)",
    ),
    (
        Warning,
        "speaks as another speaker of the conversation",
        r"(?:^|[.!?\n] ?)system ?: (?:this|the (?:assistant|model|ai|user|agent|tool)|all|every|any|when|before|after)\b",
    ),
    (
        Warning,
        "claims that somebody has approved it",
        r"\b(?:pre-?approved|vetted|cleared|whitelisted|authori[sz]ed|certified) by (?:the |your |our )*(?:[a-z]{1,12} )?(?:security|admin(?:istrator)?s?|operator|compliance|platform|it|anthropic|openai|developers?)\b|\breport no (?:findings|issues|problems)\b|\b(?:this|the following) (?:tool|server|request|action) (?:is|has been) (?:already )?(?:pre-?approved|approved by the user|trusted by the user)\b",
    ),
    (
        Warning,
        "changes how the model answers",
        r"\b(?:prepend|append|prefix|begin|start|end|finish|precede|preface) (?:to )?(?:every|each|all|any|your) (?:[a-z]{1,10} )?(?:response|reply|answer|message|output|command)s?\b|\b(?:every|each|all|any) (?:shell |bash |terminal )?(?:commands?|replies|responses|answers) (?:must|should|shall|needs? to|has to|have to) (?:always |also )*(?:include|begin|start|end|be prefixed|be preceded|contain|carry)\b",
    ),
    (
        Warning,
        "threatens with what happens otherwise",
        r"\b(?:system|application|app|tool|server|everything|session|request|account)s? (?:will|would|may|might|could) (?:crash|break|be (?:lost|deleted|blocked|terminated|suspended)|fail)\b…\b(?:all data|data will|lost|the user|users will|harm|deleted)\b",
    ),
    (
        Warning,
        "claims an authority that a description does not have",
        r"\bthis (?:tool|step|call|function|check|request|requirement|action|is)\b…\b(?:required|mandatory|mandated|necessary)\b…\b(?:compliance|gdpr|soc ?2|hipaa|pci|audit(?:ing|s)?|security polic(?:y|ies)|legal reasons|regulations?)\b",
    ),
    (
        Danger,
        "asks to set earlier instructions aside",
        r"\bignor(?:iere|ieren sie|a|ad|e|ez|are|en) (?:bitte )?(?:alle|todas|toutes|tutte|todas as|las|les|le) (?:[a-z]{1,12} ){0,3}?(?:anweisungen|instrucciones|instructions|istruzioni|instrucoes|regeln|reglas|regles|regras)\b",
    ),
    (
        Danger,
        "asks to set earlier instructions aside",
        r"(?:忽略|无视|無視)[^a-z0-9]{0,30}(?:指令|指示|提示|说明)",
    ),
    (
        Warning,
        "wants to see what the model was told by others",
        r"\b(?:reveal|print|output|repeat|show|display|disclose|dump|return|quote|recite) (?:me )?(?:your|the) (?:full |entire |hidden |complete |original )*(?:system prompt|developer (?:message|prompt)|initial instructions|hidden instructions)\b",
    ),
    (
        Warning,
        "gives the model another task",
        r"\byou (?:now )?have (?:a |one )?(?:new |another |more )?(?:important |urgent |priority |secret )*(?:task|mission|objective|goal)\b|\byour (?:new|real|actual|true|only) (?:priority |primary )?(?:task|mission|objective|goal|purpose|job) (?:is|now|:)",
    ),
    (
        Danger,
        "sets aside what the user asked for",
        r"\buser'?s? (?:original |initial |first |current )?(?:requests?|questions?|instructions?|query|queries|task|wishes) (?:is|was|are|were|has been|have been|may be|must be|should be) (?:now |hereby )?(?:cancell?ed|void|overridden|superseded|replaced|obsolete|ignored|secondary|irrelevant|no longer)\b",
    ),
    (
        Danger,
        "claims an authority that a description does not have",
        r"\[[a-z ]{0,20}\b(?:system|admin|security|operator)[a-z ]{0,12} (?:message|override|notice|alert|update|directive|command|instruction)s?\]|\b(?:urgent|critical|important|mandatory|official) (?:system|security|admin|platform) (?:message|notice|note|update|alert|instruction|directive)s? ?[:\]]",
    ),
    (
        Warning,
        "wants to come before every answer",
        r"\b(?:before|prior to|after) (?:responding|replying|answering|you (?:respond|reply|answer))(?: to)? (?:any|every|each|all)\b",
    ),
    (
        Warning,
        "orders something to be run at once",
        r"\b(?:execute|run) the following (?:shell )?(?:commands?|code|script)s?\b…\b(?:immediately|now|first|at once|silently)\b",
    ),
    (
        Warning,
        "threatens with what happens otherwise",
        r"\bfailure to\b…\b(?:is|constitutes|will be|counts as)\b…\b(?:violation|breach|offen[cs]e|incident)\b",
    ),
    (
        Warning,
        "counts on what else the model can reach",
        r"\bif you (?:have|also have|happen to have) (?:access to|tools? (?:for|to|that)|the ability to)\b…\b(?:list|include|read|send|call|use|run|copy|pass|execute)\b",
    ),
    (
        Note,
        "insists",
        r"\b(?:important|critical|mandatory|attention|warning) ?:|\byou must\b|\bmust always\b|\bmust never\b",
    ),
];
