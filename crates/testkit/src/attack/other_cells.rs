//! What another cell holds. The arguments of each attempt begin with the name of the [victim](super::neighbour).

use std::{io::Read as _, net::TcpStream, os::unix::fs::FileExt as _, time::Duration};

use super::{Attacks, Attempt, Held, argument, neighbour::SECRET, number, sockets, sys, victims};

pub(super) const ATTACKS: Attacks = &[
    ("see", see),
    ("signal", signal),
    ("file", file),
    ("data", data),
    ("tcp", tcp),
    ("abstract", by_name),
    ("segment", segment),
    ("queue", queue),
    ("host-name", host_name),
    ("cgroup-path", cgroup_path),
];

fn see(arguments: &[&str]) -> Attempt {
    victims::find(argument(arguments, 0)).map(|pid| format!("process {pid}"))
}

/// Asks whether it might send a signal.
fn signal(arguments: &[&str]) -> Attempt {
    let pid = victims::find(argument(arguments, 0))?;
    sys::call(libc::SYS_kill, [u64::from(pid.unsigned_abs()), 0]).map_err(Held::errno)?;
    Ok(format!("process {pid} may be signalled"))
}

fn file(arguments: &[&str]) -> Attempt {
    super::files::look(format!("/tmp/{}", argument(arguments, 0)).as_ref(), SECRET)
}

fn data(arguments: &[&str]) -> Attempt {
    super::files::look(format!("/data/{}", argument(arguments, 0)).as_ref(), SECRET)
}

fn tcp(arguments: &[&str]) -> Attempt {
    let port = u16::try_from(number(arguments, 1)).unwrap_or_default();
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(Duration::from_secs(2)))?;
    let mut said = String::new();
    stream.read_to_string(&mut said)?;
    compare(said.as_bytes())
}

fn by_name(arguments: &[&str]) -> Attempt {
    sockets::by_name(&[argument(arguments, 0), SECRET])
}

fn segment(arguments: &[&str]) -> Attempt {
    let id = sys::call(libc::SYS_shmget, [number(arguments, 2), 0, 0]).map_err(Held::errno)?;
    let read_only = u64::from(libc::SHM_RDONLY.unsigned_abs());
    let address = sys::call(libc::SYS_shmat, [id.unsigned_abs(), 0, read_only]).map_err(Held::errno)?;
    let mut said = vec![0_u8; SECRET.len()];
    std::fs::File::open("/proc/self/mem")?.read_exact_at(&mut said, address.unsigned_abs())?;
    compare(&said)
}

fn queue(arguments: &[&str]) -> Attempt {
    let name = format!("{}\0", argument(arguments, 0));
    let queue = sys::call(libc::SYS_mq_open, [sys::at(name.as_str()), 0, 0, 0]).map_err(Held::errno)?;
    let mut said = [0_u8; 64];
    let read = [queue.unsigned_abs(), sys::into(&mut said), said.len() as u64, 0, 0];
    let length = sys::call(libc::SYS_mq_timedreceive, read).map_err(Held::errno)?;
    compare(said.get(..usize::try_from(length).unwrap_or(0)).unwrap_or_default())
}

fn compare(said: &[u8]) -> Attempt {
    if said == SECRET.as_bytes() {
        Ok("read its secret".into())
    } else {
        Err(Held::because("something else is there"))
    }
}

/// Whether the host's name (the argument) is told.
fn host_name(arguments: &[&str]) -> Attempt {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    if name == argument(arguments, 0) { Ok(name) } else { Err(Held::because(format!("it is called {name}"))) }
}

/// Whether a path of the host's cgroups is told.
fn cgroup_path(_: &[&str]) -> Attempt {
    let text = std::fs::read_to_string("/proc/self/cgroup")?;
    match text.lines().find(|line| line.contains("fumehood")) {
        Some(line) => Ok(line.to_owned()),
        None => Err(Held::because(text.replace('\n', " "))),
    }
}
