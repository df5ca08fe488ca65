//! The end of a running cell: by itself, by wish, or by force; and what is said about it.

use std::{rc::Rc, time::Duration};

use cell_api::{
    event::EventKind,
    info::{CellState, End},
    order::{EndOrder, LogMark},
};
use model::{
    exit::{Cause, Exit},
    layer::{Layer, LayerName},
};
use sandbox::process::{Control, Ended};
use tokio::{
    sync::{oneshot, watch},
    time::{Instant, sleep_until},
};

use crate::{
    cell::{Cell, Wish},
    network,
    process::Process,
    watches,
};

/// How long the kernel may take to end all processes of a cell whose PID 1 is told to end.
const KILLING: Duration = Duration::from_secs(3);
/// How long removing its groups may take; what is left after that is left to the next start.
const REMOVING: Duration = Duration::from_millis(500);
/// `SIGTERM` and `SIGKILL` (signal(7)).
const SIGTERM: i32 = 15;
const SIGKILL: i32 = 9;

/// Where an orderly end stands.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// Nobody asked.
    Living,
    /// Stdin is closed; `SIGTERM` follows, and the kill this much later.
    Closed(Instant, Duration),
    /// `SIGTERM` was sent; the kill follows.
    Termed(Instant),
}

/// Waits for the end of a cell that was started, and clears up after it. `wishes` was made before anybody who may wish
/// could begin: the data folder can be too full at the first look.
pub(crate) async fn live(
    cell: Rc<Cell>,
    control: Control,
    main: Rc<Process>,
    main_exit: oneshot::Receiver<Exit>,
    jail_gone: oneshot::Receiver<Ended>,
    mut wishes: watch::Receiver<Option<Wish>>,
) {
    let mut main_exit = std::pin::pin!(main_exit);
    let mut jail_gone = std::pin::pin!(jail_gone);
    let mut step = Step::Living;
    let mut main_lost = false;
    let (mut cause, mut exit, mut why) = (None, None, None);
    loop {
        let deadline = match step {
            Step::Living => None,
            Step::Closed(at, _) | Step::Termed(at) => Some(at),
        };
        tokio::select! {
            biased;
            end = &mut main_exit, if !main_lost => match end {
                Ok(how) => {
                    exit = Some(how);
                    cell.tell_exit(&main, how);
                    // The end of stdin is how a server is told to end: what it does then is its own doing.
                    cause = Some(if matches!(step, Step::Termed(_)) { Cause::Asked } else { Cause::Finished });
                    break;
                }
                Err(_) => main_lost = true,
            },
            end = &mut jail_gone => {
                why = end.ok();
                break;
            }
            wish = next_wish(&mut wishes) => match wish {
                Wish::AtOnce(asked) => {
                    cause = Some(asked);
                    break;
                }
                Wish::Orderly(order) => {
                    thaw(&cell, &control).await;
                    if !order.stdin_ends_itself {
                        main.stdin.close();
                    }
                    step = closed(order);
                }
            },
            () = until(deadline) => match step {
                Step::Closed(_, later) => {
                    // A cell that is gone needs no signal.
                    control.signal(Some(main.id), SIGTERM).await.ok();
                    step = Step::Termed(Instant::now() + later);
                }
                Step::Living | Step::Termed(_) => {
                    cause = Some(Cause::Asked);
                    exit = Some(Exit::Signal(SIGKILL));
                    break;
                }
            },
        }
    }
    control.close();
    if why.is_none() {
        why = tokio::time::timeout(KILLING, &mut jail_gone).await.ok().and_then(Result::ok);
        if why.is_none() {
            cell.state.borrow().groups.kill();
        }
    }
    let cause = cause.unwrap_or(Cause::JailLost);
    watches::end(&cell).await;
    finish(&cell, judge(&cell, cause, exit, why));
}

/// Clears up after a cell of which nothing runs any more.
pub(crate) fn finish(cell: &Cell, (cause, exit): (Cause, Option<Exit>)) {
    network::end(cell);
    let following = cell.state.borrow_mut().following.take();
    if let Some(following) = following {
        following.abort();
    }
    let (groups, lease, detail, processes) = {
        let mut state = cell.state.borrow_mut();
        state.control = None;
        state.jail = None;
        let limits = state.described.as_ref().map(|described| described.spec.clone());
        let detail = in_words(cause, exit, limits.as_ref(), &state.layers);
        let processes: Vec<Rc<Process>> = state.processes.values().cloned().collect();
        (std::mem::take(&mut state.groups), state.lease.take(), detail, processes)
    };
    tell_killed(cell, &groups, cause);
    let left = groups.remove(REMOVING);
    drop(lease);
    cell.left_behind(!left.is_empty());
    if matches!(cause, Cause::MemoryCeiling | Cause::DataQuota) {
        let limit = if cause == Cause::MemoryCeiling { "memory" } else { "data" };
        cell.events.push(EventKind::LimitHit { limit: limit.into(), detail: detail.clone() });
    }
    for process in processes {
        process.ended_if_running();
    }
    cell.ended(End { cause, exit, detail });
}

