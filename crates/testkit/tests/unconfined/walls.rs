//! Walls that cannot be held: refused, by name.

use std::fs;

use serde_json::Value;
use testkit::world::Caller;

use crate::host::{Around, Host, Lack, Ran, callers};

/// The layer that is named, and what its remedy says.
struct Refusal {
    layer: &'static str,
    /// Where that is another one when root starts the cell.
    for_root: Option<&'static str>,
    remedy: &'static str,
}

const USED_UP: Refusal = refusal("namespaces", "user.max_user_namespaces");
/// Trees that are taken hold of with root's rights need one too.
const NO_MOUNTS: Refusal = Refusal { for_root: Some("mounts"), ..USED_UP };
const MASKED: Refusal = refusal("proc", "unmasked /proc");
const POLICY: &str = "security policy of this host";

const fn refusal(layer: &'static str, remedy: &'static str) -> Refusal {
    Refusal { layer, for_root: None, remedy }
}

/// What is lacking, and how the start is refused.
const WALLS: &[(&str, Lack, Refusal)] = &[
    ("user namespaces off", Lack::Namespaces("user"), USED_UP),
    ("mount namespaces off", Lack::Namespaces("mnt"), NO_MOUNTS),
    ("pid namespaces off", Lack::Namespaces("pid"), USED_UP),
    ("network namespaces off", Lack::Namespaces("net"), USED_UP),
    ("ipc namespaces off", Lack::Namespaces("ipc"), USED_UP),
    ("uts namespaces off", Lack::Namespaces("uts"), USED_UP),
    ("cgroup namespaces off", Lack::Namespaces("cgroup"), USED_UP),
    ("no clone3", Lack::Calls(&["clone3=ENOSYS"]), refusal("namespaces", "lacks a namespace")),
    ("id map refused", Lack::IdMap, refusal("identity", "id map was refused")),
    ("one file of /proc masked", Lack::Mounts("mount --bind /dev/null /proc/interrupts"), MASKED),
    (
        "/proc/sys read-only",
        Lack::Mounts("mount --bind /proc/sys /proc/sys; mount -o remount,bind,ro /proc/sys"),
        MASKED,
    ),
    ("no open_tree", Lack::Calls(&["open_tree=ENOSYS"]), refusal("mounts", "mount API")),
    ("no mount_setattr", Lack::Calls(&["mount_setattr=ENOSYS"]), refusal("mounts", "mount API")),
    ("no fsopen", Lack::Calls(&["fsopen=ENOSYS"]), refusal("proc", "mount API")),
    ("move_mount refused", Lack::Calls(&["move_mount=EPERM"]), refusal("mounts", POLICY)),
    ("pivot_root refused", Lack::Calls(&["pivot_root=EPERM"]), refusal("mounts", POLICY)),
    (
        "host name refused",
        Lack::Calls(&["sethostname=EPERM"]),
        refusal("namespaces", "user namespaces are refused"),
    ),
    (
        "no sockets of the internet",
        Lack::Calls(&["socket:0=2=EAFNOSUPPORT", "socket:0=16=EAFNOSUPPORT"]),
        refusal("network", "CONFIG_INET"),
    ),
    ("capabilities not given up", Lack::Calls(&["capset=EPERM"]), refusal("capabilities", POLICY)),
    ("ceilings refused", Lack::Calls(&["prlimit64=EPERM"]), refusal("rlimits", POLICY)),
    (
        "no no_new_privs",
        Lack::Calls(&["prctl:0=38=EINVAL"]),
        refusal("no-new-privileges", "CONFIG_SECCOMP_FILTER"),
    ),
    ("no seccomp", Lack::Calls(&["seccomp=ENOSYS"]), refusal("seccomp", "CONFIG_SECCOMP_FILTER")),
    ("seccomp refused", Lack::Calls(&["seccomp=EINVAL"]), refusal("seccomp", "CONFIG_SECCOMP_FILTER")),
    (
        "Landlock there, but refused",
        Lack::Calls(&["landlock_restrict_self=EPERM"]),
        refusal("landlock", "refused the rules"),
    ),
    ("an old kernel", Lack::Release, refusal("kernel", "5.14")),
    ("no jail program", Lack::Jail, refusal("jail", "install both programs")),
    ("a jail program that cannot be run", Lack::ExecutableJail, refusal("jail", "install both programs")),
];

