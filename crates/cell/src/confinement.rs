//! What is left to this process once the cell is built: its own folders, what looking names up needs, and the network.
//!
//! It reads what a cell sends. Were it taken over by that, it would have this cell's values and nothing else of the user.

use std::path::{Path, PathBuf};

use cell_api::spec::CellSpec;
use model::layer::Layer;
use sandbox::confinement::{self, Access, ConfinementError, Grant};

use crate::cell::Cell;

/// Confines this process for good. Comes after everything that opens, starts or connects what is outside of `grants`,
/// and before anything runs in the cell. `None` where a test-only build leaves it out.
pub(crate) fn enter(
    cell: &Cell,
    spec: &CellSpec,
    data: Option<&Path>,
) -> Result<Option<Layer>, ConfinementError> {
    if sandbox::guard::off("supervisor-confinement") {
        return Ok(None);
    }
    confinement::enter(&grants(cell, spec, data)).map(Some)
}

fn grants(cell: &Cell, spec: &CellSpec, data: Option<&Path>) -> Vec<Grant> {
    let folders = &cell.supervision.folders;
    let mut all = vec![
        grant(folders.cell(&cell.id), Access::Write),
        // Its own folder goes last, and it lies in this one; nobody else's is empty.
        grant(folders.cells(), Access::RemoveFolders),
        grant(folders.logs(&spec.name), Access::Write),
        grant(folders.egress_logs(&spec.name), Access::Write),
    ];
    for group in cell.state.borrow().groups.paths() {
        let above = group.parent().map(Path::to_owned);
        all.push(grant(group, Access::Control));
        all.extend(above.map(|above| grant(above, Access::RemoveFolders)));
    }
    // Weighed and watched by name, never read.
    all.extend(data.map(|data| grant(data, Access::List)));
    all.extend(spec.mounts.iter().filter(|mount| mount.write).map(|mount| grant(&mount.path, Access::List)));
    all.extend(looking_up());
    all
}

/// What getaddrinfo(3) reads: nsswitch.conf(5), the modules it names, and their own files.
fn looking_up() -> Vec<Grant> {
    const LIBRARIES: [&str; 6] =
        ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache"];
    const FILES: [&str; 8] = [
        "/etc/resolv.conf",
        "/etc/hosts",
        "/etc/nsswitch.conf",
        "/etc/gai.conf",
        "/etc/host.conf",
        "/etc/services",
        "/etc/protocols",
        "/etc/networks",
    ];
    let mut paths: Vec<PathBuf> = LIBRARIES.iter().map(PathBuf::from).collect();
    if rustix::process::geteuid().is_root() {
        paths.extend(FILES.iter().map(PathBuf::from));
    } else {
        // A laptop that changes networks gets a new file in the place of the old one, which a grant of the old one does
        // not cover. What a user may read there is nobody's secret; root's own is, and root's machines stay where they are.
        paths.push(PathBuf::from("/etc"));
    }
    // Often a link to a file that a daemon replaces; then the folder holds nothing else.
    for file in FILES {
        if let Ok(real) = Path::new(file).canonicalize()
            && !real.starts_with("/etc")
            && let Some(folder) = real.parent()
            && folder.starts_with("/run")
        {
            paths.push(folder.to_owned());
        }
    }
    paths.into_iter().map(|path| grant(path, Access::Read)).collect()
}

fn grant(path: impl Into<PathBuf>, access: Access) -> Grant {
    Grant { path: path.into(), access }
}
