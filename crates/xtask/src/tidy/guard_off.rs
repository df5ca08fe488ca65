//! The feature that takes guards away for the controls of attack tests never reaches a product build.

use toml::Value;

use super::Fault;
use super::manifests::{self, Manifest};
use crate::tree::Tree;

const FEATURE: &str = "guard-off";

/// Manifests that switch it on by default or by a dependency, and programs built with it under a product's name.
pub fn faults(tree: &Tree) -> Vec<Fault> {
    let (manifests, mut faults) = manifests::read(tree);
    for manifest in &manifests {
        let mut fault = |text: &str| faults.push(Fault::of_file(&manifest.path, text));
        if by_default(manifest) {
            fault("`default` leads to `guard-off`");
        }
        let kinds = ["dependencies", "dev-dependencies", "build-dependencies"];
        if kinds.iter().flat_map(|kind| manifest.dependencies(kind)).any(|(_, value)| switches_on(value)) {
            fault("a dependency is taken with `guard-off`");
        }
        if programs(manifest).any(|program| is_named_for_it(program) != requires_it(program)) {
            fault("a program is called after `guard-off` exactly when it requires it");
        }
    }
    let workspace = tree.text("Cargo.toml").and_then(|text| toml::from_str::<toml::Table>(text).ok());
    let taken = workspace.as_ref().and_then(|table| table.get("workspace")?.get("dependencies")?.as_table());
    if taken.is_some_and(|table| table.values().any(switches_on)) {
        faults.push(Fault::of_file("Cargo.toml", "a dependency is taken with `guard-off`"));
    }
    faults
}

/// Follows `default` through the manifest's own features.
fn by_default(manifest: &Manifest) -> bool {
    let features = manifest.table.get("features").and_then(Value::as_table);
    let mut open = vec!["default"];
    let mut seen = Vec::new();
    while let Some(name) = open.pop() {
        if name.split('/').next_back() == Some(FEATURE) {
            return true;
        }
        if seen.contains(&name) {
            continue;
        }
        seen.push(name);
        let more = features.and_then(|table| table.get(name)).and_then(Value::as_array).into_iter().flatten();
        open.extend(more.filter_map(Value::as_str));
    }
    false
}

fn switches_on(dependency: &Value) -> bool {
    list_holds(dependency.get("features"))
}

fn programs(manifest: &Manifest) -> impl Iterator<Item = &Value> {
    manifest.table.get("bin").and_then(Value::as_array).into_iter().flatten()
}

fn is_named_for_it(program: &Value) -> bool {
    program.get("name").and_then(Value::as_str).is_some_and(|name| name.contains(FEATURE))
}

fn requires_it(program: &Value) -> bool {
    list_holds(program.get("required-features"))
}

fn list_holds(list: Option<&Value>) -> bool {
    list.and_then(Value::as_array).into_iter().flatten().any(|value| value.as_str() == Some(FEATURE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(manifest: &str) -> usize {
        let text = format!("[package]\nname = \"a\"\n{manifest}");
        faults(&Tree::of(&[("crates/a/Cargo.toml", &text)])).len()
    }

    #[test]
    fn declaring_it_and_handing_it_on_is_fine() {
        assert_eq!(
            told("[features]\ndefault = [\"std\"]\nguard-off = [\"b/guard-off\"]\n[dependencies]\nb = \"1\""),
            0
        );
        assert_eq!(told("[[bin]]\nname = \"a-guard-off\"\nrequired-features = [\"guard-off\"]"), 0);
    }

    #[test]
    fn a_default_that_leads_to_it_is_found() {
        assert_eq!(told("[features]\ndefault = [\"guard-off\"]"), 1);
        assert_eq!(told("[features]\ndefault = [\"extra\"]\nextra = [\"b/guard-off\"]"), 1);
    }

    #[test]
    fn a_dependency_that_switches_it_on_is_found() {
        assert_eq!(told("[dev-dependencies]\nb = { version = \"1\", features = [\"guard-off\"] }"), 1);
        let root = "[workspace.dependencies]\nb = { path = \"b\", features = [\"guard-off\"] }";
        assert_eq!(faults(&Tree::of(&[("Cargo.toml", root)])).len(), 1);
    }

    #[test]
    fn a_program_under_the_wrong_name_is_found() {
        assert_eq!(told("[[bin]]\nname = \"a-guard-off\""), 1);
        assert_eq!(told("[[bin]]\nname = \"a\"\nrequired-features = [\"guard-off\"]"), 1);
    }
}
