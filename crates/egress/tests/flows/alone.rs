//! Running a test in a process and a network namespace of its own: real ports 53, 80 and 443, and addresses nobody else
//! has, without being root.

use std::future::Future;
use std::process::Command;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

const VARIABLE: &str = "FLOWS_ALONE";

/// What makes the namespace a cell's: the addresses of our making are local in it.
const SET_UP: &str = "ip link set lo up && ip route add local 198.18.0.0/15 dev lo \
    && { ip -6 route add local fd46:7568:6f6f::/64 dev lo || true; } && exec \"$@\"";

/// Longest a test may take.
const LONGEST: Duration = Duration::from_secs(100);

/// Runs `body` on a runtime of one thread, inside; `name` is the test's whole name.
pub(crate) fn run(name: &str, body: impl Future<Output = ()>) {
    if std::env::var_os(VARIABLE).is_none() {
        return outside(name);
    }
    raise_open_files();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        tokio::time::timeout(LONGEST, body).await.expect("the test took too long");
    });
}

fn outside(name: &str) {
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--net", "sh", "-c", SET_UP, "sh"])
        .arg(std::env::current_exe().unwrap())
        .args([name, "--exact", "--nocapture", "--include-ignored"])
        .env(VARIABLE, "1")
        .output()
        .expect("these tests need `unshare` and `ip`");
    let text = String::from_utf8_lossy(&output.stdout);
    let ran = text.contains("1 passed");
    print!("{text}");
    assert!(output.status.success() && ran, "{}", String::from_utf8_lossy(&output.stderr));
}

fn raise_open_files() {
    let now = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: now.maximum, maximum: now.maximum }).unwrap();
}

/// A test that runs alone, on one thread with a runtime.
macro_rules! alone {
    ($(#[$meta:meta])* async fn $name:ident() $body:block) => {
        $(#[$meta])*
        #[test]
        fn $name() {
            let path = concat!(module_path!(), "::", stringify!($name));
            let path = path.split_once("::").unwrap().1;
            crate::alone::run(path, async $body);
        }
    };
}
pub(crate) use alone;
