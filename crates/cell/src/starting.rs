//! From a description to a running cell, and from a running cell to one more process in it.

use std::{collections::BTreeMap, path::PathBuf, rc::Rc, sync::Arc};

use cell_api::{
    error::{ErrorBody, ErrorCode},
    event::EventKind,
    info::CellState,
    order::LogMark,
    spec::{CellSpec, ProcessSpec},
};
use jail::{
    message::{Failure, Stage},
    spec::{self as asked, Entry},
};
use model::{
    exit::Cause,
    layer::{Layer, LayerName, LayerState},
};
use sandbox::{
    cgroup::Hierarchies,
    host::{Host, MountError, PlanError},
    plan::{self, MadeFile, PrepareError, Prepared},
    process::{Control, OrderError, Running, Sandbox, StartError},
};

use crate::{
    cell::{Cell, Wish},
    confinement, ending,
    folders::make_private,
    keys::{self, Keys},
    network::{self, Inside},
    owner::ProcessMark,
    package,
    process::Process,
    searching::Search,
    trust::Trust,
    watches,
};

/// Builds the cell and starts its main process. Whatever goes wrong, nothing of it is left.
pub(crate) async fn start(cell: Rc<Cell>) -> Result<(), ErrorBody> {
    let mut wishes = cell.wishes();
    let outcome = tokio::select! {
        biased;
        built = build(&cell) => built,
        _ = wishes.wait_for(Option::is_some) => {
            Err((Cause::OwnerGone, ErrorBody::new(ErrorCode::State, "the cell was ended while it was built")))
        }
    };
    match outcome {
        Ok(()) => {
            // A wish that came together with the success was seen by nobody yet.
            let wish = *cell.wishes().borrow();
            if let Some(wish) = wish {
                cell.wish_again(wish);
            }
            Ok(())
        }
        Err((cause, refusal)) => {
            let cause = match *cell.wishes().borrow() {
                Some(Wish::AtOnce(cause)) => cause,
                _ => cause,
            };
            cell.log_line(LogMark::Fumehood, &format!("not started: {}", refusal.message));
            ending::finish(&cell, (cause, None));
            Err(refusal)
        }
    }
}

