//! From a name or a command to a server that may be used: pinned, accepted, compared.

use egress::refusal::remedy::shell_word;
use gateway::front::Notice;

use self::target::{Home, Target};

pub(crate) mod attachment;
pub(crate) mod conversation;
pub(crate) mod finding;
pub(crate) mod introspecting;
pub(crate) mod lock_file;
pub(crate) mod pinning;
pub(crate) mod preparing;
pub(crate) mod progress;
pub(crate) mod random;
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
            let words: Vec<String> = std::env::args()
                .skip(1)
                .filter(|word| word != "--strict")
                .map(|word| shell_word(&word).to_string())
                .collect();
            format!("fumehood {}", words.join(" "))
        }
    }
}
