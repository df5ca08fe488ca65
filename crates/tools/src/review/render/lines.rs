//! Texts of strangers as lines of a terminal.

use std::ops::Range;

use unicode_width::UnicodeWidthChar;

use super::Look;
use crate::{
    review::{finding::Severity, fold::is_mark, shape::belongs},
    visible::{is_hidden, visible},
};

/// How a character is to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    /// Of ours, to be seen first.
    Strong,
    /// Of ours, to be seen last.
    Faint,
    Found(Severity),
    /// A severity's own name.
    Label(Severity),
    Added,
    Removed,
}

/// Lines of styled characters, of which none is hidden.
#[derive(Debug, Clone, Default)]
pub(super) struct Lines {
    lines: Vec<Vec<(char, Style)>>,
}

/// What stands before each line, so that no text of a stranger passes for one of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bar {
    /// It is ours.
    None,
    /// A stranger's.
    Strange,
    /// A stranger's, that is there as a whole.
    Added,
    /// A stranger's, that is gone as a whole.
    Removed,
}

/// Rows of hidden characters longer than this are told by their number.
const MOST_SPELLED: usize = 12;
/// Most marks on one letter that are shown as such.
const MOST_MARKS: usize = 3;

impl Style {
    /// What switches it on (ECMA-48, 8.3.117).
    fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Strong => "\u{1b}[1m",
            Self::Faint => "\u{1b}[2m",
            Self::Found(Severity::Danger) | Self::Label(Severity::Danger) => "\u{1b}[1;41;97m",
            Self::Found(Severity::Warning) | Self::Label(Severity::Warning) => "\u{1b}[1;33m",
            Self::Found(Severity::Note) | Self::Label(Severity::Note) => "\u{1b}[36m",
            Self::Added => "\u{1b}[32m",
            Self::Removed => "\u{1b}[9;31m",
        }
    }

    /// What stands around it where there are no colours.
    fn marks(self) -> (&'static str, &'static str) {
        match self {
            Self::Plain | Self::Strong | Self::Faint | Self::Label(_) => ("", ""),
            Self::Found(_) => ("⟪", "⟫"),
            Self::Added => ("{+", "+}"),
            Self::Removed => ("[-", "-]"),
        }
    }
}

impl Lines {
    /// Adds to the last line; line ends begin new ones. Hidden characters are spelled.
    pub(super) fn add(&mut self, text: &str, style: Style) {
        self.add_found(text, style, &[]);
    }

