//! Text that names files in which people keep secrets.

use super::patterns::{Line, Patterns};
use crate::review::{
    finding::Severity::{Danger, Note, Warning},
    text::Role,
};

pub(super) fn rule() -> Patterns {
    Patterns::new(
        "names-secrets",
        "names files in which people keep secrets",
        &[Role::Prose, Role::Name, Role::Address],
        LINES,
    )
}

const LINES: &[Line] = &[
    (
        Danger,
        "wants a file with secrets to be read or passed on",
        r"\b(?:read|reading|open|opening|cat|type out|include|including|attach|attaching|send|sending|upload|uploading|copy|copying|extract|extracting|dump|dumping|print|retrieve|paste|provide|steal|collect|exfiltrate|contents? (?:of|from)|look (?:in|at|into)|search)\b…(?:\.ssh\b|\bid[^a-z0-9](?:rsa|ed25519|ecdsa|dsa)\b|\.aws[/\\ ]|\.gnupg\b|\.netrc\b|\.git-credentials\b|\.kube[/\\ ]|\.docker[/\\]config|/etc/shadow|/etc/sudoers|\.pgpass\b|\.npmrc\b|\.pypirc\b|claude_desktop_config|/proc/(?:self|[0-9]+)/environ|\.config/gcloud|application_default_credentials|authorized_keys|cookies\.sqlite|login data\b|wallet\.dat|\.(?:bash|zsh)_history|\bssh (?:private )?keys?\b|\bprivate (?:ssh )?keys?\b|\.cursor/mcp|\.claude/|\bssh id (?:rsa|ed25519))",
    ),
    (
        Danger,
        "wants a file with secrets to be read or passed on",
        r"(?:\.ssh\b|\bid[^a-z0-9](?:rsa|ed25519|ecdsa)\b|\.aws[/\\]|\.gnupg\b|\.netrc\b|\.git-credentials\b|\.kube[/\\]|/etc/shadow|claude_desktop_config|/proc/self/environ|wallet\.dat)…\b(?:and|then) (?:pass|send|include|attach|upload|append|put|copy|post|forward|add|supply|provide)\b",
    ),
    (
        Warning,
        "names a file in which people keep secrets",
        r"\.ssh\b|\bid[^a-z0-9](?:rsa|ed25519|ecdsa|dsa)\b|\.aws[/\\]|\.gnupg\b|\.netrc\b|\.git-credentials\b|\.kube[/\\]|\.docker[/\\]config|/etc/shadow|/etc/sudoers|\.pgpass\b|\.pypirc\b|claude_desktop_config|/proc/(?:self|[0-9]+)/environ|\.config/gcloud|application_default_credentials|authorized_keys|cookies\.sqlite|wallet\.dat|\.(?:bash|zsh)_history",
    ),
    (
        Warning,
        "wants a file that may hold secrets to be read or passed on",
        r"\b(?:read|reading|open|opening|cat|include|attach|send|upload|copy|extract|dump|paste|exfiltrate|contents? (?:of|from))\b…(?:(?:^|[^a-z0-9_.])\.env(?:\.[a-z]+)?\b|\bmcp\.json\b|/etc/passwd|\bkeychain\b|\.npmrc\b|\bbrowser (?:cookies|passwords|history)\b)",
    ),
    (
        Note,
        "names a file that may hold secrets",
        r"(?:^|[^a-z0-9_.)\]])\.env(?:\.[a-z]+)?\b|\bmcp\.json\b|/etc/passwd|\.npmrc\b",
    ),
    (Note, "names a place in somebody's home folder", r"~/|\$home\b|%(?:userprofile|appdata)%"),
];