#[test]
fn a_wall_that_cannot_be_held_is_a_refused_start() {
    each(|name, host, refusal| {
        for (verb, flags) in [("run", ["--unreviewed"].as_slice()), ("exec", &["--limit", "require=none"])] {
            let ran = host.run(&host.marking(verb, flags));
            let case = format!("{name}, `{verb}`");
            assert_eq!(ran.code, Some(13), "{case}: {ran:?}");
            assert!(!host.mark().exists(), "{case}: something ran: {ran:?}");
            assert!(ran.stderr.contains(&format!("(layer: {})", refusal.layer)), "{case}: {ran:?}");
            let help = ran.stderr.lines().find(|line| line.contains("help: ")).unwrap_or_default();
            assert!(help.contains(refusal.remedy), "{case}: {ran:?}");
            assert_eq!(ran.stdout, "", "{case}");
        }
        let cells = fs::read_dir(host.world.path("state/fumehood/cells"));
        assert_eq!(cells.map_or(0, Iterator::count), 0, "{name}: a cell has left its folder");
    });
}

#[test]
fn doctor_names_the_wall_that_cannot_be_held() {
    each(|name, host, refusal| {
        let text = host.run(&["doctor".into()]);
        assert_eq!(text.code, Some(13), "{name}: {text:?}");
        for words in [&format!("layer: {}\n", refusal.layer), "a wall is not held: nothing is started"] {
            assert!(text.stdout.contains(words), "{name}: {text:?}");
        }
        let told = |line: &str| line.trim_start().starts_with("remedy: ") && line.contains(refusal.remedy);
        assert!(text.stdout.lines().any(told), "{name}: {text:?}");
        let json = host.run(&["doctor".into(), "--json".into()]);
        assert_eq!(json.code, Some(13), "{name}: {json:?}");
        let report: Value = parsed(&json);
        assert_eq!(report["wall"], false, "{name}: {report:#}");
        assert_eq!(report["refusal"]["layer"], refusal.layer, "{name}: {report:#}");
        assert_eq!(report["refusal"]["code"], "FH-CELL-WALL", "{name}: {report:#}");
        assert!(report["refusal"]["hint"].as_str().unwrap().contains(refusal.remedy), "{name}: {report:#}");
    });
}

/// What is around the product in the simulations changes nothing by itself.
#[test]
fn the_simulations_without_a_lack_run() {
    for caller in callers() {
        for around in [Around::Filter, Around::MountNamespace, Around::UserNamespace, Around::Copy] {
            let host = Host::new(caller, Lack::Nothing(around));
            let ran = host.run(&host.marking("run", &["--unreviewed"]));
            assert_eq!(ran.code, Some(0), "{around:?} as {caller:?}: {ran:?}");
            assert!(host.mark().exists(), "{around:?} as {caller:?}: nothing ran: {ran:?}");
            let doctor = host.run(&["doctor".into(), "--json".into()]);
            assert_eq!(doctor.code, Some(0), "{around:?} as {caller:?}: {doctor:?}");
            assert_eq!(parsed(&doctor)["wall"], true, "{around:?} as {caller:?}");
        }
    }
}

fn each(check: impl Fn(&str, &Host, &Refusal)) {
    for caller in callers() {
        for (name, lack, refusal) in WALLS {
            let root = (caller == Caller::Root).then_some(refusal.for_root).flatten();
            let refusal = Refusal { layer: root.unwrap_or(refusal.layer), ..*refusal };
            check(&format!("{name}, as {caller:?}"), &Host::new(caller, *lack), &refusal);
        }
    }
}

pub(crate) fn parsed(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}
