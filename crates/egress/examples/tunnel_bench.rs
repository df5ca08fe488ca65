//! Measures the untouched tunnel against a direct connection, and the time of a cut: host, egress and client are three
//! processes, as in real life, in a network namespace of their own. Run with `--release`; everything is a ratio of one run.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    reason = "a measurement, not shipped"
)]

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::prelude::{BASE64_STANDARD, Engine};
use egress::core::{Egress, Settings};
use egress::intake::{Arriving, Family, Intake};
use egress::name::HostName;
use egress::policy::Policy;
use egress::rule::HostRule;
use egress::synthetic::Range;
use egress::upstream::Pinned;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, StreamOwned};

const SET_UP: &str = "ip link set lo up && ip route add local 198.18.0.0/15 dev lo && exec \"$@\"";
/// In alphabetical order, for that is the order of their addresses.
const NAMES: [&str; 3] = ["host.example.com", "kept.example.com", "tls.example.com"];
const RULES: [&str; 3] =
    ["tcp://host.example.com:7000", "tcp://kept.example.com:7000", "tls.example.com:8443"];
const PLAIN: u16 = 7000;
const TLS: u16 = 8443;
const REQUEST: usize = 300;
const ANSWER: usize = 1_000;
const LOAD: usize = 1 << 29;
const RUNS: usize = 5;

trait Channel: Read + Write + Send {}
impl<T: Read + Write + Send> Channel for T {}

fn main() {
    let now = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: now.maximum, maximum: now.maximum }).unwrap();
    match std::env::args().nth(1).as_deref() {
        Some("host") => host(),
        Some("egress") => egress(),
        Some("client") => client(),
        _ => {
            let status = Command::new("unshare")
                .args(["--user", "--map-root-user", "--net", "sh", "-c", SET_UP, "sh"])
                .arg(std::env::current_exe().unwrap())
                .arg("client")
                .status()
                .unwrap();
            assert!(status.success());
        }
    }
}

/// A host, in the clear and with TLS: `r` answers requests, `d` sends much, `u` takes much. It prints its certificate.
fn host() {
    let made = rcgen::generate_simple_self_signed(vec![NAMES[2].to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder().with_no_client_auth();
    let config = Arc::new(config.with_single_cert(vec![made.cert.der().clone()], key).unwrap());
    let tls = TcpListener::bind((Ipv4Addr::LOCALHOST, TLS)).unwrap();
    let plain = TcpListener::bind((Ipv4Addr::LOCALHOST, PLAIN)).unwrap();
    println!("{}", BASE64_STANDARD.encode(made.cert.der()));
    std::thread::spawn(move || {
        for stream in tls.incoming() {
            let connection = ServerConnection::new(config.clone()).unwrap();
            serve(stream.unwrap(), |stream| Box::new(StreamOwned::new(connection, stream)));
        }
    });
    for stream in plain.incoming() {
        serve(stream.unwrap(), |stream| Box::new(stream));
    }
}

fn serve(stream: TcpStream, wrap: impl FnOnce(TcpStream) -> Box<dyn Channel>) {
    stream.set_nodelay(true).unwrap();
    let mut stream = wrap(stream);
    std::thread::spawn(move || -> std::io::Result<()> {
        let mut kind = [0];
        stream.read_exact(&mut kind)?;
        let mut buffer = vec![b'x'; 256 * 1024];
        match kind[0] {
            b'r' => loop {
                stream.read_exact(&mut buffer[..REQUEST])?;
                stream.write_all(&buffer[..ANSWER])?;
                stream.flush()?;
            },
            b'd' => loop {
                stream.write_all(&buffer)?;
            },
            _ => {
                let mut left = LOAD;
                while left > 0 {
                    left -= stream.read(&mut buffer)?.max(1).min(left);
                }
                stream.write_all(b"!")?;
                stream.flush()
            }
        }
    });
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

/// An egress; each line on its input takes the first host away, says how long that took, and gives it back.
fn egress() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut settings = Settings::default();
        for name in NAMES {
            let name = HostName::parse(name).unwrap();
            let pinned = Pinned::new(&name, IpAddr::V4(Ipv4Addr::LOCALHOST), None, true).unwrap();
            settings.upstreams.pin(name, pinned);
        }
        let egress = Egress::start(Sockets, settings, policy(1, &RULES)).await.unwrap();
        let (send, mut lines) = tokio::sync::mpsc::channel(1);
        std::thread::spawn(move || std::io::stdin().lines().try_for_each(|line| send.blocking_send(line)));
        println!("ready");
        let mut generation = 1;
        while lines.recv().await.is_some() {
            let (begun, spent) = (Instant::now(), on_cpu());
            let changed = egress.set_policy(policy(generation + 1, &RULES[1..])).await;
            let (took, spent) = (begun.elapsed(), on_cpu() - spent);
            generation += 2;
            egress.set_policy(policy(generation, &RULES)).await;
            println!("{} {spent} {} cut, {} kept", took.as_nanos(), changed.cut, changed.kept);
        }
    });
}

