//! The service laid down on a machine, started as its own user, told to read anew and to end.

use std::{
    fs,
    os::unix::{fs::PermissionsExt, net::UnixDatagram},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    time::Duration,
};

use insta::assert_snapshot;
use rustix::process::Signal;
use serde_json::Value;

use crate::cli::world::{World, signal};

/// A server of two tools, in the language of the shell.
const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/service/orders.sh");

#[test]
fn an_installation_can_be_looked_at_and_laid_down_elsewhere() {
    let world = World::new();
    let program = env!("CARGO_BIN_EXE_fumehood");
    let said = world.said(&["serve", "--install", "--dry-run"]);
    let unit = said.split_once("# Written by").unwrap().1.split_once("--- stderr").unwrap();
    assert!(
        unit.0.contains(&format!("ExecStart={program} serve --socket /run/fumehood/gateway.sock\n")),
        "{said}"
    );
    assert_snapshot!(unit.1, @r"

    fumehood: would make: useradd --system --user-group --home-dir /var/lib/fumehood --no-create-home --shell /usr/sbin/nologin fumehood
    fumehood: would make: the folder /var/lib/fumehood, mode 0700
    fumehood: would make: the folder /etc/fumehood, mode 0755
    fumehood: would make: the file /etc/fumehood/config.toml, mode 0644
    fumehood: would make: the file /etc/systemd/system/fumehood.service, mode 0644
    fumehood: would make: chown --no-dereference fumehood:fumehood /var/lib/fumehood
    ");

    let root = world.project().join("image");
    let lay = || world.said(&["serve", "--install", "--root", root.to_str().unwrap()]);
    assert_snapshot!(lay(), @r"
    exit code 0
    --- stderr
    fumehood: the file /usr/lib/sysusers.d/fumehood.conf, mode 0644
    fumehood: the folder /var/lib/fumehood, mode 0700
    fumehood: the folder /etc/fumehood, mode 0755
    fumehood: the file /etc/fumehood/config.toml, mode 0644
    fumehood: the file /etc/systemd/system/fumehood.service, mode 0644
    ");
    let config = root.join("etc/fumehood/config.toml");
    // What it comes with lets nobody in, and is right.
    assert!(fs::read_to_string(&config).unwrap().lines().all(|line| line.starts_with('#')));
    fs::write(&config, "# mine\n").unwrap();
    assert!(lay().contains("/etc/fumehood/config.toml is there, and stays as it is"));
    assert_eq!(fs::read_to_string(&config).unwrap(), "# mine\n");
    let mode = |path: &str| fs::metadata(root.join(path)).unwrap().permissions().mode() & 0o7777;
    let modes = [
        "var/lib/fumehood",
        "etc/fumehood",
        "etc/fumehood/config.toml",
        "etc/systemd/system/fumehood.service",
    ]
    .map(mode);
    assert_eq!(modes, [0o700, 0o755, 0o644, 0o644]);
    verify(&root.join("etc/systemd/system/fumehood.service"));
}

/// What systemd itself says of the unit, where it is on this machine.
fn verify(unit: &Path) {
    match Command::new("systemd-analyze").arg("verify").arg(unit).output() {
        Ok(told) => {
            let said = String::from_utf8_lossy(&told.stderr);
            let ours: Vec<&str> = said.lines().filter(|line| line.contains("fumehood.service")).collect();
            assert!(told.status.success() && ours.is_empty(), "{said}");
        }
        Err(error) => eprintln!("skipped: systemd's look at the unit: {error}"),
    }
}

#[test]
fn only_root_makes_a_service_of_the_machine() {
    if !rustix::process::geteuid().is_root() {
        let said = World::new().said(&["serve", "--install"]);
        assert!(said.starts_with("exit code 2") && said.contains("only root"), "{said}");
        return;
    }
    // A program that others can replace would make them the service.
    let world = World::new();
    let programs = world.project().join("programs");
    fs::create_dir(&programs).unwrap();
    let program = programs.join("fumehood");
    fs::copy(env!("CARGO_BIN_EXE_fumehood"), &program).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_fumehood-jail"), programs.join("fumehood-jail")).unwrap();
    fs::set_permissions(&programs, fs::Permissions::from_mode(0o777)).unwrap();
    let told = Command::new(&program).args(["serve", "--install"]).output().unwrap();
    let said = world.shown(&told);
    assert!(
        said.starts_with("exit code 12") && said.contains("can be changed by others than root"),
        "{said}"
    );
}

/// The installed service, as the unit starts it.
struct Installed {
    service: Child,
    told: UnixDatagram,
    /// A folder that both sides see.
    outside: PathBuf,
    _world: World,
}

impl Installed {
    /// Nothing where this test may not install.
    fn start(configuration: &str) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: the installed service: only root can install");
            return None;
        }
        let world = World::new();
        let outside = world.project().join("outside");
        fs::create_dir(&outside).unwrap();
        for folder in outside.ancestors().take(3) {
            fs::set_permissions(folder, fs::Permissions::from_mode(0o711)).unwrap();
        }
        fs::write(outside.join("config.toml"), configuration).unwrap();
        let told = UnixDatagram::bind(outside.join("notify")).unwrap();
        fs::set_permissions(outside.join("notify"), fs::Permissions::from_mode(0o666)).unwrap();
        told.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        let programs = Path::new(env!("CARGO_BIN_EXE_fumehood")).parent().unwrap();
        let log = |name: &str| fs::File::create(outside.join(name)).unwrap();
        let service = Command::new("unshare")
            .args([
                "--mount",
                "--propagation",
                "private",
                "sh",
                "-c",
                include_str!("installed.sh"),
                "installed",
            ])
            .args([programs, &outside, Path::new(SERVER)])
            .stdin(Stdio::null())
            .stdout(log("stdout"))
            .stderr(log("stderr"))
            .spawn()
            .unwrap();
        let mut installed = Self { service, told, outside, _world: world };
        assert_eq!(installed.word(), "READY=1\nSTATUS=serving\n", "{}", installed.log());
        Some(installed)
    }

    /// What systemd would be told next.
    fn word(&mut self) -> String {
        let mut bytes = [0; 4096];
        let length = self.told.recv(&mut bytes);
        assert!(length.is_ok(), "{length:?}; {:?}\n{}", self.service.try_wait(), self.log());
        String::from_utf8_lossy(bytes.get(..length.unwrap()).unwrap()).into_owned()
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.outside.join(name)).unwrap()
    }

    fn log(&self) -> String {
        self.read("stderr")
    }

    fn pid(&self) -> i32 {
        i32::try_from(self.service.id()).unwrap()
    }

    /// A program of another user of the same machine.
    fn as_user(&self, uid: u32, words: &[&str]) -> Output {
        let uid = uid.to_string();
        let mut command = Command::new("nsenter");
        command
            .arg(format!("--mount=/proc/{}/ns/mnt", self.pid()))
            .args(["setpriv", "--reuid", &uid, "--regid", &uid]);
        command.arg("--clear-groups").args(words).current_dir("/").stdin(Stdio::null()).output().unwrap()
    }

    fn get(&self, uid: u32, more: &[&str]) -> String {
        let words = ["curl", "-sS", "--max-time", "30", "--unix-socket", "/run/fumehood/gateway.sock"];
        let output = self.as_user(uid, &[&words, more].concat());
        assert!(output.status.success(), "{}\n{}", String::from_utf8_lossy(&output.stderr), self.log());
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        // One that has ended needs no ending.
        self.service.kill().ok();
        self.service.wait().ok();
    }
}

