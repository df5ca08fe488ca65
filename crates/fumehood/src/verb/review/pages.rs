//! What a review shows: page by page at a terminal, whole where there is none.

use std::io::{self, BufRead, IsTerminal};

use rustix::termios::tcgetwinsize;
use tools::review::{
    Engine, diff,
    render::{self, DiffReport, Look, Page, Report},
};

use super::{Case, Target};
use crate::terminal;

/// What a person said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// Yes.
    Accept,
    /// No.
    Reject,
    /// Neither.
    Later,
}

/// Columns where no terminal says how many there are.
const COLUMNS: usize = 100;

/// Everything, on stdout.
pub(super) fn print(target: &Target, case: &Case) -> anyhow::Result<()> {
    let look = Look { columns: COLUMNS, colour: terminal::colour() };
    let mut text = format!("{}\n", head(target, case).join("\n"));
    for page in pages(case, &look) {
        text.extend(["\n== ", &page.title, "\n", &page.text]);
    }
    terminal::print(&text)
}

/// Page by page on stderr, and the question at the end, when every page was shown.
pub(super) fn ask(target: &Target, case: &Case) -> anyhow::Result<Answer> {
    // Some terminals do not know how wide they are, and say 0.
    let columns = tcgetwinsize(io::stderr()).map_or(0, |size| usize::from(size.ws_col));
    let columns = if columns == 0 { COLUMNS } else { columns };
    let colour =
        io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let pages = pages(case, &Look { columns, colour });
    for line in head(target, case) {
        terminal::say_whole(&line);
    }
    let count = pages.len();
    for (at, page) in pages.iter().enumerate() {
        terminal::say_whole(&format!("\n== {} ({} of {count})\n{}", page.title, at + 1, page.text));
        if at + 1 < count {
            terminal::ask("[Enter] next page, [s] the rest at once, [q] decide later: ");
            match line()?.as_deref() {
                Some("q") | None => return Ok(Answer::Later),
                Some("s") => {
                    for (at, page) in pages.iter().enumerate().skip(at + 1) {
                        terminal::say_whole(&format!(
                            "\n== {} ({} of {count})\n{}",
                            page.title,
                            at + 1,
                            page.text
                        ));
                    }
                    break;
                }
                Some(_) => {}
            }
        }
    }
    loop {
        terminal::ask(&format!("accept {}? [y] yes, [n] no, reject it, [q] decide later: ", target.name));
        match line()?.as_deref() {
            Some("y" | "yes") => return Ok(Answer::Accept),
            Some("n" | "no") => return Ok(Answer::Reject),
            Some("q" | "quit") | None => return Ok(Answer::Later),
            Some(_) => terminal::say("write y, n or q"),
        }
    }
}

/// One line of an answer; none at the end of stdin.
fn line() -> anyhow::Result<Option<String>> {
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer)?;
    Ok((read > 0).then(|| answer.trim().to_lowercase()))
}

/// For programs.
pub(super) fn json(case: &Case) -> anyhow::Result<serde_json::Value> {
    let after = &case.wanted.surface;
    Ok(if let Some(before) = &case.before {
        let diff = diff(&before.surface, after);
        serde_json::to_value(DiffReport::of(&before.surface, after, &diff))?
    } else {
        let findings = Engine::standard().findings(after);
        serde_json::to_value(Report::of(after, &findings))?
    })
}

/// What stands before the pages. Facts may hold words of a server or a package.
fn head(target: &Target, case: &Case) -> Vec<String> {
    let mut lines = vec![format!("{}: {}", target.name, summary(case))];
    lines.extend(case.facts.iter().map(|fact| format!("  {}", tools::visible::visible(fact))));
    lines.push(format!("  fingerprint: {}", case.wanted.pinned.fingerprint));
    if let Some(before) = &case.before {
        lines.push(format!("  accepted was: {}", before.pinned.fingerprint));
    }
    lines
}

fn summary(case: &Case) -> String {
    let after = &case.wanted.surface;
    match &case.before {
        Some(before) => render::diff_summary(&diff(&before.surface, after)),
        None => render::summary(after, &Engine::standard().findings(after)),
    }
}

fn pages(case: &Case, look: &Look) -> Vec<Page> {
    let after = &case.wanted.surface;
    match &case.before {
        Some(before) => render::diff_pages(&diff(&before.surface, after), look),
        None => render::pages(after, &Engine::standard().findings(after), look),
    }
}
