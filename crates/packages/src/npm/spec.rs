//! How packages of npm are named.

/// `name`, `@scope/name`, each with or without `@version`: all else is a folder, a file, a repository or a URL.
pub(super) fn is_of_a_registry(package: &str) -> bool {
    let (name, version) = take_apart(package);
    let unscoped = match name.strip_prefix('@') {
        Some(rest) => match rest.split_once('/') {
            Some((_, name)) => name,
            None => return false,
        },
        None => name,
    };
    // A version is a range or a tag: `^1 || 2`, `>=1 <2`, `next`.
    let plain = version.is_none_or(|version| !version.contains([':', '/', '\\']));
    !unscoped.is_empty()
        && !unscoped.starts_with(['.', '-', '~'])
        && !unscoped.contains(['/', ':', '\\'])
        && plain
}

/// The name without the version.
pub(super) fn name(package: &str) -> &str {
    take_apart(package).0
}

/// The name without its scope.
pub(super) fn unscoped(name: &str) -> &str {
    name.rsplit_once('/').map_or(name, |(_, name)| name)
}

fn take_apart(package: &str) -> (&str, Option<&str>) {
    // The first sign can be that of a scope.
    let at = package.char_indices().skip(1).find(|(_, sign)| *sign == '@').map(|(at, _)| at);
    match at.and_then(|at| Some((package.get(..at)?, package.get(at + 1..)?))) {
        Some((name, version)) => (name, Some(version)),
        None => (package, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_a_registry_are_told_from_the_rest() {
        for package in ["x", "@acme/x", "x@1.2", "@acme/x@latest", "x@^1 || 2"] {
            assert!(is_of_a_registry(package), "{package}");
        }
        for package in [
            "./x",
            "~/x",
            "github:a/b",
            "a/b",
            "https://h.example/x.tgz",
            "x@npm:y",
            "x@a/b",
            "x@https://h.example/x.tgz",
            "@acme",
            "@acme/",
            "--x",
            "",
        ] {
            assert!(!is_of_a_registry(package), "{package}");
        }
    }

    #[test]
    fn a_name_is_what_stands_before_the_version() {
        for (package, whole, short) in
            [("x", "x", "x"), ("x@1", "x", "x"), ("@a/x@^1", "@a/x", "x"), ("@a/x", "@a/x", "x")]
        {
            assert_eq!((name(package), unscoped(name(package))), (whole, short));
        }
    }
}