/// A user of every Linux that owns nothing.
const NOBODY: u32 = 65534;

const CONFIGURATION: &str = "[servers.orders]\ncommand = ['sh', '/usr/local/lib/orders.sh']\nmounts = ['/usr/local/lib/orders.sh']\n\
     tools.get_order.bind.user_id = 'subject'\n[serve]\nlisten = '127.0.0.1:0'\n\
     [roles.support]\ntools = ['orders/get_order']\n[peers.somebody]\nuid = 65534\nroles = ['support']\n";

#[test]
fn the_installed_service_serves_as_its_own_user_behind_what_the_unit_takes_from_it() {
    let Some(mut installed) = Installed::start(CONFIGURATION) else { return };
    assert_snapshot!(installed.read("modes"), @r"
    drwxr-xr-x root:root /etc/fumehood
    -rw-r--r-- root:root /etc/fumehood/config.toml
    drwx------ fumehood:fumehood /var/lib/fumehood
    -rw-r--r-- root:root /etc/systemd/system/fumehood.service
    ");
    assert!(installed.read("again").contains("/etc/fumehood/config.toml is there, and stays as it is"));
    let status = fs::read_to_string(format!("/proc/{}/status", installed.pid())).unwrap();
    let line = |key: &str| status.lines().find_map(|line| line.strip_prefix(key)).unwrap().trim().to_owned();
    assert_eq!(
        (line("NoNewPrivs:"), line("CapBnd:"), line("CapEff:")),
        ("1".to_owned(), "0".repeat(16), "0".repeat(16))
    );
    assert_ne!(line("Uid:").split_whitespace().next(), Some("0"));

    // A peer is known by the kernel's word, sees what its role has, and a call runs in a cell.
    assert_snapshot!(installed.get(NOBODY, &["http://localhost/v1/tools"]), @r#"{"tools":[{"description":"Reads an order.","input_schema":{"properties":{"id":{"type":"string"}},"required":["id"],"type":"object"},"name":"orders__get_order"}]}"#);
    let block = r#"{"type":"tool_use","id":"t1","name":"orders__get_order","input":{"id":"7"}}"#;
    let call = ["http://localhost/v1/tool-calls", "-H", "content-type: application/json", "-d", block];
    assert_snapshot!(installed.get(NOBODY, &call), @r#"{"content":[{"content":[{"text":"order of somebody","type":"text"}],"tool_use_id":"t1","type":"tool_result"}],"role":"user"}"#);
    // Another one is nobody.
    let refused = installed.get(NOBODY - 1, &["http://localhost/v1/tools"]);
    assert!(refused.contains("FH-PEER-UNKNOWN"), "{refused}");
    // What it keeps nobody else reads: neither vault nor record, locks or logs.
    for path in ["/var/lib/fumehood", "/var/lib/fumehood/.local/share/fumehood/audit/audit.db"] {
        let output = installed.as_user(NOBODY, &["cat", path]);
        assert!(String::from_utf8_lossy(&output.stderr).contains("Permission denied"), "{path}: {output:?}");
    }
    let own = line("Uid:").split_whitespace().next().unwrap().parse().unwrap();
    let record = installed.as_user(own, &["cat", "/var/lib/fumehood/.local/share/fumehood/audit/audit.db"]);
    assert!(
        record.status.success() && record.stdout.starts_with(b"SQLite format 3"),
        "it is there to be read"
    );
    // It cannot change who may use it.
    for path in ["/etc/fumehood/config.toml", "/etc/fumehood/new", "/usr/local/bin/fumehood", "/run/new"] {
        let output = installed.as_user(own, &["sh", "-c", "echo >> \"$0\"", path]);
        assert!(!output.status.success(), "{path}");
    }

    signal(installed.pid(), Signal::HUP);
    let reloading = installed.word();
    assert!(reloading.starts_with("RELOADING=1\nMONOTONIC_USEC="), "{reloading}");
    assert_eq!(installed.word(), "READY=1\nSTATUS=serving\n");
    signal(installed.pid(), Signal::TERM);
    assert_eq!(installed.word(), "STOPPING=1\nSTATUS=letting calls end\n");
    assert!(installed.service.wait().unwrap().success(), "{}", installed.log());
    let log = installed.log();
    let started = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let started =
        started.into_iter().find(|line| line.get("message").is_some_and(|said| said == "serving")).unwrap();
    for key in ["address", "socket", "pid", "version", "ready", "withheld"] {
        assert!(started.get(key).is_some(), "{key}: {started}");
    }
    assert_eq!(started.get("ready").and_then(Value::as_str), Some("orders"));
}