    /// Adds a text in which these bytes are to be marked.
    pub(super) fn add_found(&mut self, text: &str, style: Style, found: &[(Range<usize>, Severity)]) {
        if self.lines.is_empty() {
            self.lines.push(Vec::new());
        }
        let (mut before, mut marks, mut hidden) = (None, 0, Vec::new());
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let after = chars.peek().map(|(_, c)| *c);
            let worst =
                found.iter().filter(|(range, _)| range.contains(&at)).map(|(_, severity)| *severity).max();
            let style = worst.map_or(style, Style::Found);
            marks = if is_mark(c) { marks + 1 } else { 0 };
            let is_private = matches!(u32::from(c), 0xE000..=0xF8FF | 0xF0000..);
            let is_ours = "⟪⟫│".contains(c);
            match c {
                '\n' => self.lines.push(Vec::new()),
                '\r' if after == Some('\n') => {}
                '\t' => self.push("    ", style),
                _ if (is_hidden(c) && !belongs(before, c, after))
                    || is_private
                    || is_ours
                    || marks > MOST_MARKS =>
                {
                    hidden.push((c, style));
                }
                _ => self.push(c.encode_utf8(&mut [0; 4]), style),
            }
            let goes_on =
                chars.peek().is_some_and(|(_, c)| is_hidden(*c) && !matches!(c, '\n' | '\t' | '\r'));
            if !hidden.is_empty() && (!goes_on || after == Some('\n')) {
                self.spell(&hidden);
                hidden.clear();
            }
            before = Some(c);
        }
    }

    /// Begins a new line.
    pub(super) fn end(&mut self) {
        self.lines.push(Vec::new());
    }

    /// The lines, at most so many columns wide, `indent` columns from the left, and behind a bar.
    pub(super) fn wrapped(&self, look: Look, indent: usize, bar: Bar) -> String {
        let (bar, style) = match bar {
            Bar::None => ("", Style::Plain),
            Bar::Strange => ("│ ", Style::Faint),
            Bar::Added => ("+ ", Style::Added),
            Bar::Removed => ("- ", Style::Removed),
        };
        let columns = look.columns.max(20).saturating_sub(indent + bar.chars().count()).max(8);
        let mut begin = " ".repeat(indent);
        paint(
            &bar.chars().map(|c| (c, style)).collect::<Vec<_>>(),
            look.colour && !bar.is_empty(),
            &mut begin,
        );
        let mut text = String::new();
        let ended = self.lines.last().is_some_and(Vec::is_empty);
        for line in self.lines.iter().take(self.lines.len() - usize::from(ended)) {
            let line = if look.colour { line.clone() } else { with_marks(line) };
            for part in parts(&line, columns) {
                text.push_str(begin.as_str());
                paint(&part, look.colour, &mut text);
                text.truncate(text.trim_end_matches(' ').len());
                text.push('\n');
            }
        }
        text
    }

    fn push(&mut self, text: &str, style: Style) {
        if let Some(line) = self.lines.last_mut() {
            line.extend(text.chars().map(|c| (c, style)));
        }
    }

    fn spell(&mut self, hidden: &[(char, Style)]) {
        for (c, style) in hidden.iter().take(MOST_SPELLED) {
            let spelled = visible(&c.to_string());
            // What is hidden here only, such as the bar, is no hidden character elsewhere.
            let is_spelled = spelled.starts_with("<U+");
            self.push(&if is_spelled { spelled } else { format!("<U+{:04X}>", u32::from(*c)) }, *style);
        }
        if let Some((_, style)) = hidden.get(MOST_SPELLED) {
            self.push(&format!("<{} more hidden characters>", hidden.len() - MOST_SPELLED), *style);
        }
    }
}

/// Puts the marks of a line's styles around them.
fn with_marks(line: &[(char, Style)]) -> Vec<(char, Style)> {
    let mut marked = Vec::with_capacity(line.len());
    let mut style = Style::Plain;
    for (c, next) in line.iter().copied().map(Some).chain([None]).map(|c| c.unwrap_or(('\0', Style::Plain))) {
        if next != style {
            marked.extend(style.marks().1.chars().chain(next.marks().0.chars()).map(|c| (c, Style::Plain)));
            style = next;
        }
        if c != '\0' {
            marked.push((c, Style::Plain));
        }
    }
    marked
}

/// A line in parts of at most so many columns, parted at blanks where there are any; later parts begin where its text does.
fn parts(line: &[(char, Style)], columns: usize) -> Vec<Vec<(char, Style)>> {
    let indent = line.iter().take_while(|(c, _)| *c == ' ').count().min(columns / 2);
    let mut parts = Vec::new();
    let mut part: Vec<(char, Style)> = Vec::new();
    let (mut width, mut blank) = (0, None);
    for (c, style) in line.iter().copied() {
        let wide = c.width().unwrap_or(0);
        if width + wide > columns {
            // The blank itself is not carried over.
            let carried = match blank {
                Some(at) if at > indent => part.split_off(at + 1),
                _ => Vec::new(),
            };
            parts.push(std::mem::take(&mut part));
            part.extend(std::iter::repeat_n((' ', Style::Plain), indent));
            part.extend(carried);
            width = part.iter().map(|(c, _)| c.width().unwrap_or(0)).sum();
            blank = None;
            if c == ' ' && part.len() <= indent {
                continue;
            }
        }
        if c == ' ' {
            blank = Some(part.len());
        }
        part.push((c, style));
        width += wide;
    }
    parts.push(part);
    parts
}

fn paint(part: &[(char, Style)], colour: bool, text: &mut String) {
    const RESET: &str = "\u{1b}[0m";
    let mut style = Style::Plain;
    for (c, next) in part {
        if colour && *next != style {
            text.push_str(if style == Style::Plain { "" } else { RESET });
            text.push_str(next.code());
            style = *next;
        }
        text.push(*c);
    }
    if colour && style != Style::Plain {
        text.push_str(RESET);
    }
}
