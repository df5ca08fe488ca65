//! What the files mean, and how their problems read.

mod callers;
mod layering;
mod network;
mod problems;
mod reviewers;
mod secrets;
mod serve;
mod tools;
mod values;

use std::path::Path;

use super::*;

/// A project in `/srv/app` of a user whose home is `/home/ann`.
fn place() -> Place<'static> {
    Place { folder: Path::new("/srv/app"), home: Some(Path::new("/home/ann")) }
}

fn project(text: &str) -> Project {
    Project::resolve("fumehood.toml", text.as_bytes(), &place())
        .unwrap_or_else(|problems| panic!("{problems}"))
}

fn operator(text: &str) -> Operator {
    Operator::resolve("config.toml", text.as_bytes(), place().home)
        .unwrap_or_else(|problems| panic!("{problems}"))
}

/// The problems of a project's file, one a line, each with its help.
fn complaints(text: &str) -> String {
    listed(Project::resolve("fumehood.toml", text.as_bytes(), &place()).unwrap_err())
}

fn operator_complaints(text: &str) -> String {
    listed(Operator::resolve("config.toml", text.as_bytes(), place().home).unwrap_err())
}

fn listed(problems: Problems) -> String {
    let lines: Vec<String> = problems
        .into_vec()
        .iter()
        .map(|problem| {
            let help = problem.help().map(|help| format!(" ({help})")).unwrap_or_default();
            format!(
                "{}:{} [{}] {}{help}",
                problem.line(),
                problem.column(),
                problem.text(),
                problem.message()
            )
        })
        .collect();
    lines.join("\n")
}

fn flags(mounts: &[&str], env: &[&str], data: Option<&str>, limits: &[&str]) -> Result<Flags, FlagErrors> {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let (mounts, env, limits) = (owned(mounts), owned(env), owned(limits));
    let texts = FlagTexts { mounts: &mounts, env: &env, data, limits: &limits, ..FlagTexts::default() };
    Flags::parse(&texts, &place())
}
