//! Hidden characters that are part of something seen.

/// Whether a hidden character belongs where it stands: it shapes a pictograph, or joins letters of a script that needs
/// that.
pub(super) fn belongs(before: Option<char>, c: char, after: Option<char>) -> bool {
    let (before, after) = (before.unwrap_or(' '), after.unwrap_or(' '));
    match c {
        '\u{fe0e}' | '\u{fe0f}' => is_pictograph(before) || after == '\u{20e3}',
        '\u{20e3}' => true,
        '\u{200d}' => {
            let is_shaped = before == '\u{fe0f}' || matches!(before, '\u{1f3fb}'..='\u{1f3ff}');
            (is_pictograph(before) || is_shaped) && is_pictograph(after) || joins_letters(before, after)
        }
        '\u{200c}' => joins_letters(before, after),
        _ => false,
    }
}

/// Arabic and its neighbours, and the scripts of India, join letters by such characters.
fn joins_letters(before: char, after: char) -> bool {
    let needs = |c: char| matches!(u32::from(c), 0x600..=0x8FF | 0x900..=0xDFF | 0xFB50..=0xFDFF);
    needs(before) && needs(after)
}

fn is_pictograph(c: char) -> bool {
    matches!(u32::from(c), 0xA9 | 0xAE | 0x203C | 0x2049 | 0x2122 | 0x2139 | 0x2190..=0x2BFF | 0x3030 | 0x303D | 0x3297
        | 0x3299 | 0x1F000..=0x1FAFF)
}
