//! The second layer over the same paths: even if a mount flag were wrong, the tool could only write where the spec
//! says. Abstract sockets and signals are scoped to the tool's own domain.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, Scope,
};

use crate::{
    failure::refuse,
    guard,
    message::{Failure, Stage},
    spec::{Entry, Spec},
};

/// Prepares the rules once, in PID 1, which itself stays outside. `None` where the kernel has no Landlock.
pub(crate) fn rules(spec: &Spec, abi: i32) -> Result<Option<RulesetCreated>, Failure> {
    let abi = ABI::from(abi);
    if abi == ABI::Unsupported || guard::off("landlock") {
        return Ok(None);
    }
    let made = make(spec, abi);
    made.map(Some).map_err(|error| refuse(Stage::Landlock, "making the Landlock rules", error.to_string()))
}

/// Confines the calling process to them, with whatever it starts.
pub(crate) fn enter(rules: RulesetCreated) -> Result<(), Failure> {
    let status = rules
        .restrict_self()
        .map_err(|error| refuse(Stage::Landlock, "entering the Landlock domain", error.to_string()))?;
    if status.ruleset == landlock::RulesetStatus::FullyEnforced {
        Ok(())
    } else {
        Err(refuse(Stage::Landlock, "entering the Landlock domain", "the kernel did not enforce all of it"))
    }
}

fn make(spec: &Spec, abi: ABI) -> Result<RulesetCreated, Box<dyn std::error::Error>> {
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(abi))?;
    let scopes = Scope::from_all(abi);
    if !scopes.is_empty() {
        ruleset = ruleset.scope(scopes)?;
    }
    let mut rules = ruleset.create()?;
    for (path, access) in grants(spec, abi) {
        rules = rules.add_rule(PathBeneath::new(PathFd::new(&path)?, access))?;
    }
    Ok(rules)
}

/// Who may do what where. A grant covers everything below its path.
fn grants(spec: &Spec, abi: ABI) -> Vec<(PathBuf, BitFlags<AccessFs>)> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir | AccessFs::Execute;
    let devices = (AccessFs::WriteFile | AccessFs::IoctlDev | AccessFs::Truncate) & AccessFs::from_all(abi);
    // No device nodes, and no connecting to a socket that the host made in a mount (from ABI 9 on).
    let never = AccessFs::MakeChar | AccessFs::MakeBlock;
    let scratch = AccessFs::from_all(abi) & !never;
    let mount = scratch & !BitFlags::from(AccessFs::ResolveUnix);
    let mut grants = vec![
        (PathBuf::from("/"), read),
        (PathBuf::from("/dev"), devices),
        (PathBuf::from("/proc"), BitFlags::from(AccessFs::WriteFile)),
    ];
    for entry in &spec.root {
        match entry {
            Entry::Tmpfs { path, .. } => grants.push((path.clone(), scratch)),
            Entry::Bind { path, write: true, .. } => {
                let access = if is_folder(path) { mount } else { mount & AccessFs::from_file(abi) };
                grants.push((path.clone(), access));
            }
            Entry::Bind { .. }
            | Entry::Dir { .. }
            | Entry::Symlink { .. }
            | Entry::Links { .. }
            | Entry::File { .. }
            | Entry::Part { .. } => {}
        }
    }
    grants
}

fn is_folder(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|facts| facts.is_dir())
}
