//! The reference page, made from the table.

use super::rule::{Answer, Rule};
use super::table::{Call, Family, Verdict, families};

const HEAD: &str = "\
# System calls

Made from the table in `crates/jail/src/seccomp`; do not edit. To write it anew after a change there:
`FUMEHOOD_BLESS=1 cargo test -p jail reference_page`.

Every process in a cell runs under this filter, and so does everything it starts. A call is done, or it fails with an
error number; the filter never kills.

* *allowed*: the kernel does it, with its own checks.
* *refused*: `EPERM`.
* *absent*: `ENOSYS`, as from a kernel without the call, because programs have a fallback for that.
* *by rule*: it depends on the arguments; see [the rules](#rules).

A number that is not listed, a call by another architecture's door (`int 0x80` on x86_64) and an x32 number answer
`ENOSYS`.

Known costs: the set-group-id bit on *folders* cannot be told from the one on programs, so `chmod g+s` and
`git init --shared` fail in a cell; debuggers, `strace` and `perf` do not work; Chromium needs `--no-sandbox`, since
its own sandbox is made of namespaces (the cell stands in for it); databases lose Linux's asynchronous I/O.
";

/// The reference page: every call with its verdict and reason, and the rules.
pub fn markdown() -> String {
    let mut page = HEAD.to_owned();
    for family in families() {
        family_section(&mut page, family);
    }
    page.push_str("\n## Rules\n\nThe first line that fits decides.\n");
    for rule_calls in by_rule() {
        rule_section(&mut page, &rule_calls);
    }
    page
}

fn family_section(page: &mut String, family: &Family) {
    put(page, format_args!("\n## {}\n\n| call | verdict | why |\n|---|---|---|\n", family.title));
    for call in family.calls {
        let verdict = match call.verdict {
            Verdict::Allow => "allowed",
            Verdict::Refuse => "refused",
            Verdict::Absent => "absent",
            Verdict::Filtered(_) => "by rule",
        };
        put(page, format_args!("| `{}` | {verdict} | {} |\n", call.name(), call.reason));
    }
}

/// Calls that share a rule, in the table's order.
fn by_rule() -> Vec<(&'static Rule, Vec<&'static Call>)> {
    let mut found: Vec<(&'static Rule, Vec<&'static Call>)> = Vec::new();
    for call in families().iter().flat_map(|family| family.calls) {
        let Verdict::Filtered(rule) = call.verdict else { continue };
        match found.iter_mut().find(|(known, _)| *known == rule) {
            Some((_, calls)) => calls.push(call),
            None => found.push((rule, vec![call])),
        }
    }
    found
}

fn rule_section(page: &mut String, (rule, calls): &(&Rule, Vec<&Call>)) {
    let names: Vec<String> = calls.iter().map(|call| format!("`{}`", call.name())).collect();
    put(page, format_args!("\n### {}\n\n| case | answer |\n|---|---|\n", names.join(", ")));
    for clause in rule.clauses {
        put(page, format_args!("| {} | {} |\n", clause.says, said(clause.answer)));
    }
    put(page, format_args!("| everything else | {} |\n", said(rule.otherwise)));
}

fn said(answer: Answer) -> String {
    match answer {
        Answer::Allow => "allowed".to_owned(),
        Answer::Errno(libc::EPERM) => "`EPERM`".to_owned(),
        Answer::Errno(libc::EINVAL) => "`EINVAL`".to_owned(),
        Answer::Errno(libc::EAFNOSUPPORT) => "`EAFNOSUPPORT`".to_owned(),
        Answer::Errno(libc::EPROTONOSUPPORT) => "`EPROTONOSUPPORT`".to_owned(),
        Answer::Errno(libc::ESOCKTNOSUPPORT) => "`ESOCKTNOSUPPORT`".to_owned(),
        Answer::Errno(libc::EOPNOTSUPP) => "`EOPNOTSUPP`".to_owned(),
        Answer::Errno(other) => format!("errno {other}"),
    }
}

fn put(page: &mut String, text: std::fmt::Arguments<'_>) {
    page.push_str(&text.to_string());
}