async fn build(cell: &Rc<Cell>) -> Result<(), (Cause, ErrorBody)> {
    let no = |refusal| (Cause::NotStarted, refusal);
    let spec = cell.state.borrow().described.as_ref().map(|described| described.spec.clone());
    let spec = spec.ok_or_else(|| no(ErrorBody::new(ErrorCode::State, "the cell was not created yet")))?;
    let data = spec.data.as_ref().map(|data| cell.supervision.folders.data(&data.name));
    if let Some(folder) = &data {
        make_private(folder).map_err(|error| no(internal(error.to_string())))?;
    }
    let inside = Inside::new();
    // Whoever is killed while the groups are made leaves a record that names them all.
    let groups = Hierarchies::detect().candidates(&cell.id);
    let recorded = cell.record(|record| record.cgroups = groups);
    recorded.map_err(|error| no(internal(format!("writing the owner's record failed: {error}"))))?;
    // It comes up while the rest is worked out.
    let jail = cell.supervision.launcher.begin().map_err(|error| no(not_built(&error)))?;
    let keys = keys::take(cell.broker(), &spec.secrets).await.map_err(no)?;
    let trust = Trust::new(&cell.supervision.folders, &spec).map_err(no)?;
    let given =
        Given { files: trust.files().map_err(no)?, variables: variables(&spec, &inside, &trust, &keys) };
    let prepared = prepare(cell, &spec, data.as_deref(), &inside, &given).map_err(no)?;
    drop(given);
    let Prepared { spec: wall, process, groups, lease, layers, notes, unsearched } = prepared;
    let broken = |error: std::io::Error| no(internal(format!("looking through mounts failed: {error}")));
    let search = Search::begin(unsearched).map_err(broken)?;
    let guarded = guarded(&wall.root);
    {
        let mut state = cell.state.borrow_mut();
        state.groups = groups;
        state.lease = lease;
        state.layers = layers;
        state.notes = notes.iter().map(ToString::to_string).collect();
        state.template = Some(process.clone());
        state.secrets.clone_from(&keys.infos);
        state.placeholders.clone_from(&keys.placeholders);
    }
    let recorded = cell.record(|record| record.cgroups = cell.state.borrow().groups.paths());
    recorded.map_err(|error| no(internal(format!("writing the owner's record failed: {error}"))))?;
    let sandbox = jail.start(&wall).await.map_err(|error| no(not_built(&error)))?;
    let Sandbox { control, layers, pid, ended } = sandbox;
    // Only a later start needs it, and only if this supervisor dies: the groups alone would do.
    cell.record(|record| record.jail = ProcessMark::of(pid)).ok();
    // Before anything runs: a name that is asked for at once has to be answered.
    let (ring, link) = (keys.ring, keys.link);
    let begin = network::Begin {
        inside: &inside,
        spec: &spec.network,
        name: spec.declared.as_ref().unwrap_or(&spec.name),
        keys: Arc::clone(&ring),
        authority: trust.authority,
        roots: trust.roots,
    };
    network::begin(cell, control.clone(), begin).await.map_err(no)?;
    let searched = search.done().await.map_err(broken)?;
    searched.map_err(|error| no(not_prepared(&PrepareError::Host(error.into()))))?;
    // From here on this process starts nothing and opens little.
    let confined = confine(cell, &spec, data.as_deref()).map_err(no)?;
    #[cfg(feature = "guard-off")]
    {
        crate::taken_over::attempt(cell);
        keys.leaks.write(cell);
    }
    network::test_keys(cell, &ring).await.map_err(no)?;
    drop(ring);
    let running = control.start(&process).await.map_err(|error| no(not_started(error)))?;
    let Running { id, pid: inner, stdin, stdout, stderr, exit } = running;
    let main = Process::adopt(id, inner, spec.command.clone(), stdin, stdout)
        .map_err(|error| no(internal(format!("taking over the streams failed: {error}"))))?;
    let layers = layers.into_iter().chain(confined).collect();
    keep(cell, &spec, Built { layers, pid, control: control.clone(), main: Rc::clone(&main) });
    cell.set_phase(CellState::Running);
    cell.events.push(EventKind::Started);
    cell.events.push(EventKind::ProcessStarted { process: id });
    drain(cell, &main, stderr, None);
    watches::begin(cell, &spec, data, guarded);
    if let Some(link) = link {
        let following = tokio::task::spawn_local(keys::follow(Rc::clone(cell), link));
        cell.state.borrow_mut().following = Some(following);
    }
    tokio::task::spawn_local(ending::live(Rc::clone(cell), control, main, exit, ended, cell.wishes()));
    Ok(())
}

/// What is there once the main process runs.
struct Built {
    layers: Vec<Layer>,
    pid: i32,
    control: Control,
    main: Rc<Process>,
}

fn keep(cell: &Cell, spec: &CellSpec, built: Built) {
    let Built { layers, pid, control, main } = built;
    let mut state = cell.state.borrow_mut();
    state.layers.extend(layers);
    if spec.data.is_some() {
        state.layers.push(watched_data());
    }
    state.layers.sort_by_key(|layer| layer.name);
    state.jail = Some(pid);
    state.control = Some(control);
    state.processes.insert(main.id, main);
}

