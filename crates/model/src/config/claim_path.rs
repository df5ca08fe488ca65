//! Which claim of a token is meant.

use std::fmt;

use serde_json::Value;

use super::complaint::Complaint;

/// A way into the claims of a token: names with dots between them, such as `realm_access.roles`. A name that itself has
/// dots stands in double quotes: `"https://acme.example/tenant".id`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClaimPath(Vec<String>);

/// The most names of a path.
const MOST_NAMES: usize = 8;
/// The longest path, in bytes.
const LONGEST: usize = 256;

impl ClaimPath {
    /// The names from the outermost; never empty.
    pub fn names(&self) -> &[String] {
        &self.0
    }

    /// What a token says there.
    pub fn find<'a>(&self, claims: &'a Value) -> Option<&'a Value> {
        self.0.iter().try_fold(claims, |value, name| value.as_object()?.get(name))
    }

    pub(super) fn one(name: &str) -> Self {
        Self(vec![name.to_owned()])
    }

    pub(super) fn parse(text: &str) -> Result<Self, Complaint> {
        let fault = || {
            Complaint::new(format!("`{text}` names no claim")).help(
                "write names with dots between them, such as `realm_access.roles`; a name that has dots stands in double quotes",
            )
        };
        if text.len() > LONGEST || text.chars().any(char::is_control) {
            return Err(fault());
        }
        let mut names = Vec::new();
        let mut rest = text;
        loop {
            let (name, after) = match rest.strip_prefix('"') {
                Some(quoted) => quoted.split_once('"').ok_or_else(fault)?,
                None => rest.split_at_checked(rest.find('.').unwrap_or(rest.len())).ok_or_else(fault)?,
            };
            if name.is_empty() || names.len() == MOST_NAMES || (!rest.starts_with('"') && name.contains('"'))
            {
                return Err(fault());
            }
            names.push(name.to_owned());
            if after.is_empty() {
                return Ok(Self(names));
            }
            rest = after.strip_prefix('.').ok_or_else(fault)?;
        }
    }
}

impl fmt::Display for ClaimPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, name) in self.0.iter().enumerate() {
            let dot = if index == 0 { "" } else { "." };
            if name.contains('.') {
                write!(f, "{dot}\"{name}\"")?;
            } else {
                write!(f, "{dot}{name}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_path_leads_into_the_claims() {
        let claims =
            json!({"sub": "u", "realm": {"roles": ["a"]}, "https://acme.example/t": {"id": 7}, "a.b": 1});
        let find = |text: &str| ClaimPath::parse(text).unwrap().find(&claims).cloned();
        assert_eq!(find("sub"), Some(json!("u")));
        assert_eq!(find("realm.roles"), Some(json!(["a"])));
        assert_eq!(find("\"https://acme.example/t\".id"), Some(json!(7)));
        assert_eq!(
            (find("\"a.b\""), find("a.b"), find("sub.x"), find("realm.roles.0")),
            (Some(json!(1)), None, None, None)
        );
    }

    #[test]
    fn what_leads_nowhere_is_no_path() {
        for text in
            ["", ".", "a.", ".a", "a..b", "\"a", "\"\"", "\"a\"b", "a\"b", "a.b.c.d.e.f.g.h.i", "a\nb"]
        {
            assert!(ClaimPath::parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_path_reads_as_it_is_shown(names in proptest::collection::vec("[a-z:/.]{1,12}", 1..8)) {
            let path = ClaimPath(names);
            prop_assert_eq!(ClaimPath::parse(&path.to_string()).unwrap(), path);
        }
    }
}
