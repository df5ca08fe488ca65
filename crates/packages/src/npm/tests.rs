use super::*;
use crate::words;

fn asked(line: &str) -> Asked {
    let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    words::read(&words).unwrap()
}

fn failed(stderr: &str) -> InstallError {
    let said = Said { stderr: stderr.into(), code: Some(1), end: "exit code 1".into(), ..Said::default() };
    judge("npm ci", said).unwrap_err()
}

#[test]
fn only_a_package_of_a_registry_by_flags_that_can_be_kept_is_installed() {
    for line in ["npx x", "npx -y @a/x@1", "npx -p a -p b run", "npx --quiet x", "npx --cache /tmp/c x"] {
        assert!(check(&asked(line)).is_ok(), "{line}");
    }
    assert!(matches!(check(&asked("npx")), Err(InstallError::Unnamed { .. })));
    for line in ["npx ./x", "npx a/b", "npx -p a -p git+ssh://h/x run", "npx x@file:../y"] {
        assert!(matches!(check(&asked(line)), Err(InstallError::NoRegistry { .. })), "{line}");
    }
    for line in
        ["npx -c x", "npx --registry https://r.example x", "npx --userconfig=.npmrc x", "npx --prefix . x"]
    {
        assert!(matches!(check(&asked(line)), Err(InstallError::Flag { .. })), "{line}");
    }
}

#[test]
fn what_npm_says_at_a_failure_is_told_by_its_meaning() {
    let integrity = failed(
        "npm http fetch GET 200 https://r.example/x.tgz 5ms\nnpm error code EINTEGRITY\nnpm error sha512-AA integrity \
         checksum failed when using sha512: wanted sha512-AA but got sha512-BB. (5 bytes)\nnpm error A complete log of \
         this run can be found in: /data/npm/_logs/x.log\n",
    );
    assert!(
        matches!(&integrity, InstallError::Integrity { told } if told.contains("wanted sha512-AA")),
        "{integrity}"
    );
    assert!(!integrity.to_string().contains("_logs"));
    let missing = failed(
        "npm error code E404\nnpm error 404 Not Found - GET https://r.example/x\nnpm error 404\nnpm error 404  The requested \
         resource 'x@*' could not be found.\nnpm error 404\nnpm error 404 Note that you can also install from a\n",
    );
    assert_eq!(
        missing.to_string(),
        "Not Found - GET https://r.example/x The requested resource 'x@*' could not be found."
    );
    for code in ["E404", "ETARGET"] {
        let missing = failed(&format!(
            "npm error code {code}\nnpm error notarget No matching version found for x@9.\n"
        ));
        assert!(matches!(missing, InstallError::NotFound { .. }), "{missing}");
    }
    let other =
        failed("npm error code ENOSPC\nnpm error nospc There appears to be insufficient space\n").to_string();
    assert_eq!(other, "`npm ci` failed (exit code 1): nospc There appears to be insufficient space");
    let silent = failed("sh: 1: npm: not found\n").to_string();
    assert_eq!(silent, "`npm ci` failed (exit code 1): sh: 1: npm: not found");
    let good = Said { code: Some(0), ..Said::default() };
    assert!(judge("npm ci", good).is_ok());
}
