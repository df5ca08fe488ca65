//! What the newest release of a package is, and what its index says of the one in use.

use super::{RESOLVE, fault, flags::Flags, requirement::Requirement, tree_file::Resolution};
use crate::{
    ask::{Answer, AskError, ask_all},
    newest::{Newest, NewestError, moment},
    words::{Asked, Client},
};

/// Asks uv, which reads the index and builds nothing.
pub(crate) fn newest(asked: &Asked, current: &str) -> Result<Newest, NewestError> {
    let unnamed = NewestError::Unnamed { runner: Client::Uv.runner() };
    let Some(main) = asked.main.as_deref().and_then(Requirement::read) else { return Err(unnamed) };
    let strange = |why: &str| NewestError::Strange {
        program: asked.program.clone(),
        package: main.name.clone(),
        why: why.to_owned(),
    };
    let answer = resolve(asked, &main.text)?;
    let resolution = Resolution::parse(&answer.stdout).map_err(|why| strange(&why))?;
    let (version, released) =
        resolution.release(&main.name).ok_or_else(|| strange("its resolution has not the package"))?;
    let newest = Newest {
        version: version.to_owned(),
        released: released.and_then(|time| moment(&time)),
        withdrawn: withdrawn(&answer),
        current_withdrawn: None,
    };
    if newest.version == current {
        return Ok(Newest { current_withdrawn: newest.withdrawn.clone(), ..newest });
    }
    let pinned =
        Requirement::read(&format!("{}=={current}", main.name)).ok_or_else(|| strange("no version"))?;
    let current_withdrawn = match resolve(asked, &pinned.text) {
        Ok(answer) => withdrawn(&answer),
        Err(AskError::Failed { told, .. }) if told.contains("there is no version of") => {
            Some(format!("`{}` is not there any more", pinned.text))
        }
        Err(error) => return Err(error.into()),
    };
    Ok(Newest { current_withdrawn, ..newest })
}

fn resolve(asked: &Asked, requirement: &str) -> Result<Answer, AskError> {
    let flags = Flags::of(asked).unwrap_or_default();
    let mut arguments = [&RESOLVE[..], &["--no-deps"]].concat();
    arguments.extend(flags.python.iter().flat_map(|python| ["--python", python]));
    arguments.extend(flags.choosing.iter().chain(&flags.indexes).map(String::as_str));
    arguments.push("-");
    ask_all(&asked.program, &arguments, requirement)
}

/// What uv warns of, where it is that the release was taken back.
fn withdrawn(answer: &Answer) -> Option<String> {
    answer.stderr.lines().filter_map(fault::warning).find(|told| told.contains(" is yanked"))
}
