//! Starting one process inside, in the one order that works: ceilings → capabilities → no_new_privs → Landlock →
//! seccomp → exec. A step that fails ends the child before the program begins, and is told as a typed failure.

use std::{
    fs::File,
    io::{Read, Seek, Write},
    os::{fd::OwnedFd, unix::process::CommandExt},
    process::Command,
};

use landlock::RulesetCreated;
use rustix::{
    pipe::{PipeFlags, pipe_with},
    process::{Resource, Rlimit, setrlimit},
    stdio::{dup2_stderr, dup2_stdin, dup2_stdout},
    thread::{CapabilitySet, CapabilitySets},
};

use crate::{
    failure::{Step, fail, refuse},
    guard, landlock as domain,
    message::{Failure, Stage},
    seccomp,
    spec::{Process, Rlimits, Spec},
    sys::{self, Fork},
};

/// 0, 1 and 2 are the tool's; every other fd closes at exec, the pipe that tells of a failed start among them.
const FIRST_CLOSED: u32 = 3;

/// What a child says right before the program begins: one that ended earlier, by whatever, was never started.
const BEGINS: u8 = b'!';

/// Starts a process with the four fds of an order. Returns its pid inside.
pub(crate) fn start(spec: &Spec, rules: Option<&RulesetCreated>, fds: Vec<OwnedFd>) -> Result<i32, Failure> {
    let Ok([stdin, stdout, stderr, told]) = <[OwnedFd; 4]>::try_from(fds) else {
        return Err(refuse(Stage::Spec, "starting a process", "an order to start carries four fds"));
    };
    let process = read(File::from(told))?;
    let rules = rules.map(RulesetCreated::try_clone).transpose();
    let rules = rules.step(Stage::Landlock, || "sharing the Landlock rules".into())?;
    let (failed, failing) = pipe_with(PipeFlags::CLOEXEC).step(Stage::Exec, || "making a pipe".into())?;
    let mut failing = File::from(failing);
    match sys::fork_into(0, None)
        .step(Stage::Exec, || format!("starting a process for {}", name(&process)))?
    {
        Fork::Child => {
            let failure = become_tool(spec, rules, [&stdin, &stdout, &stderr], &process, &mut failing);
            if let Ok(text) = serde_json::to_vec(&failure) {
                // A failure that cannot be written is read as one that cannot be parsed, which the reader says.
                drop(failing.write_all(&text));
            }
            sys::exit_now(127);
        }
        Fork::Parent(pid) => {
            drop(failing);
            let mut text = Vec::new();
            File::from(failed).read_to_end(&mut text).step(Stage::Exec, || "hearing of the start".into())?;
            let failure = match text.split_first() {
                Some((&BEGINS, [])) => return Ok(pid),
                Some((&BEGINS, failure)) => failure,
                Some(_) => text.as_slice(),
                None => {
                    let cause = "the child ended before the program began";
                    return Err(refuse(Stage::Spec, "starting the program", cause));
                }
            };
            Err(serde_json::from_slice(failure)
                .unwrap_or_else(|error| refuse(Stage::Exec, "starting the program", error.to_string())))
        }
    }
}

fn read(mut told: File) -> Result<Process, Failure> {
    let mut text = Vec::new();
    told.rewind().step(Stage::Spec, || "reading what to start".into())?;
    told.read_to_end(&mut text).step(Stage::Spec, || "reading what to start".into())?;
    let process: Process = serde_json::from_slice(&text)
        .map_err(|error| refuse(Stage::Spec, "reading what to start", error.to_string()))?;
    if process.argv.is_empty() {
        return Err(refuse(Stage::Spec, "reading what to start", "no program is named"));
    }
    Ok(process)
}

fn name(process: &Process) -> &str {
    process.argv.first().map_or("", String::as_str)
}

