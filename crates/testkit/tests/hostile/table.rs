//! Cases as data, and how they are proved.

use std::collections::BTreeMap;
use std::path::Path;

use testkit::attack::Finding;
use testkit::world::{Caller, Ran, skip};

use crate::scene::Scene;

/// One attack.
#[derive(Debug)]
pub(crate) struct Case {
    /// What it is called; its own within the family.
    pub(crate) label: &'static str,
    /// The attempt: `ATTACK,ARGUMENT…`, with the scene's words in braces.
    pub(crate) attack: &'static str,
    /// The errors of which one holds it off; any, or none at all, where the list is empty.
    pub(crate) errnos: &'static [i32],
    /// The control when started by root.
    pub(crate) root: Control,
    /// The control when started by an ordinary user.
    pub(crate) user: Control,
}

/// How it is shown that the attack would work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Control {
    /// With these guards left out, names with commas between.
    Off(&'static str),
    /// With these guards left out, on hosts that have this path.
    OffWhere(&'static str, &'static str),
    /// With these guards left out, unless this file of the host begins with this.
    OffUnless(&'static str, &'static str, &'static str),
    /// With these guards left out, where root runs the tests: nobody else can set the case up.
    OffByRoot(&'static str),
    /// Not, and why.
    None(&'static str),
}

impl Control {
    /// The guards.
    pub(crate) fn guards(self) -> Option<&'static str> {
        match self {
            Self::Off(guards)
            | Self::OffWhere(_, guards)
            | Self::OffUnless(_, _, guards)
            | Self::OffByRoot(guards) => Some(guards),
            Self::None(_) => None,
        }
    }

    /// Why it cannot be tried on this host.
    fn obstacle(self) -> Option<String> {
        match self {
            Self::OffWhere(path, _) if !Path::new(path).exists() => {
                Some(format!("this kernel has no {path}"))
            }
            Self::OffUnless(file, begin, _)
                if std::fs::read_to_string(file).is_ok_and(|text| text.starts_with(begin)) =>
            {
                Some(format!("{file} is {begin} here"))
            }
            Self::OffByRoot(_) if !rustix::process::geteuid().is_root() => {
                Some("only root can set it up".into())
            }
            _ => None,
        }
    }
}

/// A case whose control is the same for both callers.
pub(crate) const fn case(
    label: &'static str,
    attack: &'static str,
    errnos: &'static [i32],
    control: Control,
) -> Case {
    Case { label, attack, errnos, root: control, user: control }
}

/// A case whose control depends on who starts it: root, then the ordinary user.
pub(crate) const fn each(
    label: &'static str,
    attack: &'static str,
    errnos: &'static [i32],
    root: Control,
    user: Control,
) -> Case {
    Case { label, attack, errnos, root, user }
}

impl Case {
    fn control(&self, caller: Caller) -> Control {
        match caller {
            Caller::Root => self.root,
            Caller::Ordinary => self.user,
        }
    }
}

/// Tries every case of a family as every caller, and then its controls. `stage` makes the scene anew for each run,
/// so that nothing that one run did is there for the next.
pub(crate) fn prove(family: &str, cases: &[Case], stage: fn(Caller, Option<&str>) -> Scene) {
    let mut faults = Vec::new();
    for caller in Caller::all() {
        let scene = stage(caller, None);
        let ran = scene.run(None, family, cases.iter());
        let found = findings(&ran);
        for case in cases {
            if let Some(fault) = held(case, found.get(case.label)) {
                faults.push(format!("{caller:?}: {}: {fault}", case.label));
            }
        }
        note_trouble(&ran, &format!("{caller:?}: {family}"), &mut faults);
        drop(scene);
        for (guards, some) in by_guards(family, cases, caller) {
            let scene = stage(caller, Some(guards));
            let ran = scene.run(Some(guards), family, some.iter().copied());
            let found = findings(&ran);
            for case in some {
                if !found.get(case.label).is_some_and(|finding| finding.got_in) {
                    let said = found.get(case.label);
                    faults.push(format!("{caller:?}: control {}, without {guards}: {said:?}", case.label));
                }
            }
            note_trouble(&ran, &format!("{caller:?}: {family} without {guards}"), &mut faults);
        }
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

fn by_guards<'a>(family: &str, cases: &'a [Case], caller: Caller) -> BTreeMap<&'static str, Vec<&'a Case>> {
    let mut groups: BTreeMap<&'static str, Vec<&Case>> = BTreeMap::new();
    for case in cases {
        let control = case.control(caller);
        if let Some(why) = control.obstacle() {
            skip(&format!("control of {family}: {}", case.label), &why);
        } else if let Some(guards) = control.guards() {
            groups.entry(guards).or_default().push(case);
        }
    }
    groups
}

/// The attempts' lines, by label.
pub(crate) fn findings(ran: &Ran) -> BTreeMap<String, Finding> {
    let lines = ran.stdout.lines().filter_map(|line| serde_json::from_str::<Finding>(line).ok());
    lines.map(|finding| (finding.case.clone(), finding)).collect()
}

fn held(case: &Case, finding: Option<&Finding>) -> Option<String> {
    match finding {
        None => Some("no answer".into()),
        Some(finding) if finding.got_in || finding.killed.is_some() => Some(format!("{finding:?}")),
        Some(finding) if case.errnos.is_empty() => {
            finding.detail.starts_with("no attack").then(|| finding.detail.clone())
        }
        Some(finding) if finding.errno.is_some_and(|errno| case.errnos.contains(&errno)) => None,
        Some(finding) => Some(format!("held off by something else: {finding:?}")),
    }
}

/// A run that said nothing, took too long or left something behind.
pub(crate) fn note_trouble(ran: &Ran, run: &str, faults: &mut Vec<String>) {
    if findings(ran).is_empty() {
        faults.push(format!("{run}: nothing was tried: code {:?}\n{}", ran.code, ran.stderr));
    }
    if ran.late {
        faults.push(format!("{run}: it did not end in time\n{}", ran.stderr));
    }
    if !ran.remains.is_empty() {
        faults.push(format!("{run}: left behind: {:?}", ran.remains));
    }
}
