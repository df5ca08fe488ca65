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
        Warning,
        "names a file that may hold secrets, and an address",
        r"(?:(?:^|[^a-z0-9_.])\.env\b|\bmcp\.json\b|/etc/passwd|\.ssh\b|\.aws[/\\])…\b(?:https?|ftp|wss?)://",
    ),
    (
        Warning,
        "wants files of the user to be passed on",
        r"\b(?:include|send|pass|attach|paste|upload|provide|append|copy|read|put)\b…\b(?:user'?s?|their) (?:[a-z]{1,12} ){0,2}?(?:private|home|desktop|documents|downloads|config(?:uration)?|browser|secret|personal) (?:[a-z]{1,12} ){0,2}?(?:director(?:y|ies)|folders?|files?|profile|history|data)\b",
    ),
    (
        Warning,
        "wants a file to be read and passed on",
        r"\b(?:read|open|cat|load)\b…\b(?:and|then) (?:pass|send|include|attach|put|paste|provide|supply|upload|forward) (?:it|(?:its|the|their|the file's|all of the) contents?)\b",
    ),
    (
        Warning,
        "wants a setting of the user's shell to be changed",
        r"\b(?:update|modify|append|write|edit|add|change|insert)\b…\.(?:bashrc|zshrc|bash_profile|zprofile|profile)\b",
    ),
    (Note, "speaks of keys for SSH", r"\bssh (?:private )?keys?\b"),
    (
        Note,
        "names a file that may hold secrets",
        r"(?:^|[^a-z0-9_.)\]])\.env(?:\.[a-z]+)?\b|\bmcp\.json\b|/etc/passwd|\.npmrc\b",
    ),
    (Note, "names a place in somebody's home folder", r"~/|\$home\b|%(?:userprofile|appdata)%"),
];
