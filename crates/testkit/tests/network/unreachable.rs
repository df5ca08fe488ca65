//! Everything else: this machine, its network, the cloud's metadata, the world by address.

use std::{fs, net::IpAddr};

use testkit::world::Caller;

use crate::{
    origin::Origin,
    scene::{ended, shell, world},
};

/// Tries to connect, and to send a datagram and hear an answer, for each `tcp ADDRESS PORT` or `udp ADDRESS PORT`: says how
/// each attempt ended and whether that took more than a second.
const PROBE: &str = r"
import socket, sys, time
for line in sys.argv[1:]:
    kind, host, port = line.split()
    begin = time.monotonic()
    try:
        family = socket.AF_INET6 if ':' in host else socket.AF_INET
        s = socket.socket(family, socket.SOCK_STREAM if kind == 'tcp' else socket.SOCK_DGRAM)
        s.settimeout(5)
        s.connect((host, int(port)))
        s.sendall(b'GET / HTTP/1.0\r\n\r\n')
        answer = s.recv(100)
        result = 'answered' if answer and b'HTTP/1.1 403' not in answer else 'nothing'
    except OSError as error:
        result = 'nothing'
    print(line, result, 'slow' if time.monotonic() - begin > 1 else 'fast')
";

fn probe(targets: &[String]) -> String {
    let words: Vec<String> = targets.iter().map(|target| format!("'{target}'")).collect();
    format!("python3 -c '{}' {}", PROBE.replace('\'', "'\\''"), words.join(" "))
}

/// An address of this machine that is not loopback, where it has one.
fn own_address() -> Option<IpAddr> {
    // Nothing is sent by connecting a datagram socket.
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    socket.local_addr().ok().map(|address| address.ip()).filter(|address| !address.is_loopback())
}

#[test]
fn services_of_this_machine_are_reached_from_outside_and_not_from_inside() {
    let (web, all, datagrams) =
        (Origin::web("127.0.0.1:0"), Origin::web("0.0.0.0:0"), Origin::datagrams("0.0.0.0:0"));
    let mut targets = vec![
        format!("tcp 127.0.0.1 {}", web.address.port()),
        format!("tcp 127.0.0.1 {}", all.address.port()),
        format!("udp 127.0.0.1 {}", datagrams.address.port()),
    ];
    if let Some(own) = own_address() {
        targets.push(format!("tcp {own} {}", all.address.port()));
        targets.push(format!("udp {own} {}", datagrams.address.port()));
    }
    for caller in Caller::all() {
        let world = world(caller, &web);
        // The control: the same program, with nothing around it.
        let mut bare = world.program("/bin/sh".as_ref());
        let ran = ended(&world, bare.args(["-c", &probe(&targets)]));
        for target in &targets {
            assert!(ran.stdout.contains(&format!("{target} answered")), "{caller:?} {ran:?}");
        }
        let before = (web.visits(), all.visits(), datagrams.visits());
        // Even with a host allowed that leads to one of them.
        let ran = shell(&world, &["--host", "http://origin.example"], &probe(&targets));
        for target in &targets {
            assert!(ran.stdout.contains(&format!("{target} nothing fast")), "{caller:?} {ran:?}");
        }
        assert_eq!((web.visits(), all.visits(), datagrams.visits()), before, "{caller:?}");
    }
}

#[test]
fn no_address_is_reached_and_none_is_waited_for() {
    let web = Origin::web("127.0.0.1:0");
    let literal = [
        "tcp 169.254.169.254 80",
        "tcp 192.0.2.1 443",
        "tcp 10.0.0.1 80",
        "tcp 1.1.1.1 443",
        "udp 1.1.1.1 53",
        "udp 8.8.8.8 443",
        "tcp ::1 80",
        "tcp fd00:ec2::254 80",
        "tcp 2606:4700:4700::1111 443",
        // Addresses of our own making that stand for nobody, the name server's neighbours, and the proxy's without one.
        "tcp 198.18.0.2 3128",
        "tcp 198.18.77.7 80",
        "tcp 198.18.77.7 22",
        "udp 198.18.77.7 443",
        "tcp 198.19.255.254 443",
        "tcp 0.0.0.0 80",
        "tcp 255.255.255.255 80",
    ];
    let targets: Vec<String> = literal.map(str::to_owned).to_vec();
    for caller in Caller::all() {
        let world = world(caller, &web);
        let ran = shell(&world, &["--host", "http://origin.example"], &probe(&targets));
        for target in &targets {
            assert!(ran.stdout.contains(&format!("{target} nothing fast")), "{caller:?} {target}: {ran:?}");
        }
    }
    assert_eq!(web.visits(), 0);
}

#[test]
fn quic_to_an_allowed_host_is_refused_at_once() {
    let web = Origin::web("127.0.0.1:0");
    let script = r"
import socket, time
host = socket.getaddrinfo('origin.example', 443, socket.AF_INET)[0][4][0]
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(5)
s.connect((host, 443))
begin = time.monotonic()
try:
    s.send(b'x' * 1200)
    s.recv(100)
    print('answered')
except ConnectionRefusedError:
    print('refused', 'slow' if time.monotonic() - begin > 1 else 'fast')
";
    for caller in Caller::all() {
        let world = world(caller, &web);
        world.make_file("tool/quic.py", script, 0o644).unwrap();
        let folder = world.path("tool").display().to_string();
        let flags = ["--host", "origin.example", "--mount", &folder];
        let ran = shell(&world, &flags, &format!("python3 {folder}/quic.py"));
        assert_eq!(ran.stdout, "refused fast\n", "{caller:?} {ran:?}");
    }
}

#[test]
fn names_that_are_not_allowed_do_not_exist_and_are_asked_of_nobody() {
    let web = Origin::web("127.0.0.1:0");
    for caller in Caller::all() {
        let world = world(caller, &web);
        let script = "getent ahosts origin.example; for n in localhost.evil.example metadata.google.internal \
                      secret.origin.example originxexample.com; do getent ahosts $n && echo found $n; done; \
                      cat /etc/resolv.conf";
        let ran = shell(&world, &["--host", "http://origin.example"], script);
        assert!(ran.stdout.contains("198.18.") && !ran.stdout.contains("found"), "{caller:?} {ran:?}");
        let servers: Vec<&str> = ran.stdout.lines().filter(|line| line.starts_with("nameserver")).collect();
        let ours = |line: &&str| line.contains(" 198.18.") || line.contains(" fd66:756d:6568:");
        assert!(!servers.is_empty() && servers.iter().all(ours), "{servers:?}");
    }
}

#[test]
fn the_supervisors_socket_is_nowhere_inside() {
    let web = Origin::web("127.0.0.1:0");
    for caller in Caller::all() {
        let world = world(caller, &web);
        let state = world.path("state").display().to_string();
        // Abstract names are of a network namespace too; one connection is that of the shell's own listing.
        let script = format!(
            "ls -d {state} 2>&1; cat /proc/net/unix | tail -n +2 | grep -c @; find / -xdev -name api.sock 2>/dev/null"
        );
        let ran = shell(&world, &[], &script);
        assert!(ran.stdout.contains("No such file") && ran.stdout.ends_with("\n0\n"), "{caller:?} {ran:?}");
        assert!(fs::read_dir(&state).is_ok(), "the control: it is there outside");
    }
}
