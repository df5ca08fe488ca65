//! The rules of tidiness, held against the real tree.

use xtask::tidy::RULES;
use xtask::workspace::Workspace;

/// One test a rule, so that a broken one is told by name.
macro_rules! rules {
    ($($test:ident: $rule:literal;)*) => {
        $(
            #[test]
            fn $test() {
                let tree = Workspace::here().unwrap().tree().unwrap();
                let (_, find) = RULES.iter().find(|(name, _)| *name == $rule).expect("the rule exists");
                let faults: Vec<String> = find(&tree).iter().map(ToString::to_string).collect();
                assert!(faults.is_empty(), "{}:\n{}", $rule, faults.join("\n"));
            }
        )*

        #[test]
        fn every_rule_is_tested() {
            let tested = [$($rule),*];
            for (name, _) in RULES {
                assert!(tested.contains(name), "no test holds `{name}`");
            }
        }
    };
}

rules! {
    crate_table: "the crate table is the manifests";
    cycles: "modules do not import in a circle";
    file_sizes: "files are small";
    file_names: "files are named after what is inside";
    unfinished: "nothing is left unfinished";
    guard_off: "the test-only feature stays test-only";
    links: "links lead somewhere";
    places: "no place is named";
    promises: "every promise has its test";
    unsafe_code: "unsafe code is in sys.rs";
}
