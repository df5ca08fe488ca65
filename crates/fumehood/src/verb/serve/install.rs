//! `serve --install`: a service of this machine, with a user of its own.
//!
//! The service cannot change who may use it: its configuration belongs to root, and what it keeps is nobody else's to
//! read. Its home is the folder of its state, so that whoever administers it finds the same places without being told
//! any: `sudo -u fumehood -H fumehood review NAME`.

use std::{
    ffi::OsStr,
    fs,
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use crate::{
    cli::serve::Serve,
    places,
    stop::{FAILURE, REFUSED, Stop, USAGE},
    terminal,
};

use self::unit::{SystemdVersion, Unit};

mod unit;

/// The user, and the group.
const USER: &str = "fumehood";
/// What it keeps; its home.
const STATE: &str = "/var/lib/fumehood";
/// The operator's file of the whole host.
const CONFIGURATION: &str = "/etc/fumehood/config.toml";
/// Units of whoever administers the host (systemd.unit(5)).
const UNIT: &str = "/etc/systemd/system/fumehood.service";

/// What a new operator's file holds: nothing, and what could be there.
const STARTER: &str = "\
# Who may use which tools. `fumehood serve --check` says whether it is right, `systemctl reload fumehood` takes it over.
# Every key is described in docs/reference/configuration.md.
#
# [servers.weather]
# source = \"npx:@acme/weather-mcp@1.4.2\"
#
# [roles.support]
# tools = [\"weather/*\"]
#
# [identity.corp]
# issuer = \"https://idp.example.com\"
# audience = [\"https://mcp.example.com\"]
#
# `fumehood serve --new-key ci` prints a key and its table:
# [keys.ci]
# sha256 = \"…\"
# roles = [\"support\"]
";

/// Where things are laid down, and whether they are.
struct Site<'a> {
    /// Below which folder; `/` for this machine.
    root: &'a Path,
    dry: bool,
}

/// Lays it down, or says what would be.
pub(super) fn perform(asked: &Serve) -> anyhow::Result<ExitCode> {
    let site = Site { root: asked.root.as_deref().unwrap_or(Path::new("/")), dry: asked.dry_run };
    let is_live = asked.root.is_none();
    let program = places::program()?;
    if is_live && !site.dry {
        if !rustix::process::geteuid().is_root() {
            let hint = "run it as root, or lay the files down elsewhere: `--install --root FOLDER`";
            return Err(Stop::new(USAGE, "only root can make a service of this machine", hint).into());
        }
        nobody_else_writes(&program)?;
    }
    let unit = Unit {
        program: &program,
        user: USER,
        state: STATE,
        version: if is_live { systemd() } else { SystemdVersion::UNKNOWN },
    };
    let unit = unit.text().ok_or_else(|| {
        let message = format!("`{}` cannot be written into a unit", program.display());
        Stop::new(USAGE, message, "put the program where the path has only letters, digits and `/._-`")
    })?;
    if is_live {
        user(&site)?;
    } else {
        site.file("/usr/lib/sysusers.d/fumehood.conf", &sysusers(), 0o644, true)?;
    }
    site.folder(STATE, 0o700)?;
    // It is the file of the whole host: whoever has none of their own reads it. Nothing in it is a secret.
    site.folder("/etc/fumehood", 0o755)?;
    site.file(CONFIGURATION, STARTER, 0o644, false)?;
    site.file(UNIT, &unit, 0o644, true)?;
    if is_live {
        let owner = format!("{USER}:{USER}");
        site.run("chown", &["--no-dereference", &owner, STATE])?;
        if Path::new("/run/systemd/system").is_dir() {
            site.run("systemctl", &["daemon-reload"])?;
        }
    }
    if site.dry {
        terminal::print(&unit)?;
    } else if is_live {
        terminal::say("it is installed; write who may use what into /etc/fumehood/config.toml, then:");
        terminal::say("  sudo -u fumehood -H fumehood serve --check");
        terminal::say("  sudo -u fumehood -H fumehood doctor");
        terminal::say("  systemctl enable --now fumehood");
    }
    Ok(ExitCode::SUCCESS)
}

