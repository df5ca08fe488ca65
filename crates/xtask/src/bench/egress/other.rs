//! Programs of others that take TLS off, rewrite the header and put TLS on again: nginx and mitmproxy, each with the
//! origin's own certificate, one worker, and connections to the origin that are kept.

use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::peer::Origin;
use super::{INTERCEPTED, VALUE};
use crate::bench::world::World;
use crate::setup::{nginx, python};
use crate::workspace::Workspace;

/// Longest it takes one to listen.
const START: Duration = Duration::from_secs(30);

/// One that runs. Dropping it ends it.
#[derive(Debug)]
pub(super) struct Other {
    pub(super) name: &'static str,
    pub(super) port: u16,
    child: Child,
}

type Start = fn(&Workspace, &World, &Origin, u16) -> Result<Command>;

const OTHERS: [(&str, Start); 2] = [("nginx", nginx), ("mitmproxy", mitmproxy)];

/// Starts what there is; also who is left out, and why.
pub(super) fn start(
    workspace: &Workspace,
    world: &World,
    origin: &Origin,
) -> Result<(Vec<Other>, Vec<String>)> {
    let (mut others, mut absent) = (Vec::new(), Vec::new());
    for (name, command) in OTHERS {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        match command(workspace, world, origin, port).and_then(|command| Other::start(name, port, command)) {
            Ok(other) => others.push(other),
            Err(reason) => {
                println!("  left out: {name}: {reason:#}");
                absent.push(format!("{name}: {reason:#}"));
            }
        }
    }
    Ok((others, absent))
}

impl Other {
    fn start(name: &'static str, port: u16, mut command: Command) -> Result<Self> {
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let mut other = Self { name, port, child };
        let begun = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            if let Some(status) = other.child.try_wait()? {
                bail!("it ended before it listened ({status})");
            }
            if begun.elapsed() > START {
                bail!("it does not listen");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(other)
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        if self.child.kill().and_then(|()| self.child.wait()).is_err() {
            eprintln!("x: {} (process {}) cannot be ended", self.name, self.child.id());
        }
    }
}

fn nginx(workspace: &Workspace, world: &World, origin: &Origin, port: u16) -> Result<Command> {
    let program = nginx::program(workspace).context("it is not installed")?;
    let folder = folder(world, "nginx", origin)?;
    let at = folder.display();
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|kind| format!("{kind}_temp_path {at}/{kind};\n"))
        .concat();
    let configuration = format!(
        "daemon off;\nmaster_process off;\nworker_processes 1;\npid {at}/pid;\nerror_log {at}/log crit;\n\
         events {{ worker_connections 4096; }}\n\
         http {{\naccess_log off;\n{temporary}client_max_body_size 0;\nkeepalive_requests 1000000;\n\
         upstream origin {{ server 127.0.0.1:{}; keepalive 64; keepalive_requests 1000000; }}\n\
         server {{\nlisten 127.0.0.1:{port} ssl;\nssl_certificate {at}/origin.pem;\nssl_certificate_key {at}/origin.pem;\n\
         location / {{\nproxy_pass https://origin;\nproxy_http_version 1.1;\nproxy_set_header Connection \"\";\n\
         proxy_set_header Host $host;\nproxy_set_header Authorization \"Bearer {VALUE}\";\n\
         proxy_request_buffering off;\nproxy_max_temp_file_size 0;\nproxy_ssl_server_name on;\n\
         proxy_ssl_name {INTERCEPTED};\nproxy_ssl_verify on;\nproxy_ssl_trusted_certificate {at}/origin.pem;\n\
         }}\n}}\n}}\n",
        origin.tls
    );
    let file = folder.join("nginx.conf");
    fs::write(&file, configuration)?;
    let mut command = Command::new(program);
    command.arg("-p").arg(&folder).arg("-c").arg(&file).arg("-e").arg(folder.join("log"));
    Ok(command)
}

fn mitmproxy(workspace: &Workspace, world: &World, origin: &Origin, port: u16) -> Result<Command> {
    let program = python::mitmdump(workspace).context("it is not installed")?;
    let folder = folder(world, "mitmproxy", origin)?;
    let pem = folder.join("origin.pem");
    let script = folder.join("rewrite.py");
    fs::write(
        &script,
        format!("def request(flow):\n    flow.request.headers[\"authorization\"] = \"Bearer {VALUE}\"\n"),
    )?;
    let mut command = Command::new(program);
    command
        .args(["-q", "--listen-host", "127.0.0.1", "--listen-port", &port.to_string()])
        .args(["--mode", &format!("reverse:https://127.0.0.1:{}", origin.tls)])
        .args(["--certs", &format!("*={}", pem.display()), "--set", "keep_host_header=true"])
        .args(["--set", "ssl_insecure=true", "--set", "stream_large_bodies=1m"])
        .args(["--set", &format!("confdir={}", folder.display())])
        .arg("-s")
        .arg(&script);
    Ok(command)
}

/// A folder of its own, with the origin's certificate and key in `origin.pem`.
fn folder(world: &World, name: &str, origin: &Origin) -> Result<std::path::PathBuf> {
    let folder = world.file(name);
    fs::create_dir_all(&folder)?;
    write_pem(&folder.join("origin.pem"), origin)?;
    Ok(folder)
}

fn write_pem(path: &Path, origin: &Origin) -> Result<()> {
    Ok(fs::write(path, origin.key_pem() + &origin.certificate_pem())?)
}
