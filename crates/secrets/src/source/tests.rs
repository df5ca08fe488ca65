use std::{fs, time::Instant};

use model::{config::SecretCommand, secret::Foreign};

use super::*;

fn binding(hosts: &[&str]) -> Binding {
    Binding {
        hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
        methods: Vec::new(),
        paths: Vec::new(),
        places: Vec::new(),
        foreign: Foreign::Refuse,
    }
}

fn fetched(source: &SecretSource) -> Result<Plaintext, SourceError> {
    fetch(&SecretName::new("A").unwrap(), source, &binding(&[]))
}

fn shell(script: &str, pass_env: &[&str], timeout_s: u64) -> SecretSource {
    let command = ["/bin/sh", "-c", script].map(str::to_owned).to_vec();
    let pass_env = pass_env.iter().map(|name| (*name).to_owned()).collect();
    SecretSource::Command(SecretCommand { command, pass_env, timeout_s })
}

fn said(source: &SecretSource) -> String {
    match fetched(source) {
        Ok(value) => String::from_utf8_lossy(value.expose()).into_owned(),
        Err(error) => format!("error: {error}"),
    }
}

#[test]
fn one_line_end_is_no_part_of_a_value() {
    for (raw, value) in
        [("a", "a"), ("a\n", "a"), ("a\r\n", "a"), ("a\n\n", "a\n"), ("a\r", "a\r"), ("\n", "")]
    {
        let cut = without_line_end(Plaintext::copied(raw.as_bytes()));
        assert_eq!(cut.expose(), value.as_bytes(), "{raw:?}");
    }
}

#[test]
fn a_variable_and_a_file_are_read() {
    // Cargo sets it for every test.
    let package = SecretSource::Env("CARGO_PKG_NAME".into());
    assert_eq!(said(&package), "secrets");
    let error = said(&SecretSource::Env("FUMEHOOD_NOT_SET_ANYWHERE".into()));
    assert!(error.contains("the variable `FUMEHOOD_NOT_SET_ANYWHERE` is not set"), "{error}");

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    fs::write(&file, "from a file\n").unwrap();
    assert_eq!(said(&SecretSource::File(file.clone())), "from a file");
    fs::write(&file, "x".repeat(MAX_VALUE + 1)).unwrap();
    assert!(said(&SecretSource::File(file)).contains("longer than 16384 bytes"));
    assert!(said(&SecretSource::File(folder.path().join("none"))).contains("No such file"));
    assert!(said(&SecretSource::File("/dev/zero".into())).contains("it is not a file"));
}

#[test]
fn a_command_gives_its_stdout_and_sees_only_the_variables_that_are_named() {
    assert_eq!(said(&shell("printf 'ghp_%s\\n' abc", &[], 10)), "ghp_abc");
    let environment = said(&shell("exec /usr/bin/env", &["CARGO_PKG_NAME"], 10));
    let names: Vec<&str> = environment.lines().filter_map(|line| line.split('=').next()).collect();
    // A shell sets these itself.
    let own = |name: &&str| !matches!(*name, "PWD" | "SHLVL" | "_" | "OLDPWD");
    assert_eq!(names.into_iter().filter(own).collect::<Vec<_>>(), ["CARGO_PKG_NAME"], "{environment}");
    assert_eq!(said(&shell("cat; pwd", &[], 10)), "/", "its stdin is empty, and it is nowhere");
}

#[test]
fn a_command_that_fails_says_why_without_what_it_wrote_to_stdout() {
    let error = said(&shell("echo half-a-token; echo 'not logged in' >&2; exit 4", &[], 10));
    assert!(error.contains("`/bin/sh` failed with exit code 4: not logged in"), "{error}");
    assert!(!error.contains("half-a-token"), "{error}");
    assert!(said(&shell("kill -9 $$", &[], 10)).contains("signal 9"));
    let none =
        SecretCommand { command: vec!["fumehood-no-such-helper".into()], pass_env: vec![], timeout_s: 1 };
    assert!(said(&SecretSource::Command(none)).contains("no program `fumehood-no-such-helper`"));
    let relative = SecretCommand { command: vec!["./helper".into()], pass_env: vec![], timeout_s: 1 };
    assert!(said(&SecretSource::Command(relative)).contains("no program `./helper`"));
}

#[test]
fn a_command_that_hangs_is_ended_with_what_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    let begin = Instant::now();
    let script = format!("sleep 300 & echo $! > {}; echo waiting >&2; wait", pid.display());
    let error = said(&shell(&script, &[], 1));
    assert!(error.contains("did not end within 1 s: waiting"), "{error}");
    assert!(begin.elapsed() < Duration::from_mins(1));
    let pid = fs::read_to_string(pid).unwrap();
    let stat = PathBuf::from(format!("/proc/{}/stat", pid.trim()));
    let is_dead = || fs::read_to_string(&stat).map_or(true, |text| text.contains(") Z "));
    let gone = (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        is_dead()
    });
    assert!(gone, "what it started lives on");
}

#[test]
fn a_command_that_does_not_stop_talking_is_not_listened_to() {
    assert!(said(&shell("exec yes", &[], 30)).contains("wrote more than 16384 bytes"));
    assert!(said(&shell("yes >&2 & sleep 0.2; kill $!; echo value", &[], 30)).contains("value"));
}

#[test]
fn a_value_from_elsewhere_is_judged_like_one_of_the_vault() {
    let name = SecretName::new("A").unwrap();
    let short = shell("echo short", &[], 10);
    let error = fetch(&name, &short, &binding(&["api.example.com"])).err().unwrap();
    assert!(error.to_string().contains("the secret `A` cannot be had: the value has 5 bytes"), "{error}");
    assert!(error.hint().contains("--expose"), "{}", error.hint());
}