/// Whoever can write the program, or a folder on the way to it, would be the service.
fn nobody_else_writes(program: &Path) -> anyhow::Result<()> {
    let mut jail = program.as_os_str().to_owned();
    jail.push("-jail");
    for path in [program, Path::new(&jail)].into_iter().flat_map(Path::ancestors) {
        let found = fs::metadata(path).map_err(|error| {
            Stop::new(FAILURE, format!("looking at `{}` failed: {error}", path.display()), "")
        })?;
        // In a folder with the sticky bit nobody replaces what is another's.
        let is_open = found.mode() & 0o022 != 0 && found.mode() & 0o1000 == 0;
        if found.uid() != 0 || is_open {
            let message = format!("`{}` can be changed by others than root", path.display());
            let hint = "put `fumehood` and `fumehood-jail` into /usr/local/bin, as root's, and run that one";
            return Err(Stop::new(REFUSED, message, hint).into());
        }
    }
    Ok(())
}

/// What systemd it is that will read the unit.
fn systemd() -> SystemdVersion {
    let told = Command::new("systemctl").arg("--version").output();
    told.ok().and_then(|told| SystemdVersion::read(&told.stdout)).unwrap_or(SystemdVersion::UNKNOWN)
}

/// Makes the user where there is none.
fn user(site: &Site<'_>) -> anyhow::Result<()> {
    if Command::new("getent").args(["passwd", USER]).output().is_ok_and(|found| found.status.success()) {
        return Ok(());
    }
    let arguments = [
        "--system",
        "--user-group",
        "--home-dir",
        STATE,
        "--no-create-home",
        "--shell",
        "/usr/sbin/nologin",
        USER,
    ];
    site.run("useradd", &arguments)
}

/// The same for a package (sysusers.d(5)).
fn sysusers() -> String {
    format!("u {USER} - \"Fumehood\" {STATE} /usr/sbin/nologin\n")
}

impl Site<'_> {
    fn at(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    fn folder(&self, path: &str, mode: u32) -> anyhow::Result<()> {
        let place = self.at(path);
        self.say(&format!("the folder {path}, mode {mode:04o}"));
        if self.dry {
            return Ok(());
        }
        let failed = |error: io::Error| {
            Stop::new(FAILURE, format!("making `{}` failed: {error}", place.display()), "")
        };
        if let Some(parent) = place.parent() {
            fs::DirBuilder::new().recursive(true).mode(0o755).create(parent).map_err(failed)?;
        }
        match fs::DirBuilder::new().mode(mode).create(&place) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && is_folder(&place) => {}
            Err(error) => return Err(failed(error).into()),
        }
        // The mode of a new folder is cut by the mask of whoever calls us.
        Ok(fs::set_permissions(&place, fs::Permissions::from_mode(mode)).map_err(failed)?)
    }

    /// Where `ours`, what is there is replaced: changes to it belong into a file of their own.
    fn file(&self, path: &str, text: &str, mode: u32, ours: bool) -> anyhow::Result<()> {
        let place = self.at(path);
        if place.exists() && !ours {
            self.say(&format!("{path} is there, and stays as it is"));
            return Ok(());
        }
        self.say(&format!("the file {path}, mode {mode:04o}"));
        if self.dry {
            return Ok(());
        }
        let failed = |error: io::Error| {
            Stop::new(FAILURE, format!("writing `{}` failed: {error}", place.display()), "")
        };
        if let Some(parent) = place.parent() {
            fs::DirBuilder::new().recursive(true).mode(0o755).create(parent).map_err(failed)?;
        }
        let mut beside = place.clone().into_os_string();
        beside.push(".new");
        let beside = PathBuf::from(beside);
        match fs::remove_file(&beside) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error).into()),
            _ => {}
        }
        let mut file =
            fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(&beside).map_err(failed)?;
        file.write_all(text.as_bytes()).map_err(failed)?;
        file.set_permissions(fs::Permissions::from_mode(mode)).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        Ok(fs::rename(&beside, &place).map_err(failed)?)
    }

    fn run(&self, program: &str, arguments: &[&str]) -> anyhow::Result<()> {
        self.say(&format!("{program} {}", arguments.join(" ")));
        if self.dry {
            return Ok(());
        }
        let ran = Command::new(program).args(arguments.iter().map(OsStr::new)).output();
        let why = match ran {
            Ok(output) if output.status.success() => return Ok(()),
            Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            Err(error) => error.to_string(),
        };
        Err(Stop::new(FAILURE, format!("`{program}` failed: {why}"), "").into())
    }

    fn say(&self, what: &str) {
        terminal::say(&if self.dry { format!("would make: {what}") } else { what.to_owned() });
    }
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}
