//! The authorization matrix as data: who asks for what by which door, and what has to come of it. `cases.tsv` is written by
//! `crates/access/tests/matrix.rs`; whoever has faces sends each line through them.
//!
//! Columns of `cases.tsv`: the actor (its key is `matrix-ACTOR`), the face (`mcp`: `/mcp`; `mcp-one`: `/servers/SERVER/mcp`;
//! `messages`; `stdio`), the verb, the server, the server's own name of the thing, the parameters as JSON, whether it stands in
//! the actor's lists there, and the verdict: `permitted`, or the code of the refusal.

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Case {
    /// Who asks.
    pub(crate) actor: String,
    /// By which door.
    pub(crate) face: String,
    /// For what: `call_tool`, `get_prompt`, `read_resource`, `complete`, `subscribe`.
    pub(crate) verb: String,
    /// Of which server.
    pub(crate) server: String,
    /// The server's own name, or the resource's URI; of a completion `prompt:NAME` or `template:URI`.
    pub(crate) name: String,
    /// The arguments of a tool or prompt, as JSON.
    pub(crate) arguments: String,
    /// Whether the actor finds it in its list.
    pub(crate) listed: bool,
    /// `permitted`, or a code.
    pub(crate) verdict: String,
}

impl Case {
    /// The line, without its end.
    pub(crate) fn line(&self) -> String {
        let listed = if self.listed { "listed" } else { "unlisted" };
        let Self { actor, face, verb, server, name, arguments, verdict, .. } = self;
        [actor, face, verb, server, name, arguments, listed, verdict].join("\t")
    }
}

/// The cases of a text.
pub(crate) fn cases(text: &str) -> Vec<Case> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let case = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let [actor, face, verb, server, name, arguments, listed, verdict] = cells.as_slice() else {
            panic!("a line has eight cells: {line}");
        };
        Case {
            actor: (*actor).to_owned(),
            face: (*face).to_owned(),
            verb: (*verb).to_owned(),
            server: (*server).to_owned(),
            name: (*name).to_owned(),
            arguments: (*arguments).to_owned(),
            listed: *listed == "listed",
            verdict: (*verdict).to_owned(),
        }
    };
    lines.map(case).collect()
}
