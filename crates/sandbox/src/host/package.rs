//! A package of Fumehood's own store, which a cell has at one place, whatever its folder is called on the host.

use std::path::{Path, PathBuf};

use super::Plan;
use super::ground::Ground;
use super::plan_error::PlanError;
use super::sight::{Sight, Topic};

/// Where installers put the programs of a package (npm, `uv pip install --target`).
const PROGRAMS: &[&str] = &["node_modules/.bin", "bin"];

/// Says that the package is visible, and puts its programs first on `PATH`, as `npx` does.
pub(crate) fn show(ground: &Ground<'_>, sight: &mut Sight) {
    let Some(package) = ground.package else { return };
    sight.note(Topic::Code, format!("{} (read-only, at {})", package.display(), Plan::PACKAGE));
    for programs in PROGRAMS {
        if ground.view.is_dir(&package.join(programs)) {
            sight.add_dir(0, Path::new(Plan::PACKAGE).join(programs));
        }
    }
}

/// Whether a path inside names something of the package.
pub(crate) fn holds(ground: &Ground<'_>, path: &Path) -> bool {
    ground.package.is_some() && path.starts_with(Plan::PACKAGE)
}

/// The file on the host behind a program of the package; no link leads out of it.
pub(crate) fn program(ground: &Ground<'_>, path: &Path) -> Result<PathBuf, PlanError> {
    let package = ground.package.unwrap_or(path);
    let inside = path.strip_prefix(Plan::PACKAGE).unwrap_or(path);
    let trace = ground
        .view
        .trace(&package.join(inside))
        .map_err(|source| PlanError::Missing { path: path.to_owned(), source })?;
    if trace.real.starts_with(package) && ground.view.is_program(&trace.real) {
        Ok(trace.real)
    } else {
        Err(PlanError::NotExecutable { path: path.to_owned() })
    }
}