/// Starts one more process; its number.
pub(crate) async fn further(cell: &Rc<Cell>, wanted: &ProcessSpec) -> Result<u32, ErrorBody> {
    if cell.phase() == Some(CellState::Frozen) {
        let refusal = ErrorBody::new(ErrorCode::State, "the cell is frozen, so nothing can be started in it");
        return Err(refusal.hint("thaw it first: `POST /v1/cell/thaw`"));
    }
    let (control, template) = {
        let state = cell.state.borrow();
        (state.control.clone(), state.template.clone())
    };
    let (Some(control), Some(template)) = (control, template) else {
        return Err(ErrorBody::new(ErrorCode::State, "the cell does not run"));
    };
    let process = asked::Process {
        argv: wanted.command.clone(),
        env: overlay(&template.env, &wanted.env),
        cwd: wanted.cwd.clone().unwrap_or(template.cwd),
    };
    let Running { id, pid, stdin, stdout, stderr, exit } =
        control.start(&process).await.map_err(not_started)?;
    let process = Process::adopt(id, pid, wanted.command.clone(), stdin, stdout)
        .map_err(|error| internal(format!("taking over the streams failed: {error}")))?;
    {
        let processes = &mut cell.state.borrow_mut().processes;
        processes.insert(id, Rc::clone(&process));
        forget_oldest(processes);
    }
    cell.events.push(EventKind::ProcessStarted { process: id });
    drain(cell, &process, stderr, Some(id));
    let cell = Rc::clone(cell);
    tokio::task::spawn_local(async move {
        // An error means that the cell has ended first; that is told by the cell's end.
        if let Ok(exit) = exit.await {
            cell.tell_exit(&process, exit);
        }
    });
    Ok(id)
}

/// Of processes that have ended only the newest are remembered: each holds a pipe.
fn forget_oldest(processes: &mut BTreeMap<u32, Rc<Process>>) {
    const REMEMBERED: usize = 64;
    let ended: Vec<u32> = processes
        .values()
        .filter(|process| process.has_ended() && !process.is_attached())
        .map(|process| process.id)
        .collect();
    for id in ended.iter().take(ended.len().saturating_sub(REMEMBERED)) {
        processes.remove(id);
    }
}

/// What a cell is given that nobody declared.
struct Given {
    files: Vec<MadeFile>,
    variables: BTreeMap<String, String>,
}

/// The whole environment but for what every cell has. What is declared comes last, and so counts.
fn variables(spec: &CellSpec, inside: &Inside, trust: &Trust, keys: &Keys) -> BTreeMap<String, String> {
    let mut env = trust.variables(spec);
    if spec.network.proxy_env {
        env.extend(inside.proxy_variables());
    }
    env.extend(keys.variables.0.clone());
    env.extend(spec.env.clone());
    env
}

/// Leaves this process what it needs from now on.
fn confine(cell: &Cell, spec: &CellSpec, data: Option<&std::path::Path>) -> Result<Option<Layer>, ErrorBody> {
    // It could not make it afterwards.
    make_private(&cell.supervision.folders.egress_logs(&spec.name))
        .map_err(|error| internal(error.to_string()))?;
    confinement::enter(cell, spec, data).map_err(|error| {
        let message = format!("the supervisor could not confine itself: {error}");
        ErrorBody::new(ErrorCode::Wall, message).layer(error.layer()).hint(error.hint())
    })
}

fn prepare(
    cell: &Cell,
    spec: &CellSpec,
    data: Option<&std::path::Path>,
    inside: &Inside,
    given: &Given,
) -> Result<Prepared, ErrorBody> {
    let limits = spec.effective_limits();
    let folders = &cell.supervision.folders;
    let package = spec.package.as_deref().map(|package| package::checked(folders, package)).transpose()?;
    let request = plan::Request {
        id: &cell.id,
        command: &spec.command,
        env: &given.variables,
        routes: &inside.routes,
        name_servers: &inside.name_servers,
        files: &given.files,
        mounts: &spec.mounts,
        data,
        package: package.as_deref(),
        limits: &limits,
        cwd: spec.cwd.as_deref(),
    };
    let cwd = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let own = folders.own();
    let host = Host::new(std::env::vars_os(), cwd, own, spec.name.to_string());
    plan::prepare(&request, &host).map_err(|error| not_prepared(&error))
}

