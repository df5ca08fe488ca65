//! Text with commands in it that a model with a shell might run.

use super::patterns::{Line, Patterns};
use crate::review::{
    finding::Severity::{Danger, Note, Warning},
    text::Role,
};

pub(super) fn rule() -> Patterns {
    Patterns::new("runs-commands", "has commands in it that a model might run", &[Role::Prose], LINES)
}

const LINES: &[Line] = &[
    (
        Danger,
        "has a command that runs what it downloads",
        r"\b(?:curl|wget|iwr|irm|invoke-webrequest|fetch)\b[^|;]{0,160}\|[^a-z0-9]{0,3}(?:sudo )?(?:ba|z|da|k)?sh\b|\b(?:ba|z)?sh[^a-z0-9]{0,3}<\([^a-z0-9]{0,2}(?:curl|wget)\b|\b(?:iex|invoke-expression)\b[^.]{0,40}(?:http|downloadstring|iwr|irm)",
    ),
    (
        Danger,
        "has a command that runs what is encoded",
        r"\bbase64 (?:-d|--decode|-di)\b[^|]{0,60}\|[^a-z0-9]{0,3}(?:sudo )?(?:ba|z|da)?sh\b|\b(?:powershell|pwsh)(?:\.exe)?\b[^.]{0,60}[^a-z0-9]-e(?:nc|ncodedcommand|c)?\b|\b(?:eval|exec)\((?:base64|atob|codecs)",
    ),
    (
        Danger,
        "has a command that opens a way in",
        r"/dev/tcp/|\b(?:nc|ncat|netcat) (?:-[a-z]{1,6} )*-e\b|>>[^a-z0-9]{0,4}[^ ]{0,40}authorized_keys|\bsocat\b[^.]{0,40}exec:",
    ),
    (
        Warning,
        "has a command that destroys",
        r"\brm -(?:rf|fr|r -f)[^a-z0-9/~$*]{1,3}(?:/|~|\$home|\*)|\bmkfs\.|\bdd if=[^ ]{1,40} of=/dev/|\bformat c:|:\(\)\{ ?:\|:",
    ),
    (
        Warning,
        "has a command that stays behind",
        r">>[^a-z0-9]{0,4}[^ ]{0,40}\.(?:bashrc|zshrc|profile|bash_profile)\b|\bcrontab (?:-|<)|\bchmod (?:777|\+s|4755)\b",
    ),
    (
        Warning,
        "tells the model to run something on the user's machine",
        r"\b(?:first|before|also|then|must|always|silently|immediately|please)\b…\b(?:run|execute|invoke)\b…\b(?:in|using|with|via|through|from) (?:the |a |your |their )?(?:user'?s? |local |host )?(?:terminal|shell|bash(?: tool)?|command line|console|command prompt)\b",
    ),
    (
        Note,
        "speaks of running commands",
        r"\b(?:curl|wget) -|\bnpm install\b|\bpip install\b|\bsudo\b|\bchmod\b|\bcrontab\b",
    ),
];
