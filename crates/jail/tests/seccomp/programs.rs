//! Real programs under the filter: what they use is allowed.

use std::path::Path;
use std::process::{Command, Output};

use super::Folder;
use super::sys::{self, Under};

/// Runs `argv` in `folder` under the filter; nothing where the program is not installed.
fn run(argv: &[&str], folder: &Path) -> Option<Output> {
    let (program, rest) = argv.split_first().unwrap();
    if Command::new(program).arg("--version").output().is_err() {
        eprintln!("skipped: no {program} here");
        return None;
    }
    let mut command = Command::new(program);
    command.args(rest).current_dir(folder).env("HOME", folder).env("GIT_CONFIG_NOSYSTEM", "1");
    // A version manager's shim looks for its versions below HOME.
    for name in ["PYENV_ROOT", "NVM_DIR"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    sys::put(Under::Filter, &mut command);
    Some(command.output().unwrap())
}

#[track_caller]
fn says(argv: &[&str], expected: &str) {
    let folder = Folder::new(expected.split_whitespace().next().unwrap());
    let Some(output) = run(argv, folder.path()) else { return };
    let text = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{argv:?}: {}\n{text}\n{complaint}", output.status);
    assert!(text.contains(expected), "{argv:?} says\n{text}\n{complaint}");
}

/// The python that the first one on `PATH` is, not a version manager's shim: that one wants its own home folder.
fn python() -> String {
    let asked = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
    asked
        .map_or_else(|_| "python3".to_owned(), |said| String::from_utf8_lossy(&said.stdout).trim().to_owned())
}

#[test]
fn a_shell_with_pipes_and_files() {
    let script = "printf 'a\\nb\\n' | sort -r | head -1 && mkdir -p x/y && cp -a /etc/passwd x/y/p && ln -s y x/l && \
                  find x | sort && tar cf t.tar x && tar xf t.tar -C / --to-stdout x/y/p | grep -c root && chmod 755 x && \
                  ls -la x >/dev/null && (sleep 0.01 & wait) && nproc >/dev/null && echo shell fine";
    says(&["/bin/sh", "-ec", script], "shell fine");
}

#[test]
fn python_threads_processes_and_sockets() {
    let script = r#"
import asyncio, concurrent.futures, multiprocessing as mp, os, pty, resource, shutil, socket, subprocess, threading

def square(x):
    return x * x

def main():
    got = []
    threads = [threading.Thread(target=got.append, args=(i,)) for i in range(8)]
    [t.start() for t in threads]; [t.join() for t in threads]
    assert sorted(got) == list(range(8))
    for method in ("fork", "spawn", "forkserver"):
        with mp.get_context(method).Pool(2) as pool:
            assert pool.map(square, [1, 2, 3]) == [1, 4, 9]
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        assert list(pool.map(square, [4])) == [16]
    from multiprocessing import shared_memory
    shared = shared_memory.SharedMemory(create=True, size=4096); shared.buf[0] = 1; shared.close(); shared.unlink()
    listener = socket.create_server(("127.0.0.1", 0))
    client = socket.create_connection(listener.getsockname())
    server, _ = listener.accept()
    client.sendall(b"x"); assert server.recv(1) == b"x"
    one, two = socket.socketpair(); one.send(b"y"); assert two.recv(1) == b"y"
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).bind(("127.0.0.1", 0))
    closed = socket.create_server(("127.0.0.1", 0)); address = closed.getsockname(); closed.close()
    try:
        socket.create_connection(address); raise SystemExit("a closed port answered")
    except ConnectionRefusedError:
        pass
    assert subprocess.run("echo hi | cat", shell=True, capture_output=True).stdout == b"hi\n"
    async def later():
        await (await asyncio.create_subprocess_exec("true")).wait()
        (await asyncio.start_server(lambda r, w: w.close(), "127.0.0.1", 0)).close()
        assert await asyncio.to_thread(square, 5) == 25
    asyncio.run(later())
    child, terminal = pty.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    open("a", "w").write("x"); os.chmod("a", 0o755); shutil.copy2("a", "b"); os.mkfifo("fifo")
    os.memfd_create("m"); os.eventfd(0); os.pidfd_open(os.getpid()); os.nice(1)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); os.sched_setaffinity(0, os.sched_getaffinity(0))
    try:
        os.chmod("a", 0o4755); raise SystemExit("set-user-id was set")
    except PermissionError:
        pass
    print("python fine")

