//! What was asked and what came of it, by those who asked, by the servers, and by the record.

/// One call, as whoever made it knows it.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// 32 hexadecimal digits that no other call has: an argument, and the id of its trace.
    pub(crate) nonce: String,
    pub(crate) who: &'static str,
    pub(crate) server: &'static str,
    pub(crate) tool: &'static str,
    /// By which way.
    #[expect(dead_code, reason = "it is told with what is wrong")]
    pub(crate) face: &'static str,
    pub(crate) answer: Answer,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Its own result: the number that the server gave it, and the server's process.
    Done { number: u64, boot: String },
    /// `FH-…`.
    Refused(String),
    /// There is no such tool for this caller.
    Unknown,
    /// The connection was closed before a byte of an answer.
    Closed(String),
    /// Anything else: what no caller may ever get.
    Wrong(String),
}

/// A line of a server's ledger: a call of `append` that was performed.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) nonce: String,
    pub(crate) server: String,
    pub(crate) who: String,
    /// Microseconds since 1970.
    pub(crate) at: u64,
}

/// A row of the record, as far as it is about a call.
#[derive(Debug, Clone, Default)]
pub(crate) struct Row {
    pub(crate) seq: u64,
    pub(crate) kind: String,
    /// The nonce of its call.
    pub(crate) trace: Option<String>,
    pub(crate) who: String,
    pub(crate) code: Option<String>,
    pub(crate) outcome: Option<String>,
    /// Microseconds since 1970.
    pub(crate) at: u64,
    /// How many refusals a row about repeats stands for.
    pub(crate) count: u64,
}

/// Everything that is known of one run.
#[derive(Debug, Clone, Default)]
pub(crate) struct History {
    pub(crate) calls: Vec<Call>,
    pub(crate) ledger: Vec<Line>,
    pub(crate) rows: Vec<Row>,
    /// The service was told to end in the middle.
    pub(crate) was_stopped: bool,
}
