//! What a tree file pins, for people: nothing depends on it.

use crate::{npm, order::Dependency};

/// Every package of a tree file, by its name `package-lock.json` or `requirements.txt`; nothing where it is not understood.
pub fn listed(tree_name: &str, bytes: &[u8]) -> Vec<Dependency> {
    if tree_name == "package-lock.json" {
        return npm::listed(bytes);
    }
    let text = String::from_utf8_lossy(bytes);
    let pinned = text.lines().filter_map(|line| {
        let (name, rest) = line.trim().split_once("==")?;
        let version = rest.split([' ', ';', '\\']).next()?.trim();
        let plain = !name.is_empty() && !name.starts_with(['#', '-']);
        plain.then(|| Dependency { name: name.to_owned(), version: version.to_owned(), integrity: None })
    });
    pinned.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_are_listed() {
        let text = b"# made by uv\nanyio==4.9.0 ; python_version >= '3.9' \\\n    --hash=sha256:00\nmcp[cli]==1.2 \\\n";
        let found: Vec<_> =
            listed("requirements.txt", text).into_iter().map(|one| (one.name, one.version)).collect();
        assert_eq!(found, [("anyio".into(), "4.9.0".into()), ("mcp[cli]".into(), "1.2".to_owned())]);
        let lock = br#"{"lockfileVersion":3,"packages":{"":{},"node_modules/a":{"version":"1.0.0","integrity":"sha512-x"}}}"#;
        let found = listed("package-lock.json", lock);
        assert_eq!((found.len(), found[0].name.as_str(), found[0].version.as_str()), (1, "a", "1.0.0"));
        assert!(listed("package-lock.json", b"{").is_empty());
    }
}