/// Nanoseconds this thread has run.
fn on_cpu() -> u64 {
    on_cpu_of("thread-self")
}

/// Nanoseconds the first thread of a process has run.
fn on_cpu_of(process: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/schedstat")).unwrap();
    text.split_whitespace().next().unwrap().parse().unwrap()
}

struct Process(Child, ChildStdout);

impl Process {
    fn start(role: &str) -> Self {
        let me = std::env::current_exe().unwrap();
        let mut child =
            Command::new(me).arg(role).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
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

/// Opens connections to one place, in the clear or with TLS.
#[derive(Clone)]
struct Opener {
    place: SocketAddr,
    tls: Option<Arc<ClientConfig>>,
}

impl Opener {
    fn open(&self, kind: u8) -> Box<dyn Channel> {
        let stream = TcpStream::connect(self.place).unwrap();
        stream.set_nodelay(true).unwrap();
        let mut stream: Box<dyn Channel> = match &self.tls {
            None => Box::new(stream),
            Some(config) => {
                let name = ServerName::try_from(NAMES[2]).unwrap();
                let connection = ClientConnection::new(config.clone(), name).unwrap();
                Box::new(StreamOwned::new(connection, stream))
            }
        };
        stream.write_all(&[kind]).unwrap();
        stream
    }

    fn requests(&self, connections: usize) -> f64 {
        let begun = Instant::now();
        let threads: Vec<_> = (0..connections)
            .map(|_| {
                let opener = self.clone();
                std::thread::spawn(move || {
                    let mut stream = opener.open(b'r');
                    let mut count = 0;
                    while begun.elapsed() < Duration::from_millis(1_200) {
                        exchange(&mut stream);
                        count += 1;
                    }
                    count
                })
            })
            .collect();
        let count: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
        count as f64 / begun.elapsed().as_secs_f64()
    }

    fn fresh(&self) -> f64 {
        let begun = Instant::now();
        let mut count = 0;
        while begun.elapsed() < Duration::from_millis(1_200) {
            exchange(&mut self.open(b'r'));
            count += 1;
        }
        f64::from(count) / begun.elapsed().as_secs_f64()
    }

    fn down(&self) -> f64 {
        let mut stream = self.open(b'd');
        let mut buffer = vec![0; 256 * 1024];
        let begun = Instant::now();
        let mut left = LOAD;
        while left > 0 {
            left -= stream.read(&mut buffer).unwrap().min(left);
        }
        LOAD as f64 / 1e6 / begun.elapsed().as_secs_f64()
    }

    fn up(&self) -> f64 {
        let mut stream = self.open(b'u');
        let buffer = vec![0; 256 * 1024];
        let begun = Instant::now();
        for _ in 0..LOAD / buffer.len() {
            stream.write_all(&buffer).unwrap();
        }
        stream.flush().unwrap();
        stream.read_exact(&mut [0]).unwrap();
        LOAD as f64 / 1e6 / begun.elapsed().as_secs_f64()
    }
}

fn exchange(stream: &mut Box<dyn Channel>) {
    stream.write_all(&[b'q'; REQUEST]).unwrap();
    stream.flush().unwrap();
    stream.read_exact(&mut [0; ANSWER]).unwrap();
}

fn client() {
    let mut host = Process::start("host");
    let certificate = host.line();
    let mut egress = Process::start("egress");
    assert_eq!(egress.line(), "ready");
    let pid = egress.0.id().to_string();
    let mut roots = RootCertStore::empty();
    let bytes = BASE64_STANDARD.decode(certificate).unwrap();
    roots.add(CertificateDer::from(bytes)).unwrap();
    let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    let tls = Some(Arc::new(config));
    let through = |at: u8, port| SocketAddr::from(([198, 18, 1, at], port));
    let direct = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    compare(
        "TLS",
        &pid,
        &Opener { place: direct(TLS), tls: tls.clone() },
        &Opener { place: through(3, TLS), tls },
    );
    let plain = Opener { place: through(1, PLAIN), tls: None };
    compare("raw TCP", &pid, &Opener { place: direct(PLAIN), tls: None }, &plain);
    cut(&mut egress, &plain, &Opener { place: through(2, PLAIN), tls: None });
}

fn compare(what: &str, egress: &str, direct: &Opener, through: &Opener) {
    let measure = |name: &str, run: &dyn Fn(&Opener) -> f64| {
        let mut runs: Vec<[f64; 4]> = (0..RUNS)
            .map(|_| {
                let straight = run(direct);
                let (begun, before) = (Instant::now(), on_cpu_of(egress));
                let tunnelled = run(through);
                let busy = (on_cpu_of(egress) - before) as f64 / 1e9 / begun.elapsed().as_secs_f64();
                [tunnelled / straight, tunnelled, straight, busy]
            })
            .collect();
        runs.sort_by(|one, two| one[0].total_cmp(&two[0]));
        let [ratio, tunnelled, straight, busy] = runs[RUNS / 2];
        let each = busy / tunnelled * 1e6;
        println!(
            "{what}, {name}: {ratio:.2}x ({tunnelled:.0} over {straight:.0}; egress runs {:.0} %, {each:.1} us each)",
            busy * 100.0
        );
    };
    let only = std::env::var("ONLY").unwrap_or_default();
    let measure = |name: &str, run: &dyn Fn(&Opener) -> f64| {
        if name.contains(&only) {
            measure(name, run);
        }
    };
    measure("requests/s kept alive, 1 connection", &|opener| opener.requests(1));
    measure("requests/s kept alive, 16 connections", &|opener| opener.requests(16));
    measure("requests/s, a connection each", &Opener::fresh);
    measure("MB/s down", &Opener::down);
    measure("MB/s up", &Opener::up);
}

fn cut(egress: &mut Process, going: &Opener, staying: &Opener) {
    let mut times: Vec<(u64, u64, String)> = (0..50)
        .map(|_| {
            let flows: Vec<Box<dyn Channel>> = (0..1_000)
                .map(|at| {
                    let mut stream = if at % 10 == 0 { staying } else { going }.open(b'r');
                    exchange(&mut stream);
                    stream
                })
                .collect();
            egress.0.stdin.as_ref().unwrap().write_all(b"cut\n").unwrap();
            let line = egress.line();
            drop(flows);
            let mut words = line.splitn(3, ' ');
            let mut number = || words.next().unwrap().parse().unwrap();
            (number(), number(), words.next().unwrap().to_owned())
        })
        .collect();
    times.sort();
    let at = |share: usize| times[times.len() * share / 100].0 as f64 / 1e6;
    let spent: u64 = times.iter().map(|time| time.1).sum::<u64>() / times.len() as u64;
    println!(
        "1,000 flows open, {}: acknowledged after {:.1} ms p50, {:.1} ms p99 ({:.1} ms of it on a processor)",
        times[0].2,
        at(50),
        at(99),
        spent as f64 / 1e6
    );
}
