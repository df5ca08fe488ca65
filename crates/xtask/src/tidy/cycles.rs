//! Modules of one crate do not import in a circle.
//!
//! Looked at among brothers: for every module, the modules directly below it, each with all that lies below. What a
//! module and its own parent import from one another is not counted: they are one thing in two files.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, TokenTree};

use super::{Fault, tokens};
use crate::tree::Tree;

type Path = Vec<String>;

/// Who imports from whom among brothers, and where that is seen first (`file:line`).
type Graph = BTreeMap<String, BTreeMap<String, String>>;

/// Circles, each told once, at a file of the module it begins with.
pub fn faults(tree: &Tree) -> Vec<Fault> {
    let mut crates: BTreeMap<&str, BTreeMap<Path, (&str, &str)>> = BTreeMap::new();
    for (file, text) in tree.rust() {
        if let Some((source, module)) = module_of(file) {
            crates.entry(source).or_default().insert(module, (file, text));
        }
    }
    crates.values().flat_map(in_crate).collect()
}

fn in_crate(modules: &BTreeMap<Path, (&str, &str)>) -> Vec<Fault> {
    let mut edges: BTreeMap<Path, Graph> = BTreeMap::new();
    for (module, (file, text)) in modules {
        let mut paths = Vec::new();
        collect(&tokens::without_tests(tokens::of(text)), module, &mut paths);
        for (path, line) in &paths {
            let Some(target) = longest_module(path, modules) else { continue };
            let depth = module.iter().zip(&target).take_while(|(a, b)| a == b).count();
            if let (Some(from), Some(to), Some(parent)) =
                (module.get(depth), target.get(depth), module.get(..depth))
            {
                let graph = edges.entry(parent.to_vec()).or_default();
                let seen = || format!("{file}:{line}");
                graph.entry(from.clone()).or_default().entry(to.clone()).or_insert_with(seen);
            }
        }
    }
    let mut faults = Vec::new();
    for (parent, graph) in &edges {
        for circle in circles(graph) {
            let mut first = parent.clone();
            first.extend(circle.first().cloned());
            let file = modules.get(&first).map_or("", |(file, _)| file);
            faults
                .push(Fault::of_file(file, format!("modules import in a circle: {}", tell(graph, &circle))));
        }
    }
    faults
}

/// The source folder and module path of a file; none for what is not part of a library or program, and for tests.
fn module_of(file: &str) -> Option<(&str, Path)> {
    let at = file.find("/src/")? + "/src".len();
    let (source, inside) = (file.get(..at)?, file.get(at + 1..)?.strip_suffix(".rs")?);
    let mut module: Path = inside.split('/').map(str::to_owned).collect();
    if module.first().is_some_and(|name| name == "bin") || module.last().is_some_and(|name| name == "tests") {
        return None;
    }
    if module.len() == 1 && matches!(inside, "lib" | "main") {
        module.clear();
    }
    Some((source, module))
}

/// All paths that begin with `crate`, `self` or `super`, as module paths from the top.
fn collect(trees: &[TokenTree], module: &Path, found: &mut Vec<(Path, usize)>) {
    let mut index = 0;
    while let Some(tree) = trees.get(index) {
        index += 1;
        match tree {
            TokenTree::Group(group) => collect(&tokens::without_tests(group.stream()), module, found),
            TokenTree::Ident(word) => {
                let Some(base) = base(&word.to_string(), module) else { continue };
                follow(trees.get(index..).unwrap_or_default(), (base, word.span().start().line), found);
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

fn base(word: &str, module: &Path) -> Option<Path> {
    match word {
        "crate" => Some(Vec::new()),
        "self" => Some(module.clone()),
        "super" => module.split_last().map(|(_, parent)| parent.to_vec()),
        _ => None,
    }
}

/// Reads `::name::name` or `::{…}` after `path`.
fn follow(rest: &[TokenTree], (mut path, line): (Path, usize), found: &mut Vec<(Path, usize)>) {
    let mut rest = rest;
    while let [TokenTree::Punct(a), TokenTree::Punct(b), next, after @ ..] = rest {
        if a.as_char() != ':' || b.as_char() != ':' {
            break;
        }
        match next {
            TokenTree::Ident(word) if *word == "super" => {
                path.pop();
            }
            TokenTree::Ident(word) => path.push(word.to_string()),
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                for part in inner.split(|tree| matches!(tree, TokenTree::Punct(p) if p.as_char() == ',')) {
                    if let Some((TokenTree::Ident(word), more)) = part.split_first() {
                        let mut path = path.clone();
                        if *word != "self" {
                            path.push(word.to_string());
                        }
                        follow(more, (path, line), found);
                    }
                }
                return;
            }
            _ => break,
        }
        rest = after;
    }
    found.push((path, line));
}

fn longest_module(path: &Path, modules: &BTreeMap<Path, (&str, &str)>) -> Option<Path> {
    (1..=path.len())
        .rev()
        .filter_map(|length| path.get(..length))
        .find(|path| modules.contains_key(*path))
        .map(<[_]>::to_vec)
}

/// Every circle through the smallest name in it, one a group of modules that reach one another.
fn circles(graph: &Graph) -> Vec<Vec<String>> {
    let mut told: BTreeSet<String> = BTreeSet::new();
    let mut circles = Vec::new();
    for start in graph.keys() {
        if told.contains(start) {
            continue;
        }
        if let Some(circle) = way_back(graph, start) {
            told.extend(circle.iter().cloned());
            circles.push(circle);
        }
    }
    circles
}

/// The shortest way from a module to itself.
fn way_back(graph: &Graph, start: &str) -> Option<Vec<String>> {
    let mut open = std::collections::VecDeque::from([vec![start.to_owned()]]);
    let mut seen = BTreeSet::new();
    while let Some(way) = open.pop_front() {
        for next in way.last().and_then(|last| graph.get(last)).into_iter().flat_map(BTreeMap::keys) {
            let mut longer = way.clone();
            longer.push(next.clone());
            if next == start {
                return Some(longer);
            }
            if seen.insert(next) {
                open.push_back(longer);
            }
        }
    }
    None
}

/// `a → b (where) → a (where)`.
fn tell(graph: &Graph, circle: &[String]) -> String {
    let steps = circle.windows(2).filter_map(|pair| {
        let [from, to] = pair else { return None };
        let place = graph.get(from)?.get(to)?;
        Some(format!("{to} ({place})"))
    });
    circle.first().cloned().into_iter().chain(steps).collect::<Vec<_>>().join(" → ")
}

#[cfg(test)]
mod tests;
