//! Hosts of the internet, played by this machine: nothing of the demonstration leaves it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::home::Home;
use crate::workspace::answer;

/// Web servers with TLS; they end with this.
pub(super) struct Origins {
    child: Child,
    ports: BTreeMap<String, u16>,
    certificate: PathBuf,
    arrivals: PathBuf,
}

/// A request as it arrived at a host.
#[derive(Debug)]
pub(super) struct Arrival {
    /// How it was sent.
    pub(super) method: String,
    /// The credential in it; empty where there was none.
    pub(super) authorization: String,
}

impl Origins {
    /// Starts one server for each name.
    pub(super) fn start(home: &Home, names: &[&str]) -> Result<Self> {
        let certificate = home.path("tool/certificate.pem");
        let key = home.path("key.pem");
        let arrivals = home.path("arrivals.jsonl");
        make_certificate(names, &certificate, &key)?;
        fs::write(&arrivals, "")?;
        let mut child = Command::new("node")
            .arg(home.tool("origin.mjs")?)
            .args([&certificate, &key, &arrivals])
            .args(names)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("`node` could not be started")?;
        let stdout = child.stdout.take().context("the hosts have no stdout")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let ports = serde_json::from_str(&line).context("the hosts did not say where they are")?;
        Ok(Self { child, ports, certificate, arrivals })
    }

    /// The file of the certificate, which is also the authority that vouches for it.
    pub(super) fn certificate(&self) -> &PathBuf {
        &self.certificate
    }

    /// The requests that have arrived at a host so far.
    pub(super) fn arrived(&self, name: &str) -> Result<Vec<Arrival>> {
        let mut arrived = Vec::new();
        for line in fs::read_to_string(&self.arrivals)?.lines() {
            let noted: Value =
                serde_json::from_str(line).with_context(|| format!("a host noted `{line}`"))?;
            let field = |key| noted.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            if field("host") == name {
                arrived.push(Arrival { method: field("method"), authorization: field("authorization") });
            }
        }
        Ok(arrived)
    }

    /// The lines of an operator's configuration that say where the names lead.
    pub(super) fn upstreams(&self) -> String {
        let mut text = String::new();
        for (name, port) in &self.ports {
            // A string takes whatever is written to it.
            let _always = writeln!(
                text,
                "[upstreams.\"{name}\"]\naddress = \"127.0.0.1:{port}\"\nloopback = true\nca = \"{}\"\n",
                self.certificate.display()
            );
        }
        text
    }

    /// Connections to a host that are open at this moment, as the kernel counts them at the end that made them.
    pub(super) fn connections(&self, name: &str) -> Result<usize> {
        let port = self.ports.get(name).with_context(|| format!("no host is called `{name}`"))?;
        let table = fs::read_to_string("/proc/net/tcp").context("the kernel's table of connections")?;
        Ok(established(&table, *port))
    }
}

impl Drop for Origins {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        if let Err(error) = self.child.wait() {
            eprintln!("x: the hosts of the demonstration: {error}");
        }
    }
}

/// Lines of `/proc/net/tcp` whose other end is at `port` and whose state is 01, established (proc_net_tcp(5)).
fn established(table: &str, port: u16) -> usize {
    let there = format!(":{port:04X}");
    let is = |line: &&str| {
        let mut fields = line.split_whitespace().skip(2);
        fields.next().is_some_and(|other| other.ends_with(&there)) && fields.next() == Some("01")
    };
    table.lines().skip(1).filter(is).count()
}

fn make_certificate(names: &[&str], certificate: &Path, key: &Path) -> Result<()> {
    let names: Vec<String> = names.iter().map(|name| format!("DNS:{name}")).collect();
    let mut command = Command::new("openssl");
    command
        .args([
            "req",
            "-x509",
            "-nodes",
            "-days",
            "2",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
        ])
        .args(["-subj", "/CN=hosts of the demonstration"])
        // An authority's own certificate is taken for no host's.
        .args(["-addext", "basicConstraints=critical,CA:FALSE", "-addext"])
        .arg(format!("subjectAltName={}", names.join(",")))
        .arg("-keyout")
        .arg(key)
        .arg("-out")
        .arg(certificate);
    ensure!(answer(&mut command).is_some(), "`openssl` made no certificate");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::established;

    #[test]
    fn only_open_connections_of_the_port_are_counted() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue\n   \
                     0: 0100007F:1F90 00000000:0000 0A 00000000:00000000\n   \
                     1: 0100007F:1F90 0100007F:A2C4 01 00000000:00000000\n   \
                     2: 0100007F:A2C4 0100007F:1F90 01 00000000:00000000\n   \
                     3: 0100007F:A2C6 0100007F:1F90 06 00000000:00000000\n";
        assert_eq!((established(table, 8080), established(table, 8081)), (1, 0));
    }
}