if __name__ == "__main__":
    main()
"#;
    let folder = Folder::new("python-script");
    let path = folder.path().join("script.py");
    std::fs::write(&path, script).unwrap();
    says(&[&python(), path.to_str().unwrap()], "python fine");
}

#[test]
fn sqlite_with_a_write_ahead_log() {
    let script = "import sqlite3; db = sqlite3.connect('x.db'); \
                  assert db.execute('pragma journal_mode=wal').fetchone() == ('wal',); \
                  db.execute('create table t (a)'); db.execute('insert into t values (7)'); db.commit(); \
                  db.execute('vacuum'); print('sqlite fine', sqlite3.connect('x.db').execute('select a from t').fetchone()[0])";
    says(&[&python(), "-c", script], "sqlite fine 7");
}

#[test]
fn node_with_its_interfaces_children_workers_files_and_fetch() {
    let script = r#"
import os from 'os'; import cp from 'child_process'; import { Worker } from 'worker_threads'; import fs from 'fs/promises';
import { watch } from 'fs'; import net from 'net'; import crypto from 'crypto';
const must = (fact, what) => { if (!fact) { console.error('not so: ' + what); process.exit(1); } };
must(Object.keys(os.networkInterfaces()).includes('lo'), 'lo is listed');
must(cp.execSync('echo hi').toString() === 'hi\n', 'execSync');
must(await new Promise(done => cp.spawn('true').on('exit', done)) === 0, 'spawn');
const worker = 'import { parentPort } from "worker_threads"; parentPort.postMessage(6 * 7)';
must(await new Promise((done, no) => new Worker(new URL('data:text/javascript,' + encodeURIComponent(worker)))
  .on('message', done).on('error', no)) === 42, 'a worker');
await fs.writeFile('a', 'x'); await fs.copyFile('a', 'b'); await fs.mkdir('d/e', { recursive: true });
const watcher = watch('.'); await fs.rename('b', 'd/b'); watcher.close(); await fs.cp('d', 'f', { recursive: true });
must((await fs.readFile('f/b')).toString() === 'x', 'fs.promises');
const server = net.createServer(); await new Promise(done => server.listen(0, '127.0.0.1', done));
const { port } = server.address(); await new Promise(done => server.close(done));
const code = await fetch(`http://127.0.0.1:${port}/`).then(() => 'answered', failure => failure.cause.code);
must(code === 'ECONNREFUSED', 'a closed port: ' + code);
await new Promise(done => { const local = net.createServer(c => c.end('x')).listen('s.sock',
  () => net.connect('s.sock').on('data', () => local.close(done))); });
await new Promise(done => crypto.scrypt('a', 'b', 32, done)); os.setPriority(0, 5);
must(new Function('a', 'return a + 1')(1) === 2, 'compiling');
console.log('node fine');
"#;
    says(&["node", "--input-type=module", "-e", script], "node fine");
}

#[test]
fn git_init_commit_clone() {
    let script = "git init -q r && cd r && echo x > a && git add a && \
                  git -c user.name=n -c user.email=n@localhost commit -qm 'first' && git gc -q && \
                  git clone -q . ../c && cd ../c && git log --format='git %s'";
    if Command::new("git").arg("--version").output().is_err() {
        eprintln!("skipped: no git here");
        return;
    }
    says(&["/bin/sh", "-ec", script], "git first");
}

#[test]
fn java_starts() {
    let folder = Folder::new("java");
    let Some(output) = run(&["java", "-Xmx64m", "-version"], folder.path()) else { return };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.to_lowercase().contains("version"), "{}\n{said}", output.status);
}
