//! What goes to stderr for a person, and what a terminal must not be made to do.

use std::io::{self, IsTerminal, Write};

/// One line under our name. A stderr that is closed keeps nobody from working.
pub(crate) fn say(line: &str) {
    say_whole(&format!("fumehood: {}", harmless(line)));
}

/// A question, on whose line the answer is typed.
pub(crate) fn ask(question: &str) {
    let mut out = io::stderr().lock();
    write!(out, "fumehood: {}", harmless(question)).and_then(|()| out.flush()).ok();
}

/// A text as it is, with a line end.
pub(crate) fn say_whole(text: &str) {
    writeln!(io::stderr().lock(), "{text}").ok();
}

/// Control characters made visible, but for tab and line end: a log must not move the cursor or set a title.
pub(crate) fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() && c != '\t' && c != '\n' {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Whether stdout may be coloured: it is a terminal, and `NO_COLOR` is unset or empty (no-color.org).
pub(crate) fn colour() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Writes to stdout; a reader that went away is no error of ours.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

/// Columns of a table, padded; trailing blanks are left out.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_are_shown_not_obeyed() {
        assert_eq!(harmless("a\u{1b}[2Jb\tc\r\n"), "a\\u{1b}[2Jb\tc\\r\n");
    }
}
