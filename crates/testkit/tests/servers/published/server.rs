//! What is tried with a server of a public registry.

use serde_json::Value;

/// A published server, as a user adds it. `{work}` stands for a folder of the host, `{data}` for the one that it keeps.
#[derive(Debug)]
pub(crate) struct Server {
    /// What it is called.
    pub(crate) name: &'static str,
    /// Its package, with the version.
    pub(crate) source: &'static str,
    /// Flags of `fumehood add`.
    pub(crate) flags: &'static [&'static str],
    /// The runner's words in place of the source, where they say more than that: up to the program.
    pub(crate) runner: &'static [&'static str],
    /// Arguments of its program.
    pub(crate) arguments: &'static [&'static str],
    /// Files in the folder of the host, by name.
    pub(crate) files: &'static [(&'static str, &'static str)],
    /// Whether it writes into its texts what it finds on the machine, so that they are others in a cell.
    pub(crate) tells_of_machine: bool,
    /// Whether what it was asked before is in its answers.
    pub(crate) remembers: bool,
    /// A call that is answered without an account and a network.
    pub(crate) call: Call,
}

/// One call. Where every tool needs an account, one to which the server says so, or what else keeps it from it.
#[derive(Debug)]
pub(crate) struct Call {
    /// Which tool.
    pub(crate) tool: &'static str,
    /// Its arguments, as JSON.
    pub(crate) arguments: &'static str,
    /// What its answer must hold.
    pub(crate) says: &'static str,
}

/// Who installs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Client {
    Npm,
    Uv,
}

impl Server {
    /// One without settings, with the tool that is called, its arguments, and what its answer must hold.
    pub(crate) const fn new(
        name: &'static str,
        source: &'static str,
        [tool, arguments, says]: [&'static str; 3],
    ) -> Self {
        let call = Call { tool, arguments, says };
        Self {
            name,
            source,
            flags: &[],
            runner: &[],
            arguments: &[],
            files: &[],
            tells_of_machine: false,
            remembers: false,
            call,
        }
    }

    pub(crate) const fn flags(mut self, flags: &'static [&'static str]) -> Self {
        self.flags = flags;
        self
    }

    pub(crate) const fn runner(mut self, runner: &'static [&'static str]) -> Self {
        self.runner = runner;
        self
    }

    pub(crate) const fn arguments(mut self, arguments: &'static [&'static str]) -> Self {
        self.arguments = arguments;
        self
    }

    pub(crate) const fn telling_of_machine(mut self) -> Self {
        self.tells_of_machine = true;
        self
    }

    pub(crate) const fn remembering(mut self) -> Self {
        self.remembers = true;
        self
    }

    pub(crate) const fn files(mut self, files: &'static [(&'static str, &'static str)]) -> Self {
        self.files = files;
        self
    }

    pub(crate) fn client(&self) -> Client {
        if self.source.starts_with("npx:") { Client::Npm } else { Client::Uv }
    }

    /// The name of its package.
    pub(crate) fn package(&self) -> &'static str {
        let (_, package) = self.source.split_once(':').unwrap();
        match self.client() {
            Client::Npm => package.rsplit_once('@').unwrap().0,
            Client::Uv => without_version(package),
        }
    }

    /// The name of its program, where it is one of Python.
    pub(crate) fn program(&self) -> &'static str {
        self.runner.last().map_or_else(|| self.package(), |word| without_version(word))
    }
}

fn without_version(requirement: &'static str) -> &'static str {
    requirement.split("==").next().unwrap()
}

impl Call {
    /// With a folder of the host in the place of its name.
    pub(crate) fn arguments(&self, work: &str) -> Value {
        serde_json::from_str(&self.arguments.replace("{work}", work)).unwrap()
    }
}