fn not_prepared(error: &PrepareError) -> ErrorBody {
    let refusal = match error {
        PrepareError::Host(PlanError::Mount(
            MountError::Relative { .. }
            | MountError::Missing { .. }
            | MountError::Special { .. }
            | MountError::Twice { .. },
        )) => ErrorBody::new(ErrorCode::Spec, chain(error)),
        PrepareError::Host(PlanError::Mount(_)) => ErrorBody::new(ErrorCode::Mount, chain(error)),
        PrepareError::Host(_) => ErrorBody::new(ErrorCode::Command, chain(error)),
        PrepareError::Lease(_) => internal(chain(error)),
        PrepareError::Required { layer, .. } => {
            ErrorBody::new(ErrorCode::Required, error.to_string()).layer(layer.to_string())
        }
        PrepareError::Kernel { .. } => ErrorBody::new(ErrorCode::Wall, error.to_string()).layer("kernel"),
    };
    refusal.hint(error.hint())
}

fn not_built(error: &StartError) -> ErrorBody {
    let refusal = match error {
        StartError::Layer(failure) if error.is_host() => {
            ErrorBody::new(ErrorCode::Wall, error.to_string()).layer(stage(failure))
        }
        StartError::Program { .. } => ErrorBody::new(ErrorCode::Wall, chain(error)).layer("jail"),
        _ => internal(chain(error)),
    };
    refusal.hint(error.hint())
}

fn not_started(error: OrderError) -> ErrorBody {
    match error {
        OrderError::Failed(failure) if matches!(failure.layer, Stage::Exec) => {
            let message = failure.to_string();
            ErrorBody::new(ErrorCode::Command, message).hint(StartError::Layer(failure).hint())
        }
        OrderError::Failed(failure) => not_built(&StartError::Layer(failure)),
        other => internal(chain(&other)),
    }
}

fn stage(failure: &Failure) -> String {
    // The names in JSON are the ones people see elsewhere too.
    match serde_json::to_value(failure.layer) {
        Ok(serde_json::Value::String(name)) => name,
        _ => format!("{:?}", failure.layer),
    }
}

fn internal(message: impl Into<String>) -> ErrorBody {
    ErrorBody::new(ErrorCode::Internal, message)
}

/// An error and what caused it, on one line.
fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

fn watched_data() -> Layer {
    Layer {
        name: LayerName::DataQuota,
        state: LayerState::Watched,
        detail: "the supervisor weighs the folder every 0.25 to 2 s; files deleted while open weigh nothing"
            .into(),
        remedy: String::new(),
    }
}

/// The guarded names that existed when the mounts were looked at, on the host.
fn guarded(root: &[Entry]) -> Vec<PathBuf> {
    let binds = root.iter().filter_map(|entry| match entry {
        Entry::Bind { source, guarded, .. } => Some((source, guarded)),
        _ => None,
    });
    binds.flat_map(|(source, guarded)| guarded.iter().map(move |inside| source.join(inside))).collect()
}

fn overlay(template: &[String], declared: &BTreeMap<String, String>) -> Vec<String> {
    let kept = template
        .iter()
        .filter(|variable| variable.split_once('=').is_none_or(|(name, _)| !declared.contains_key(name)));
    kept.cloned().chain(declared.iter().map(|(name, value)| format!("{name}={value}"))).collect()
}

/// Reads a process's stderr into the log, under the process's number unless it is the main one.
fn drain(cell: &Rc<Cell>, process: &Rc<Process>, stderr: std::os::fd::OwnedFd, number: Option<u32>) {
    let cell = Rc::clone(cell);
    let process = Rc::clone(process);
    tokio::task::spawn_local(async move {
        let mark = number.map(|number| format!("p{number}"));
        process
            .drain_stderr(stderr, |bytes| match &mark {
                None => cell.log(bytes),
                Some(mark) => cell.log_marked(mark, bytes),
            })
            .await;
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_further_process_has_the_cells_environment_and_its_own_over_it() {
        let template = ["PATH=/usr/bin".to_owned(), "A=1".to_owned()];
        let declared = BTreeMap::from([("A".to_owned(), "2=3".to_owned()), ("B".to_owned(), String::new())]);
        assert_eq!(overlay(&template, &declared), ["PATH=/usr/bin", "A=2=3", "B="]);
    }
}
