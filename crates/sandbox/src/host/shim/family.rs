//! pyenv and the managers made after it: one variable, one file looked for upwards, one global file.

use std::path::{Path, PathBuf};

use super::{Shim, ShimError, installed, upwards};
use crate::host::ground::Ground;

/// One manager of the family.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Family {
    tool: &'static str,
    root_variable: &'static str,
    root_name: &'static str,
    version_variable: &'static str,
    file: &'static str,
    /// What may stand before a version (`ruby-3.3.0`, `v20.1.0`).
    prefix: &'static str,
}

const FAMILIES: &[Family] = &[
    Family {
        tool: "pyenv",
        root_variable: "PYENV_ROOT",
        root_name: ".pyenv",
        version_variable: "PYENV_VERSION",
        file: ".python-version",
        prefix: "python-",
    },
    Family {
        tool: "nodenv",
        root_variable: "NODENV_ROOT",
        root_name: ".nodenv",
        version_variable: "NODENV_VERSION",
        file: ".node-version",
        prefix: "v",
    },
    Family {
        tool: "rbenv",
        root_variable: "RBENV_ROOT",
        root_name: ".rbenv",
        version_variable: "RBENV_VERSION",
        file: ".ruby-version",
        prefix: "ruby-",
    },
    Family {
        tool: "goenv",
        root_variable: "GOENV_ROOT",
        root_name: ".goenv",
        version_variable: "GOENV_VERSION",
        file: ".go-version",
        prefix: "go-",
    },
];

/// The manager whose root folder this is.
pub(super) fn of(ground: &Ground<'_>, root: &Path) -> Option<&'static Family> {
    FAMILIES.iter().find(|family| {
        root.file_name().is_some_and(|name| name == family.root_name)
            || ground.host.folder(family.root_variable).is_some_and(|set| ground.same(&set, root))
            || ground.view.is_file(&root.join("libexec").join(family.tool))
    })
}

impl Family {
    pub(super) fn choose(&self, ground: &Ground<'_>, root: &Path, program: &str) -> Result<Shim, ShimError> {
        let (versions, by) = self.chosen(ground, root);
        for version in &versions {
            if version == "system" {
                return Ok(Shim::Later);
            }
            let plain = version.strip_prefix(self.prefix).unwrap_or(version);
            let found = [version.as_str(), plain].into_iter().find_map(|version| {
                let path =
                    installed(&ground.view, &root.join("versions"), version)?.join("bin").join(program);
                ground.view.is_program(&path).then_some(path)
            });
            if let Some(path) = found {
                return Ok(Shim::Program { path, beside: Vec::new() });
            }
        }
        if versions.is_empty() {
            return Ok(Shim::Later);
        }
        Err(ShimError::NotInstalled {
            tool: self.tool,
            program: program.to_owned(),
            version: versions.join(", "),
            by: by.display().to_string(),
        })
    }

    /// Versions in order of preference, and who says so; none means the system's.
    fn chosen(&self, ground: &Ground<'_>, root: &Path) -> (Vec<String>, PathBuf) {
        if let Some(value) = ground.host.text(self.version_variable)
            && !value.is_empty()
        {
            return (value.split(':').map(str::to_owned).collect(), PathBuf::from(self.version_variable));
        }
        let file = upwards(ground, self.file).unwrap_or_else(|| root.join("version"));
        let text = ground.view.text(&file).unwrap_or_default();
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
        (lines.flat_map(str::split_whitespace).map(str::to_owned).collect(), file)
    }
}
