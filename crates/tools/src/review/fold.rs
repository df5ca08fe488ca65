//! A text as it is taken rather than as it is spelled, with the way back to its bytes.

use std::ops::Range;

use crate::visible::is_hidden;

/// A folded text. Made of lower-case letters as far as there are any, with one space for any white space.
#[derive(Debug, Clone, Default)]
pub(super) struct Folded {
    text: String,
    /// For each byte of `text`, where the character it came from begins and ends in the received text.
    from: Vec<(u32, u32)>,
}

impl Folded {
    /// Folds prose.
    pub(super) fn prose(text: &str) -> Self {
        Self::new(text, false)
    }

    /// Folds a name, whose words are written together: `read_file` and `readFile` become `read file`.
    pub(super) fn name(text: &str) -> Self {
        Self::new(text, true)
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The bytes of the received text that became these bytes of the folded one.
    pub(super) fn received(&self, range: Range<usize>) -> Range<usize> {
        let begin = self.from.get(range.start).map_or(0, |(begin, _)| *begin);
        let end =
            range.end.checked_sub(1).and_then(|last| self.from.get(last)).map_or(begin, |(_, end)| *end);
        usize::try_from(begin).unwrap_or(0)..usize::try_from(end.max(begin)).unwrap_or(0)
    }

    fn new(text: &str, is_name: bool) -> Self {
        let mut folded =
            Self { text: String::with_capacity(text.len()), from: Vec::with_capacity(text.len()) };
        let mut was_lower = false;
        for (at, c) in text.char_indices() {
            let from = (at, at + c.len_utf8());
            if c.is_whitespace() || (is_name && matches!(c, '_' | '-' | '.' | '/')) {
                folded.space(from);
                was_lower = false;
                continue;
            }
            if is_hidden(c) || is_mark(c) {
                continue;
            }
            if is_name && was_lower && c.is_uppercase() {
                folded.space(from);
            }
            was_lower = c.is_lowercase() || c.is_ascii_digit();
            folded.push(plain(c), from);
        }
        folded
    }

    fn space(&mut self, from: (usize, usize)) {
        if !self.text.ends_with(' ') {
            self.push(' ', from);
        }
    }

    fn push(&mut self, c: char, (begin, end): (usize, usize)) {
        // Texts are far below 4 GiB; of a longer one the end would be marked wrongly, and still found.
        let from = (u32::try_from(begin).unwrap_or(u32::MAX), u32::try_from(end).unwrap_or(u32::MAX));
        self.text.push(c);
        self.from.extend(std::iter::repeat_n(from, c.len_utf8()));
    }
}

/// Whether a character is a mark that stands above or below another (Unicode blocks of combining marks).
pub(super) fn is_mark(c: char) -> bool {
    matches!(u32::from(c), 0x300..=0x36F | 0x483..=0x489 | 0x1AB0..=0x1AFF | 0x1DC0..=0x1DFF | 0x20D0..=0x20FF
        | 0xFE20..=0xFE2F)
}

/// The plain letter that a character looks like or is a variant of, in lower case; else the character in lower case.
fn plain(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    if let Some(letter) = look_alike(c).or_else(|| styled(c)) {
        return letter;
    }
    match c {
        '‘' | '’' | '‚' | '‛' | '′' | '＇' => '\'',
        '“' | '”' | '„' | '‟' | '″' | '«' | '»' => '"',
        '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' => '-',
        '⁄' | '∕' | '／' => '/',
        '‹' | '〈' | '⟨' => '<',
        '›' | '〉' | '⟩' => '>',
        '․' => '.',
        'à'..='å' | 'À'..='Å' | 'ā' | 'ă' | 'ą' => 'a',
        'ç' | 'Ç' | 'ć' | 'č' => 'c',
        'è'..='ë' | 'È'..='Ë' | 'ē' | 'ė' | 'ę' | 'ě' => 'e',
        'ì'..='ï' | 'Ì'..='Ï' | 'ī' | 'į' | 'ı' => 'i',
        'ñ' | 'Ñ' | 'ń' | 'ň' => 'n',
        'ò'..='ö' | 'Ò'..='Ö' | 'ø' | 'Ø' | 'ō' => 'o',
        'ù'..='ü' | 'Ù'..='Ü' | 'ū' | 'ů' => 'u',
        'ý' | 'ÿ' | 'Ý' => 'y',
        'š' | 'ś' => 's',
        'ž' | 'ź' | 'ż' => 'z',
        _ => c.to_lowercase().next().unwrap_or(c),
    }
}

/// The Latin letter, in lower case, that a letter of another alphabet cannot be told from (after Unicode's table of
/// confusables, UTS 39).
pub(super) fn look_alike(c: char) -> Option<char> {
    Some(match c {
        'а' | 'А' | 'Α' | 'ɑ' => 'a',
        'В' | 'Β' | 'Ь' => 'b',
        'с' | 'С' | 'ϲ' | 'Ϲ' => 'c',
        'ԁ' => 'd',
        'е' | 'Е' | 'Ε' | 'ҽ' => 'e',
        'ɡ' | 'ց' => 'g',
        'һ' | 'Н' | 'Η' | 'հ' => 'h',
        'і' | 'І' | 'Ι' | 'ӏ' | 'Ӏ' | 'ι' => 'i',
        'ј' | 'Ј' => 'j',
        'К' | 'Κ' | 'κ' | 'к' => 'k',
        'М' | 'Μ' => 'm',
        'Ν' | 'ո' => 'n',
        'о' | 'О' | 'ο' | 'Ο' | 'օ' => 'o',
        'р' | 'Р' | 'ρ' | 'Ρ' => 'p',
        'ԛ' => 'q',
        'ѕ' | 'Ѕ' => 's',
        'Т' | 'Τ' | 'т' => 't',
        'υ' | 'ս' => 'u',
        'ν' | 'ѵ' => 'v',
        'ԝ' | 'ѡ' => 'w',
        'х' | 'Х' | 'Χ' => 'x',
        'у' | 'У' | 'Υ' | 'ү' => 'y',
        'Ζ' => 'z',
        _ => return None,
    })
}

/// The letter or digit, in lower case, that a character is a styled variant of: full width, mathematical, circled,
/// squared.
pub(super) fn styled(c: char) -> Option<char> {
    let code = u32::from(c);
    let from = |base: char, offset: u32| char::from_u32(u32::from(base) + offset);
    match code {
        0xFF01..=0xFF5E => char::from_u32(code - 0xFF01 + 0x21).map(|c| c.to_ascii_lowercase()),
        0x1D400..=0x1D6A3 => from('a', (code - 0x1D400) % 26),
        0x1D7CE..=0x1D7FF => from('0', (code - 0x1D7CE) % 10),
        0x24B6..=0x24CF => from('a', code - 0x24B6),
        0x24D0..=0x24E9 => from('a', code - 0x24D0),
        0x1F110..=0x1F129 => from('a', code - 0x1F110),
        0x1F130..=0x1F149 => from('a', code - 0x1F130),
        0x1F150..=0x1F169 => from('a', code - 0x1F150),
        0x1F170..=0x1F189 => from('a', code - 0x1F170),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_folded_to_what_is_read_of_it() {
        for (text, folded) in [
            ("Ignore\n\n\tALL  previous", "ignore all previous"),
            ("ig\u{200b}no\u{ad}re", "ignore"),
            ("іgnоrе", "ignore"),
            ("ｉｇｎｏｒｅ 𝐢𝐠𝐧𝐨𝐫𝐞 ⓘⓖⓝⓞⓡⓔ", "ignore ignore ignore"),
            ("i\u{336}gn\u{301}ore “don’t” — é", "ignore \"don't\" - e"),
            ("Привет, 東京", "пpивet, 東京"),
        ] {
            assert_eq!(Folded::prose(text).text(), folded);
        }
        assert_eq!(Folded::name("contentFromReading_ssh-id_rsa").text(), "content from reading ssh id rsa");
        assert_eq!(Folded::name("HTTPServer").text(), "httpserver");
    }

    #[test]
    fn the_way_back_leads_to_the_bytes_as_they_were_received() {
        let text = "é ig\u{200b}nоre х";
        let folded = Folded::prose(text);
        let at = folded.text().find("ignore").unwrap();
        assert_eq!(text.get(folded.received(at..at + 6)), Some("ig\u{200b}nоre"));
        assert_eq!(folded.received(0..folded.text().len()), 0..text.len());
        assert_eq!(Folded::prose("").received(0..0), 0..0);
    }
}
