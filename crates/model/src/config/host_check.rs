//! Whether a text is a host rule, an address or a proxy.
//!
//! What a host rule is, this crate does not know: whoever does hands in a [`NetworkCheck`].

use super::complaint::Complaint;

/// Judges the texts of which this crate knows only the outer shape.
pub trait NetworkCheck {
    /// A rule such as `api.example.com`, `*.example.com`, `GET api.example.com/v1/*` or `tcp://db.example.com:5432`.
    fn host(&self, rule: &str) -> Result<(), Objection>;
    /// A name of the operator's bound to an address.
    fn upstream(&self, name: &str, address: &str, loopback: bool) -> Result<(), Objection>;
    /// The URL of the operator's proxy.
    fn proxy(&self, url: &str) -> Result<(), Objection>;
}

/// Why a text cannot be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Objection {
    /// What is wrong: lower case, no full stop.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

/// Looks at the outer shape alone, for whoever starts nothing by what was read.
#[derive(Debug, Clone, Copy, Default)]
pub struct ShapeOnly;

impl NetworkCheck for ShapeOnly {
    fn host(&self, _: &str) -> Result<(), Objection> {
        Ok(())
    }

    fn upstream(&self, _: &str, _: &str, _: bool) -> Result<(), Objection> {
        Ok(())
    }

    fn proxy(&self, _: &str) -> Result<(), Objection> {
        Ok(())
    }
}

/// The longest rule, in bytes: a host name has 253 (RFC 1035), its scheme and port at most 14 more, a path 512, and 16
/// methods with their commas 400.
const LONGEST_HOST: usize = 1200;

/// One rule, wherever it was written.
pub(super) fn host(text: &str, check: &dyn NetworkCheck) -> Result<(), Complaint> {
    let shape = |message: &str| {
        Err(Complaint::new(message)
            .help("write `api.example.com`, `*.example.com`, `GET api.example.com/v1/*` or `tcp://db.example.com:5432`"))
    };
    if text.is_empty() {
        return shape("the host is empty");
    }
    // One blank parts methods from the host.
    let (methods, place) = text.split_once(' ').unwrap_or(("*", text));
    let is_method = |c: char| c.is_ascii_uppercase() || matches!(c, ',' | '*' | '-' | '_');
    if methods.is_empty()
        || !methods.chars().all(is_method)
        || place.chars().any(|c| c.is_whitespace() || c.is_control())
    {
        return shape("a host holds no blanks and no control characters");
    }
    if text.len() > LONGEST_HOST {
        return shape("the host is too long");
    }
    Ok(check.host(text)?)
}

impl From<Objection> for Complaint {
    fn from(objection: Objection) -> Self {
        Self { message: objection.message, help: objection.help }
    }
}
