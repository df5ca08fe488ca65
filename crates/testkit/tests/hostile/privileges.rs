//! More rights than a cell has: other users' programs, capabilities, groups, marks on files.

use std::process::Command;

use testkit::world::{Caller, World};

use crate::scene::{SECRET, Scene, behind};
use crate::table::Control::{None, Off, OffByRoot};
use crate::table::{Case, case, each, prove};

const REFUSED: &[i32] = &[libc::EPERM];
const UNMAPPED: &str = "ids that are not mapped into the user namespace never take effect, and an ordinary user's cell \
                        cannot do without that namespace";
const ID_MAPPED: &str = "an id-mapped mount leads the owner of such marks to an id that they do not count for; the \
                         set-user-id program shows that the mount itself lets them through";
const OWN_USER: &str = "a user's cell is that user on the host";
const NO_KERNEL: &str = "mkdir(2) ignores these bits; chmod(2) is what sets them";
const MAPPED: &str = "an id-mapped mount shows all groups but the owner's as nobody's";

pub(crate) const CASES: &[Case] = &[
    case("capabilities", "capabilities", &[], Off("capabilities")),
    case("new privileges", "new-privileges", &[], Off("no-new-privs,seccomp,landlock")),
    each(
        "a set-user-id program of root's",
        "become,{planted}",
        &[],
        Off("user-namespace,no-new-privs,seccomp,landlock,mount-flags"),
        None(UNMAPPED),
    ),
    each("a program with capabilities", "become,{capable}", &[], None(ID_MAPPED), None(UNMAPPED)),
    each("the host's root", "mapped-to-root", &[], Off("identity"), None(OWN_USER)),
    case("groups", "groups", &[], Off("groups")),
    each(
        "a file for a group",
        "read,{for-group},{secret}",
        &[libc::EACCES],
        None(MAPPED),
        OffByRoot("groups"),
    ),
    case("chmod u+s", "chmod,{folder}/a,4755", REFUSED, Off("seccomp-suid")),
    case("chmod g+s", "chmod,{folder}/b,2755", REFUSED, Off("seccomp-suid")),
    case("chmod u+s in /tmp", "chmod,/tmp/a,4755", REFUSED, Off("seccomp-suid")),
    case("chmod u+s in its data", "chmod,/data/a,4755", REFUSED, Off("seccomp-suid")),
    case("open with u+s", "open-mode,{folder}/c,4755", REFUSED, Off("seccomp-suid")),
    case("open with g+s", "open-mode,{folder}/d,2755", REFUSED, Off("seccomp-suid")),
    case("mkdir with g+s", "mkdir-mode,{folder}/e,2755", REFUSED, Off("seccomp-suid")),
    case("mkdir with u+s", "mkdir-mode,{folder}/f,4755", REFUSED, None(NO_KERNEL)),
    case("mknod with u+s", "mknod-mode,{folder}/g,104755", REFUSED, Off("seccomp-suid")),
    case("a device", "mknod-mode,{folder}/h,20666", REFUSED, Off("seccomp-suid,landlock")),
];

/// An owner that is nobody's here.
const NOBODY_HERE: u32 = 54_321;
/// A group that is on every Linux and that nothing important belongs to.
const GROUP: &str = "games";

fn stage(caller: Caller, _: Option<&str>) -> Scene {
    let scene = Scene::new(caller);
    let root = rustix::process::geteuid().is_root();
    for folder in ["folder", "programs"] {
        scene.world.make_folder(folder).unwrap();
    }
    for (name, mode) in [("planted", 0o4755), ("capable", 0o755)] {
        let path = scene.world.path("programs").join(name);
        std::fs::copy(scene.world.attacker(), &path).unwrap();
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    }
    let for_group =
        scene.world.make_file("programs/for-group", SECRET, if root { 0o640 } else { 0 }).unwrap();
    if root {
        std::os::unix::fs::lchown(&for_group, Some(NOBODY_HERE), Some(group())).unwrap();
        set_capability(&scene.world.path("programs/capable"));
    }
    scene
        .place("planted", "programs/planted")
        .place("capable", "programs/capable")
        .place("for-group", "programs/for-group")
        .place("folder", "folder")
        .place("programs", "programs")
        .flags(["--mount", "{folder}:rw", "--mount", "{programs}", "--data", "theirs"])
        .wrapped(in_group)
}

fn group() -> u32 {
    let groups = std::fs::read_to_string("/etc/group").unwrap();
    let line = groups
        .lines()
        .find(|line| line.split(':').next() == Some(GROUP))
        .expect("there is the group `games`");
    line.split(':').nth(2).unwrap().parse().unwrap()
}

/// `security.capability` of capabilities(7): version 2, effective, `CAP_NET_RAW` permitted.
fn set_capability(program: &std::path::Path) {
    let mut value = [0_u8; 20];
    for (to, from) in value.iter_mut().zip([1, 0, 0, 2, 0, 0x20]) {
        *to = from;
    }
    rustix::fs::setxattr(program, "security.capability", &value, rustix::fs::XattrFlags::empty()).unwrap();
}

/// Runs a command as a member of the group, where the tests may decide that.
fn in_group(world: &World, command: &Command) -> Command {
    if !rustix::process::geteuid().is_root() {
        return behind(&Command::new("env"), command);
    }
    let (uid, gid) = world.caller().ids();
    let mut member = Command::new("setpriv");
    member.args(["--reuid", &uid.to_string(), "--regid", &gid.to_string()]);
    member.args(["--groups", &format!("{gid},{}", group())]);
    // The world's own `setpriv`, which would set the groups of the account, is left away.
    let words: Vec<_> = std::iter::once(command.get_program()).chain(command.get_args()).collect();
    let own = words.first().is_some_and(|word| *word == "setpriv");
    let program = words.iter().position(|word| own && *word == "--").map_or(0, |at| at + 1);
    let mut bare = Command::new(words.get(program).unwrap());
    bare.args(words.iter().skip(program + 1)).current_dir(world.folder());
    bare.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    behind(&member, &bare)
}

#[test]
fn nobody_gains_rights() {
    prove("privileges", CASES, stage);
}
