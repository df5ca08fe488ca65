//! Keys that change while a cell runs, several of them in one, and one that was given away.

use std::{
    fmt::Write,
    io::{self, BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use testkit::world::Caller;

use crate::{
    origin::{Asked, Peer},
    scene::{API, OTHER, Scene, TOKEN, VALUE, echo},
};

/// The key after it was changed.
const NEXT: &str = "ghp_An0therValue0fTheKey0123456789abcde";
/// How long a change may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// A cell that does what it is told line by line.
struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Running {
    fn start(command: &mut Command) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdin, stdout }
    }

    fn tell(&mut self, line: &str) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        assert!(self.stdout.read_line(&mut line).unwrap() > 0, "it ended");
        line.trim_end().to_owned()
    }

    fn end(mut self) {
        drop(self.stdin.take());
        self.child.wait().unwrap();
    }
}

fn until(what: &str, mut is: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is() {
        assert!(Instant::now() < deadline, "{what}");
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn another_value_reaches_the_next_request_of_a_running_cell() {
    for caller in Caller::all() {
        let scene = Scene::new(caller);
        scene.set(TOKEN, VALUE, &["--host", API]);
        let script = "while read path; do curl -sS --max-time 20 -o /dev/null -H \"Authorization: Bearer $TOKEN\" \
                      https://api.github.com/$path; echo done $path; done";
        let mut cell = Running::start(&mut scene.exec(None, &["--secret", TOKEN], script));
        let mut ask = |path: &str| {
            cell.tell(path);
            assert_eq!(cell.line(), format!("done {path}"));
            scene.api.asked().last().and_then(|asked| asked.header("authorization").map(str::to_owned))
        };
        assert_eq!(ask("before"), Some(format!("Bearer {VALUE}")), "{caller:?}");
        scene.secret(&["rotate", TOKEN], NEXT);
        until("the other value is not used", || ask("meanwhile") == Some(format!("Bearer {NEXT}")));
        assert_eq!(ask("after"), Some(format!("Bearer {NEXT}")));
        cell.end();
    }
}

/// `/slow` never ends by itself.
fn slow(asked: &Asked, peer: &mut dyn Peer) -> io::Result<()> {
    if asked.path() != "/slow" {
        return echo(asked, peer);
    }
    write!(peer, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")?;
    let deadline = Instant::now() + PATIENCE * 2;
    while Instant::now() < deadline {
        write!(peer, "2\r\nx\n\r\n")?;
        peer.flush()?;
        thread::sleep(Duration::from_millis(50));
    }
    Err(io::ErrorKind::TimedOut.into())
}

/// Whether a request was cut when its key was taken, within some time.
fn is_cut(caller: Caller, off: Option<&str>, within: Duration) -> bool {
    let scene = Scene::with(caller, slow);
    scene.set(TOKEN, VALUE, &["--host", API]);
    let script = "curl -sSN --max-time 90 -H \"Authorization: Bearer $TOKEN\" https://api.github.com/slow > /tmp/slow & \
                  while ! [ -s /tmp/slow ]; do sleep 0.1; done; echo flows; wait $!; echo ended $?";
    let mut cell = Running::start(&mut scene.exec(off, &["--secret", TOKEN, "--name", "slow"], script));
    assert_eq!(cell.line(), "flows");
    scene.secret(&["rm", TOKEN], "");
    until("the cell did not hear of it", || logged(&scene).contains("was taken from the cell"));
    let (tell, told) = std::sync::mpsc::channel();
    let Running { mut child, stdin, mut stdout } = cell;
    thread::spawn(move || {
        let mut line = String::new();
        stdout.read_line(&mut line).ok();
        tell.send(line).ok();
    });
    let said = told.recv_timeout(within);
    if let Ok(line) = &said {
        // Not by its own limit of time (28), and not well.
        let line = line.trim_end();
        assert!(line.starts_with("ended ") && line != "ended 0" && line != "ended 28", "{line}");
    }
    drop(stdin);
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::TERM)
        .unwrap();
    child.wait().unwrap();
    said.is_ok()
}

fn logged(scene: &Scene) -> String {
    let output = scene.world.product(None).args(["logs", "slow"]).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_key_that_is_removed_cuts_the_request_that_uses_it() {
    for caller in Caller::all() {
        assert!(is_cut(caller, None, PATIENCE), "{caller:?}");
        assert!(!is_cut(caller, Some("cut"), Duration::from_secs(2)), "without the guard, {caller:?}");
    }
}

#[test]
fn each_key_of_a_cell_has_its_own_hosts_methods_paths_and_place() {
    const SECOND: &str = "sk-another-key-of-another-host-0123456789";
    for caller in Caller::all() {
        let scene = Scene::new(caller);
        scene.set(TOKEN, VALUE, &["--host", API, "--method", "GET"]);
        let binding = ["--host", OTHER, "--method", "POST", "--path", "/v1/*", "--header", "x-api-key"];
        scene.set("SECOND", SECOND, &binding);
        let mut script = String::new();
        for (path, flags) in [
            ("api.github.com/own", "-H \"Authorization: Bearer $TOKEN\""),
            ("other.example/v1/own", "-d x -H \"X-Api-Key: $SECOND\""),
            ("other.example/v1/crossed", "-d x -H \"X-Api-Key: $TOKEN\""),
            ("api.github.com/crossed", "-H \"Authorization: Bearer $SECOND\""),
            ("other.example/v1/method", "-H \"X-Api-Key: $SECOND\""),
            ("other.example/v2/path", "-d x -H \"X-Api-Key: $SECOND\""),
            ("other.example/v1/place", "-d x -H \"Authorization: Bearer $SECOND\""),
        ] {
            writeln!(
                script,
                "curl -sS --max-time 20 -o /dev/null -w '{path} %{{http_code}}\\n' {flags} https://{path}"
            )
            .unwrap();
        }
        let ran = scene.shell(None, &["--secret", TOKEN, "--secret", "SECOND"], &script);
        let codes: Vec<&str> = ran.stdout.lines().filter_map(|line| Some(line.split_once(' ')?.1)).collect();
        assert_eq!(codes, ["200", "200", "403", "403", "403", "403", "403"], "{caller:?}: {ran:?}");
        let (api, other) = (scene.api.asked(), scene.other.asked());
        assert_eq!((api.len(), other.len()), (1, 1), "{ran:?}");
        assert_eq!(api[0].header("authorization"), Some(format!("Bearer {VALUE}").as_str()));
        assert_eq!(other[0].header("x-api-key"), Some(SECOND));
    }
}

#[test]
fn a_key_that_a_person_gave_to_the_cell_is_there_and_called_exposed() {
    for caller in Caller::all() {
        let scene = Scene::new(caller);
        scene.set(TOKEN, VALUE, &["--host", API]);
        let script = "printf '%s\\n' \"$MINE\"; read x";
        let refused = scene.shell(None, &["--expose", "TOKEN=MINE"], script);
        assert_eq!(refused.code, Some(12), "nobody was asked: {refused:?}");
        assert!(!refused.stdout.contains(VALUE));

        let flags = ["--name", "open", "--expose", "TOKEN=MINE", "--expose-yes-really", TOKEN];
        let mut cell = Running::start(&mut scene.exec(None, &flags, script));
        assert_eq!(cell.line(), VALUE);
        for words in [&["ps", "--verbose"][..], &["ps", "--json"]] {
            let output = scene.world.product(None).args(words).output().unwrap();
            let told = String::from_utf8(output.stdout).unwrap();
            assert!(told.contains("exposed") && !told.contains(VALUE), "{words:?}: {told}");
        }
        cell.end();
        let ran = scene.shell(None, &flags, "true");
        assert!(ran.stderr.contains("exposed") && !ran.stderr.contains(VALUE), "{ran:?}");
    }
}
