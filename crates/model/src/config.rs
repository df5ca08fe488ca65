//! The configuration: a project's `fumehood.toml`, the operator's `config.toml`, and the flags of the command line.
//!
//! Whoever has the bytes of a file hands them in with the name to show; all problems come back at once, each with its
//! place. A [`Plan`] is what remains when command line, files and defaults are laid over one another.
//!
//! ```
//! use std::path::Path;
//!
//! use model::config::{FlagTexts, Flags, Operator, Place, Plan, Project};
//!
//! let place = Place { folder: Path::new("/srv/app"), home: Some(Path::new("/home/ann")) };
//! let file = br#"
//! [servers.files]
//! command = ["node", "server.js"]
//! mounts = ["docs", "out:rw"]
//! data = "100 MiB"
//! limits.memory = "256MiB"
//! "#;
//! let project = Project::resolve("fumehood.toml", file, &place)?;
//! let operator = Operator::resolve("config.toml", b"maximum.memory = \"1GiB\"", place.home)?;
//! let flags = Flags::parse(&FlagTexts { limits: &["cpu=2".to_owned()], ..FlagTexts::default() }, &place)?;
//!
//! let plan = Plan::server("files", Some(&project), &operator, &flags)?;
//! assert_eq!(plan.program(), ["node", "server.js"]);
//! assert_eq!(plan.mounts()[1].mount.path, Path::new("/srv/app/out"));
//! assert_eq!((plan.limits().memory, plan.limits().cpu_milli), (256 << 20, 2000));
//!
//! let problems = Project::resolve("fumehood.toml", b"[servers.files]\ncomand = []\n", &place).unwrap_err();
//! assert_eq!(problems.as_slice()[0].to_string(), "fumehood.toml:2:1: unknown key `comand`");
//! assert_eq!(problems.as_slice()[0].help(), Some("did you mean `command`?"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod schema;

mod claim_path;
mod complaint;
mod data;
mod duration;
mod env;
mod flags;
mod host_check;
mod hosts;
mod identity;
mod limit_name;
mod limits;
mod local;
mod maximum;
mod mounts;
mod network;
mod operator;
mod pattern;
mod plan;
mod problem;
mod project;
mod read;
mod role;
mod secrets;
mod serve;
mod server;
mod source;
mod tools;
mod url;
mod whose;
mod written;

pub use claim_path::ClaimPath;
pub use data::DataRequest;
pub use env::EnvValue;
pub use flags::{DataFlag, FlagError, FlagErrors, FlagTexts, Flags};
pub use identity::{Algorithm, ClaimPaths, IdentityProvider, KeySource};
pub use limit_name::LimitName;
pub use limits::SomeLimits;
pub use local::{LocalKey, Peer};
pub use maximum::Maximum;
pub use mounts::Place;
pub use network::{EgressSettings, NetworkCheck, Objection, ServerNetwork, ShapeOnly, Transport, Upstream};
pub use operator::Operator;
pub use pattern::Pattern;
pub use plan::{Excess, Origin, Plan, PlanError, PlannedMount};
pub use problem::{Problem, Problems};
pub use project::Project;
pub use role::{Role, RoleName, RoleNameError};
pub use secrets::{DeclaredSecret, SecretCommand, SecretSource};
pub use serve::{AuditSettings, ListenError, Serve};
pub use server::Server;
pub use source::{RESERVED_HEADERS, Start};
pub use tools::{BindSource, Rate, ToolRule};
pub use whose::Whose;

#[cfg(test)]
mod tests;