/// Returns only when it failed.
fn become_tool(
    spec: &Spec,
    rules: Option<RulesetCreated>,
    [stdin, stdout, stderr]: [&OwnedFd; 3],
    process: &Process,
    telling: &mut File,
) -> Failure {
    let confined = settle()
        .and_then(|()| take_stdio(stdin, stdout, stderr))
        .and_then(|()| limit(&spec.rlimits))
        .and_then(|()| drop_capabilities())
        .and_then(|()| enter_folder(process))
        .and_then(|()| set_no_new_privileges())
        .and_then(|()| rules.map_or(Ok(()), domain::enter))
        .and_then(|()| install_filter());
    if let Err(failure) = confined {
        return failure;
    }
    let mut command = Command::new(name(process));
    command.args(process.argv.iter().skip(1)).env_clear();
    command.envs(process.env.iter().filter_map(|pair| pair.split_once('=')));
    if let Err(error) = telling.write_all(&[BEGINS]) {
        return fail(Stage::Exec, "telling of the start".into(), &error);
    }
    let error = command.exec();
    fail(Stage::Exec, format!("running `{}`", name(process)), &error)
}

/// A session and process group of its own, no controlling terminal, default signals.
fn settle() -> Result<(), Failure> {
    if !guard::off("session") {
        rustix::process::setsid().step(Stage::Exec, || "making a session".into())?;
    }
    sys::reset_signals().step(Stage::Exec, || "resetting signals".into())
}

fn take_stdio(stdin: &OwnedFd, stdout: &OwnedFd, stderr: &OwnedFd) -> Result<(), Failure> {
    let step = || "arranging the fds".to_owned();
    dup2_stdin(stdin).step(Stage::Exec, step)?;
    dup2_stdout(stdout).step(Stage::Exec, step)?;
    dup2_stderr(stderr).step(Stage::Exec, step)?;
    if guard::off("close-fds") {
        return Ok(());
    }
    sys::close_at_exec_from(FIRST_CLOSED).step(Stage::Exec, step)
}

fn limit(limits: &Rlimits) -> Result<(), Failure> {
    // PID 1 counts too.
    let processes = limits.processes.saturating_add(1);
    let ceilings = [
        (Resource::Nofile, limits.open_files, "open files", "rlimit-nofile"),
        (Resource::Fsize, limits.file_size, "file size", "rlimit-fsize"),
        (Resource::Nproc, processes, "processes", "rlimit-nproc"),
        (Resource::Core, 0, "core size", "rlimit-core"),
    ];
    for (resource, ceiling, words, name) in ceilings {
        if guard::off(name) {
            continue;
        }
        let step = || format!("setting the ceiling of {words} to {ceiling}");
        let hard = sys::hard_limit(resource).step(Stage::Rlimits, step)?;
        let value = Some(ceiling.min(hard));
        setrlimit(resource, Rlimit { current: value, maximum: value }).step(Stage::Rlimits, step)?;
    }
    Ok(())
}

fn drop_capabilities() -> Result<(), Failure> {
    let step = || "emptying the capability sets".to_owned();
    if guard::off("capabilities") {
        return keep_capabilities().step(Stage::Capabilities, step);
    }
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    rustix::thread::set_capabilities(None, sets).step(Stage::Capabilities, step)
}

/// Only for the control of an attack test: hands everything PID 1 has on to the tool.
fn keep_capabilities() -> rustix::io::Result<()> {
    let mut sets = rustix::thread::capabilities(None)?;
    sets.inheritable = sets.permitted;
    rustix::thread::set_capabilities(None, sets)?;
    for one in sets.permitted.iter() {
        rustix::thread::configure_capability_in_ambient_set(one, true)?;
    }
    Ok(())
}

fn enter_folder(process: &Process) -> Result<(), Failure> {
    if guard::off("root") {
        // On the host there may be no such folder.
        return Ok(());
    }
    rustix::process::chdir(&process.cwd).step(Stage::Exec, || format!("entering {}", process.cwd.display()))
}

fn set_no_new_privileges() -> Result<(), Failure> {
    if guard::off("no-new-privs") {
        return Ok(());
    }
    rustix::thread::set_no_new_privs(true).step(Stage::NoNewPrivileges, || "setting no_new_privs".into())
}

fn install_filter() -> Result<(), Failure> {
    let program = seccomp::program();
    if guard::off("seccomp") {
        return Ok(());
    }
    seccomp::install(&program).step(Stage::Seccomp, || "installing the system-call filter".into())
}
