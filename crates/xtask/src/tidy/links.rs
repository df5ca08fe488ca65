//! Links in Markdown files to files of the repository.

use super::Fault;
use crate::tree::{Tree, has_extension};

/// Links to files or folders that are not there.
pub fn faults(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| has_extension(path, "md")) {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut in_code = false;
        for (index, line) in text.lines().enumerate() {
            if line.trim_start().starts_with("```") {
                in_code = !in_code;
            }
            if in_code {
                continue;
            }
            for target in targets(line) {
                if !resolve(folder, target).is_some_and(|file| tree.holds(&file)) {
                    faults.push(Fault::at(path, index + 1, format!("`{target}` is not there")));
                }
            }
        }
    }
    faults
}

/// The `target` of every `[text](target)` that is a file: no other site, no heading of the same page.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| {
        let target = rest.split([')', ' ']).next()?;
        let file = target.split('#').next()?;
        (!file.is_empty() && !target.contains("://") && !target.starts_with("mailto:")).then_some(file)
    })
}

/// A path from the top of the repository; none when it leads out of it.
fn resolve(folder: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_links_are_found_and_whole_ones_are_not() {
        let page = "[a](b.md) [c](../README.md#x) [d](gone.md) [e](https://example.org/x) [f](#here)\n\
                    [g](../../outside.md) [folder](../docs)\n```\n[h](gone.md)\n```\n";
        let tree = Tree::of(&[("docs/a.md", page), ("docs/b.md", ""), ("README.md", "")]);
        let found: Vec<_> = faults(&tree).into_iter().map(|fault| (fault.line, fault.text)).collect();
        assert_eq!(
            found,
            [(1, "`gone.md` is not there".into()), (2, "`../../outside.md` is not there".into())]
        );
    }
}
