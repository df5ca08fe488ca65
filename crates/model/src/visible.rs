//! Texts of strangers, made such that nothing in them is hidden and nothing reaches the terminal.

/// The text with every character that would not be seen as itself spelled as `<U+202E>`.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) {
            shown.extend([format!("<U+{:04X}>", u32::from(c))]);
        } else {
            shown.push(c);
        }
    }
    shown
}

/// The text as in [`visible`], no longer than `most` characters, with an ellipsis in place of what is left out.
pub fn excerpt(text: &str, most: usize) -> String {
    let short: String = text.chars().take(most).collect();
    let ellipsis = if short.len() < text.len() { "…" } else { "" };
    visible(&short) + ellipsis
}

/// Whether a character is a control or format character, a variation selector, a tag, an odd line end, or a filler
/// without a shape: whatever changes what is read without being seen (Unicode 17, categories Cc, Cf, Zl, Zp and the
/// default ignorables).
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(u32::from(c),
            0xAD | 0x34F | 0x600..=0x605 | 0x61C | 0x6DD | 0x70F | 0x890..=0x891 | 0x8E2
            | 0x115F..=0x1160 | 0x17B4..=0x17B5 | 0x180B..=0x180F
            | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0x3164
            | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFFB
            | 0x110BD | 0x110CD | 0x13430..=0x1343F | 0x1BCA0..=0x1BCA3 | 0x1D173..=0x1D17A
            | 0xE0000..=0xE0FFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_seen_is_spelled() {
        for (text, shown) in [
            ("Zürich, 東京 🌧", "Zürich, 東京 🌧"),
            ("a\u{202e}b", "a<U+202E>b"),
            ("a\u{1b}[1mb\n", "a<U+001B>[1mb<U+000A>"),
            ("\u{e0041}\u{200b}\u{fe0f}", "<U+E0041><U+200B><U+FE0F>"),
        ] {
            assert_eq!(visible(text), shown);
        }
        assert_eq!(excerpt("ab\u{7}cd", 3), "ab<U+0007>…");
        assert_eq!(excerpt("abc", 3), "abc");
    }
}
