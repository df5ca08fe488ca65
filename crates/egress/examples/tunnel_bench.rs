//! Measures the untouched tunnel against a direct connection, and the time of a cut: host, egress and client are three
//! processes, as in real life, in a network namespace of their own. Run with `--release`; everything is a ratio of one run.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    reason = "a measurement, not shipped"
)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use egress::core::{Egress, Settings};
use egress::intake::{Arriving, Family, Intake};
use egress::name::HostName;
use egress::policy::Policy;
use egress::rule::HostRule;
use egress::synthetic::Range;
use egress::upstream::Pinned;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

const SET_UP: &str = "ip link set lo up && ip route add local 198.18.0.0/15 dev lo && exec \"$@\"";
const RULES: [&str; 2] = ["tcp://host.example.com:7000", "tcp://kept.example.com:7000"];
const REQUEST: usize = 100;
const ANSWER: usize = 500;
const LOAD: usize = 1 << 30;

fn main() {
    let now = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: now.maximum, maximum: now.maximum }).unwrap();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["host"] => host(),
        ["egress", address] => egress(address.parse().unwrap()),
        ["client"] => client(),
        _ => {
            let me = std::env::current_exe().unwrap();
            let status = Command::new("unshare")
                .args(["--user", "--map-root-user", "--net", "sh", "-c", SET_UP, "sh"])
                .arg(me)
                .arg("client")
                .status()
                .unwrap();
            assert!(status.success());
        }
    }
}

/// A host: `r` answers requests, `d` sends much, `u` takes much.
fn host() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    println!("{}", listener.local_addr().unwrap());
    for stream in listener.incoming() {
        let mut stream = stream.unwrap();
        std::thread::spawn(move || -> std::io::Result<()> {
            stream.set_nodelay(true)?;
            let mut kind = [0];
            stream.read_exact(&mut kind)?;
            let mut buffer = vec![b'x'; 256 * 1024];
            match kind[0] {
                b'r' => loop {
                    stream.read_exact(&mut buffer[..REQUEST])?;
                    stream.write_all(&buffer[..ANSWER])?;
                },
                b'd' => loop {
                    stream.write_all(&buffer)?;
                },
                _ => {
                    let mut left = LOAD;
                    while left > 0 {
                        left -= stream.read(&mut buffer)?.max(1).min(left);
                    }
                    stream.write_all(b"!")
                }
            }
        });
    }
}

#[derive(Debug)]
struct Sockets;

impl Intake for Sockets {
    fn tcp(&self, _: Family) -> Arriving<'_> {
        Box::pin(std::future::ready(socket(SocketType::STREAM)))
    }
    fn udp(&self, _: Family) -> Arriving<'_> {
        Box::pin(std::future::ready(socket(SocketType::DGRAM)))
    }
    fn range(&self) -> Range {
        Range::V4
    }
}

fn socket(kind: SocketType) -> std::io::Result<OwnedFd> {
    Ok(socket_with(AddressFamily::INET, kind, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK, None)?)
}

fn policy(generation: u64, rules: &[&str]) -> Policy {
    let rules = rules.iter().map(|rule| HostRule::parse(rule).unwrap());
    Policy::new(model::name::ServerName::new("bench").unwrap(), generation, rules)
}

/// An egress; each line on its input takes the host away, says how long that took, and gives it back.
fn egress(address: SocketAddr) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut settings = Settings::default();
        for name in ["host.example.com", "kept.example.com"] {
            let name = HostName::parse(name).unwrap();
            let pinned =
                Pinned::new(&name, address.ip(), std::num::NonZeroU16::new(address.port()), true).unwrap();
            settings.upstreams.pin(name, pinned);
        }
        let egress = Egress::start(Sockets, settings, policy(1, &RULES)).await.unwrap();
        let (send, mut lines) = tokio::sync::mpsc::channel(1);
        std::thread::spawn(move || std::io::stdin().lines().try_for_each(|line| send.blocking_send(line)));
        println!("ready");
        let mut generation = 1;
        while lines.recv().await.is_some() {
            let begun = Instant::now();
            let changed = egress.set_policy(policy(generation + 1, &RULES[1..])).await;
            let took = begun.elapsed();
            generation += 2;
            egress.set_policy(policy(generation, &RULES)).await;
            println!("{} {} {}", took.as_nanos(), changed.cut, changed.kept);
        }
    });
}

struct Process(Child, ChildStdout);

impl Process {
    fn start(arguments: &[&str]) -> Self {
        let me = std::env::current_exe().unwrap();
        let mut child =
            Command::new(me).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let out = child.stdout.take().unwrap();
        Self(child, out)
    }

