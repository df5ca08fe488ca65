//! From a name or a command to a server that may be used: pinned, accepted, compared.

use egress::refusal::remedy::shell_word;
use gateway::front::Notice;

use self::target::{Home, Target};

pub(crate) mod attachment;
pub(crate) mod conversation;
pub(crate) mod folder;
pub(crate) mod introspecting;
pub(crate) mod lock_file;
pub(crate) mod pinning;
pub(crate) mod preparing;
pub(crate) mod progress;
pub(crate) mod random;
pub(crate) mod signed;
pub(crate) mod speaking;
pub(crate) mod staged;
pub(crate) mod standing;
pub(crate) mod target;
pub(crate) mod used;
pub(crate) mod workshop;

/// Why a server cannot be used, for its client.
pub(crate) fn notice(target: &Target, reason: String, remedy: String) -> Notice {
    Notice { server: target.spec.name.to_string(), reason, remedy }
}

/// The command that makes a server ready, for a person at a terminal.
pub(crate) fn again(target: &Target) -> String {
    match target.home {
        Home::Project { .. } | Home::Operator => format!("fumehood review {}", target.name),
        // Its name is known to nobody before it is pinned.
        Home::CommandLine => {
            // This very command line: with other flags it would be another server.
            format!("fumehood {}", reviewed_line(std::env::args().skip(1), target.spec.command.len()))
        }
    }
}

/// A command line that ends with so many words of a command, without our own flags that keep a person from being asked.
fn reviewed_line(arguments: impl IntoIterator<Item = String>, of_command: usize) -> String {
    let arguments: Vec<String> = arguments.into_iter().collect();
    let ours = arguments.len().saturating_sub(of_command);
    let is_kept = |(index, word): &(usize, String)| {
        *index >= ours || !["--strict", "--unreviewed"].contains(&word.as_str())
    };
    let words: Vec<String> =
        arguments.into_iter().enumerate().filter(is_kept).map(|(_, word)| shell_word(&word)).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_for_a_person_has_every_word_but_ours_that_keep_from_asking() {
        let line =
            |text: &str, of_command: usize| reviewed_line(text.split(' ').map(str::to_owned), of_command);
        assert_eq!(line("run --strict --host a.example npx -y x", 3), "run --host a.example npx -y x");
        assert_eq!(line("run --unreviewed npx -y x", 3), "run npx -y x");
        assert_eq!(
            line("run --strict -- tool --strict --unreviewed", 3),
            "run -- tool --strict --unreviewed"
        );
    }
}
