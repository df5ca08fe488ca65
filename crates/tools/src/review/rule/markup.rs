//! Markup that a page does not show and a model reads.

use super::patterns::{Line, Patterns};
use crate::review::{
    finding::Severity::{Danger, Note, Warning},
    text::Role,
};

pub(super) fn rule() -> Patterns {
    Patterns::new("hidden-markup", "has markup that a page does not show", &[Role::Prose], LINES)
}

const LINES: &[Line] = &[
    (
        Warning,
        "has an HTML comment, which a page does not show",
        r"<!--[^>]{0,200}?[a-z]{2,}[^a-z>]{1,3}[a-z]{2,}[^>]{0,200}(?:>|$)?",
    ),
    (
        Warning,
        "has a Markdown comment, which a page does not show",
        r"\[(?://|comment|_|#|hidden|\^)\]:[^a-z0-9]{0,3}(?:#|<>)[^\n]{0,200}",
    ),
    (
        Warning,
        "has text that is styled to be unseen",
        r#"style ?= ?["'][^"']{0,80}(?:display ?: ?none|visibility ?: ?hidden|font-size ?: ?0|opacity ?: ?0(?:[^.0-9]|$)|color ?: ?(?:white|transparent|#fff))"#,
    ),
    (
        Warning,
        "has text that is styled to be unseen",
        r"<(?:div|span|p|section|details|template|noscript)\b[^>]{0,80} (?:hidden|aria-hidden)\b[^>]{0,40}>",
    ),
    (
        Danger,
        "has an image whose address would carry data out when it is shown",
        r"!\[[^\]]{0,80}\]\(https?://[^) ]{0,200}(?:[?&#][^) ]{0,80}=|/)[^) ]{0,40}(?:\{|<|\$|%7b|\[)",
    ),
    (
        Warning,
        "has an image that is fetched when it is shown",
        r"!\[[^\]]{0,80}\]\(https?://|<img\b[^>]{0,80}src ?= ?.?https?://",
    ),
    (
        Warning,
        "has active markup",
        r"javascript:[a-z(]|<script\b[^>]{0,80}>[^<]{0,60}[(=;]|\bonerror ?=|data:text/html",
    ),
    (Note, "has a frame or a script in it", r"<(?:iframe|script|object|embed)\b"),
];