    fn line(&mut self) -> String {
        let mut line = Vec::new();
        let mut byte = [0];
        while self.1.read_exact(&mut byte).is_ok() && byte[0] != b'\n' {
            line.push(byte[0]);
        }
        String::from_utf8(line).unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn open(place: SocketAddr, kind: u8) -> TcpStream {
    let mut stream = TcpStream::connect(place).unwrap();
    stream.set_nodelay(true).unwrap();
    stream.write_all(&[kind]).unwrap();
    stream
}

fn requests(place: SocketAddr, connections: usize, time: Duration) -> f64 {
    let begun = Instant::now();
    let threads: Vec<_> = (0..connections)
        .map(|_| {
            std::thread::spawn(move || {
                let mut stream = open(place, b'r');
                let (request, mut answer) = ([b'q'; REQUEST], [0; ANSWER]);
                let mut count = 0;
                while begun.elapsed() < time {
                    stream.write_all(&request).unwrap();
                    stream.read_exact(&mut answer).unwrap();
                    count += 1;
                }
                count
            })
        })
        .collect();
    let count: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    count as f64 / begun.elapsed().as_secs_f64()
}

fn fresh(place: SocketAddr, time: Duration) -> f64 {
    let begun = Instant::now();
    let mut count = 0;
    while begun.elapsed() < time {
        let mut stream = open(place, b'r');
        stream.write_all(&[b'q'; REQUEST]).unwrap();
        stream.read_exact(&mut [0; ANSWER]).unwrap();
        count += 1;
    }
    f64::from(count) / begun.elapsed().as_secs_f64()
}

fn down(place: SocketAddr) -> f64 {
    let mut stream = open(place, b'd');
    let mut buffer = vec![0; 256 * 1024];
    let begun = Instant::now();
    let mut left = LOAD;
    while left > 0 {
        left -= stream.read(&mut buffer).unwrap().min(left);
    }
    LOAD as f64 / 1e6 / begun.elapsed().as_secs_f64()
}

fn up(place: SocketAddr) -> f64 {
    let mut stream = open(place, b'u');
    let buffer = vec![0; 256 * 1024];
    let begun = Instant::now();
    for _ in 0..LOAD / buffer.len() {
        stream.write_all(&buffer).unwrap();
    }
    stream.read_exact(&mut [0]).unwrap();
    LOAD as f64 / 1e6 / begun.elapsed().as_secs_f64()
}

fn client() {
    let mut host = Process::start(&["host"]);
    let direct: SocketAddr = host.line().parse().unwrap();
    let mut egress = Process::start(&["egress", &direct.to_string()]);
    assert_eq!(egress.line(), "ready");
    let hosts = |at: u8| SocketAddr::from(([198, 18, 1, at], 7000));
    // Names get their addresses in alphabetical order.
    let (tunnel, kept) = (hosts(1), hosts(2));
    let time = Duration::from_millis(1_500);
    let measure = |what: &str, run: &dyn Fn(SocketAddr) -> f64| {
        let mut ratios: Vec<(f64, f64, f64)> = (0..5)
            .map(|_| {
                let (straight, through) = (run(direct), run(tunnel));
                (through / straight, through, straight)
            })
            .collect();
        ratios.sort_by(|one, two| one.0.total_cmp(&two.0));
        let (ratio, through, straight) = ratios[2];
        println!("{what}: {ratio:.2}x ({through:.0} over {straight:.0})");
    };
    measure("requests/s kept alive, 1 connection", &|place| requests(place, 1, time));
    measure("requests/s kept alive, 16 connections", &|place| requests(place, 16, time));
    measure("requests/s, a connection each", &|place| fresh(place, time));
    measure("MB/s down", &down);
    measure("MB/s up", &up);
    let mut times: Vec<(u64, String)> = (0..50)
        .map(|_| {
            let flows: Vec<TcpStream> = (0..1_000)
                .map(|at| {
                    let mut stream = open(if at % 10 == 0 { kept } else { tunnel }, b'r');
                    stream.write_all(&[b'q'; REQUEST]).unwrap();
                    stream.read_exact(&mut [0; ANSWER]).unwrap();
                    stream
                })
                .collect();
            egress.0.stdin.as_ref().unwrap().write_all(b"cut\n").unwrap();
            let line = egress.line();
            drop(flows);
            let (nanos, rest) = line.split_once(' ').unwrap();
            (nanos.parse().unwrap(), rest.to_owned())
        })
        .collect();
    times.sort();
    let at = |share: usize| times[times.len() * share / 100].0 as f64 / 1e6;
    println!(
        "cut with 1,000 flows open ({} cut and kept): p50 {:.1} ms, p99 {:.1} ms",
        times[0].1,
        at(50),
        at(99)
    );
}
