//! What a rule asks of requests: their methods and their paths.

use std::fmt;

use model::request::{Method, PathPattern};

use crate::name::shown;
use crate::rule::error::RuleError;

/// Most methods in one rule; RFC 9110 has 8, `WebDAV` (RFC 4918) 7 more.
const MOST_METHODS: usize = 16;

/// What a request must be like to be let through by a rule. A rule with terms has its requests looked at, also where the
/// terms take any.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Terms {
    /// INVARIANT: sorted, each once; empty for any.
    methods: Vec<Method>,
    path: Option<PathPattern>,
}

impl Terms {
    /// These methods, any if there are none; this path, any if there is none.
    pub fn new(methods: impl IntoIterator<Item = Method>, path: Option<PathPattern>) -> Self {
        let mut methods: Vec<Method> = methods.into_iter().collect();
        methods.sort();
        methods.dedup();
        Self { methods, path }
    }

    /// The methods, in the order of the alphabet; any if there are none.
    pub fn methods(&self) -> &[Method] {
        &self.methods
    }

    /// The path; any if there is none.
    pub fn path(&self) -> Option<&PathPattern> {
        self.path.as_ref()
    }

    /// Whether a request may have this method, compared byte for byte (RFC 9110 §9.1).
    pub fn take_method(&self, method: &str) -> bool {
        self.methods.is_empty() || self.methods.iter().any(|own| own.as_str() == method)
    }

    /// Whether a request may have this path, in its canonical form.
    pub fn take_path(&self, canonical: &str) -> bool {
        self.path.as_ref().is_none_or(|pattern| pattern.covers(canonical))
    }

    /// The terms without the methods of `gone`, where these are some of them for the same path.
    pub(super) fn without(&self, gone: &Self) -> Option<Self> {
        let some =
            !gone.methods.is_empty() && gone.methods.iter().all(|method| self.methods.contains(method));
        let left: Vec<Method> =
            self.methods.iter().filter(|method| !gone.methods.contains(method)).cloned().collect();
        (some && self.path == gone.path && !left.is_empty()).then(|| Self::new(left, self.path.clone()))
    }

    /// The methods as they stand before the host. Left out where the path alone shows that there are terms.
    pub(super) fn write_methods(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.methods.is_empty() {
            let shown = self.path.as_ref().is_some_and(|path| path.as_str() != "/");
            return if shown { Ok(()) } else { f.write_str("* ") };
        }
        for (at, method) in self.methods.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            write!(f, "{comma}{method}")?;
        }
        f.write_str(" ")
    }
}

/// The methods before the first blank, none where there is no blank, an empty list for `*`; and what stands after it.
pub(super) fn methods(text: &str) -> Result<(Option<Vec<Method>>, &str), RuleError> {
    let Some((methods, place)) = text.split_once(' ') else { return Ok((None, text)) };
    if methods == "*" {
        return Ok((Some(Vec::new()), place));
    }
    if methods.split(',').count() > MOST_METHODS {
        return Err(RuleError::Methods { text: shown(text), most: MOST_METHODS });
    }
    let read = |method: &str| {
        let read = Method::new(method)
            .map_err(|_| RuleError::Method { text: shown(text), method: shown(method) })?;
        if read.as_str() == method { Ok(read) } else { Err(RuleError::LowerCase { text: shown(text) }) }
    };
    Ok((Some(methods.split(',').map(read).collect::<Result<_, _>>()?), place))
}

/// The pattern after a host; none where there is nothing.
pub(super) fn path(path: &str, text: &str) -> Result<Option<PathPattern>, RuleError> {
    if path.is_empty() {
        return Ok(None);
    }
    let read =
        PathPattern::new(path).map_err(|error| RuleError::Path { text: shown(text), why: error.why() })?;
    Ok(Some(read))
}