/// A child that the kernel killed for the ceiling need not be the end of the cell, but somebody will look for it.
fn tell_killed(cell: &Cell, groups: &sandbox::cgroup::CellGroups, cause: Cause) {
    let killed = groups.oom_kills().unwrap_or(0);
    if killed == 0 || cause == Cause::MemoryCeiling {
        return;
    }
    let detail = format!("the kernel killed {killed} of its processes at the memory ceiling");
    cell.log_line(LogMark::Fumehood, &detail);
    cell.events.push(EventKind::LimitHit { limit: "memory".into(), detail });
}

/// Why the cell ended, when what PID 1 and the kernel count is taken into account.
pub(crate) fn judge(
    cell: &Cell,
    cause: Cause,
    exit: Option<Exit>,
    why: Option<Ended>,
) -> (Cause, Option<Exit>) {
    let died = match exit {
        Some(Exit::Code(code)) => code != 0,
        None | Some(Exit::Signal(_)) => true,
    };
    let by_itself = matches!(cause, Cause::Finished | Cause::JailLost);
    let oom = cell.state.borrow().groups.oom_kills().unwrap_or(0) > 0;
    match why {
        Some(Ended::MemoryCeiling { .. }) if by_itself => {
            (Cause::MemoryCeiling, exit.or(Some(Exit::Signal(SIGKILL))))
        }
        _ if oom && by_itself && died => (Cause::MemoryCeiling, exit.or(Some(Exit::Signal(SIGKILL)))),
        _ if by_itself => (cause, exit),
        _ => (cause, exit.or(Some(Exit::Signal(SIGKILL)))),
    }
}

/// Lets a frozen cell go on, so that it can hear what is asked of it.
pub(crate) async fn thaw(cell: &Cell, control: &Control) {
    if cell.phase() == Some(CellState::Frozen) && crate::freezing::set(cell, control, false).await.is_ok() {
        cell.set_phase(CellState::Running);
        cell.events.push(EventKind::Thawed);
    }
}

fn closed(order: EndOrder) -> Step {
    Step::Closed(
        Instant::now() + Duration::from_millis(order.grace_ms.min(EndOrder::MAX_MS)),
        Duration::from_millis(order.term_ms.min(EndOrder::MAX_MS)),
    )
}

async fn next_wish(wishes: &mut watch::Receiver<Option<Wish>>) -> Wish {
    loop {
        if wishes.changed().await.is_err() {
            return std::future::pending().await;
        }
        if let Some(wish) = *wishes.borrow_and_update() {
            return wish;
        }
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}

fn in_words(
    cause: Cause,
    exit: Option<Exit>,
    spec: Option<&cell_api::spec::CellSpec>,
    layers: &[Layer],
) -> String {
    let held = |name: LayerName| {
        layers.iter().find(|layer| layer.name == name).map_or(String::new(), |layer| {
            match layer.detail.as_str() {
                "" => format!(" ({})", layer.state),
                detail => format!(" ({}: {detail})", layer.state),
            }
        })
    };
    let size =
        |bytes: Option<u64>| bytes.map_or(String::new(), |b| format!(" of {}", model::size::format(b)));
    let reason = match cause {
        Cause::Finished => None,
        Cause::MemoryCeiling => Some(format!(
            "the memory ceiling{} was reached{}",
            size(spec.map(|spec| spec.effective_limits().memory)),
            held(LayerName::Memory)
        )),
        Cause::DataQuota => Some(format!(
            "the data quota{} was reached{}",
            size(spec.and_then(|spec| spec.data.as_ref()).map(|data| data.size)),
            held(LayerName::DataQuota)
        )),
        other => Some(other.to_string()),
    };
    match (exit, reason) {
        (Some(exit), Some(reason)) => format!("{exit}: {reason}"),
        (Some(exit), None) => exit.to_string(),
        (None, Some(reason)) => reason,
        (None, None) => cause.to_string(),
    }
}
