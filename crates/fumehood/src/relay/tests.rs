use std::sync::mpsc as std_mpsc;

use model::exit::{Cause, Exit};
use serde_json::{Value, json};

use super::*;

fn stdout_frame(bytes: &[u8]) -> Vec<u8> {
    [&frame::header(Channel::Stdout, bytes.len()).unwrap()[..], bytes].concat()
}

fn exit_frame() -> Vec<u8> {
    let end = End { cause: Cause::Finished, exit: Some(Exit::Code(0)), detail: "exit code 0".into() };
    let text = serde_json::to_vec(&end).unwrap();
    [&frame::header(Channel::Exit, text.len()).unwrap()[..], &text].concat()
}

/// Runs the outward direction over what a supervisor would send.
fn out(frames: &[Vec<u8>], dialect: Dialect) -> (Vec<u8>, Vec<String>, Vec<Told>) {
    let stdout = Mutex::new(Vec::new());
    let (tell, mut told) = mpsc::unbounded_channel();
    let (stray, mut strays) = mpsc::channel(100);
    outwards(io::Cursor::new(frames.concat()), &stdout, &tell, &stray, dialect);
    drop((tell, stray));
    let strays = std::iter::from_fn(|| strays.blocking_recv()).collect();
    let told = std::iter::from_fn(|| told.blocking_recv()).collect();
    (stdout.into_inner().unwrap(), strays, told)
}

#[test]
fn only_the_protocol_reaches_stdout_and_the_rest_the_log() {
    let frames = [
        stdout_frame(b"starting up\n{\"jsonrpc\":\"2.0\",\"id\":1,"),
        stdout_frame(b"\"result\":{}}\nbye"),
        stdout_frame(b""),
        exit_frame(),
    ];
    let (written, strays, told) = out(&frames, Dialect::JsonRpc);
    assert_eq!(written, b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
    assert_eq!(strays, ["starting up", "bye"]);
    assert!(matches!(told.as_slice(), [Told::Ended(_)]), "{told:?}");
}

#[test]
fn raw_passes_everything() {
    let (written, strays, _) = out(&[stdout_frame(b"a\0b"), stdout_frame(b""), exit_frame()], Dialect::Raw);
    assert_eq!(written, b"a\0b");
    assert!(strays.is_empty());
}

#[test]
fn a_response_over_the_cap_becomes_an_error_with_its_id() {
    let mut line = b"{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"result\":\"".to_vec();
    line.resize(model::stdio::DEFAULT_CAP + 100, b'x');
    line.extend_from_slice(b"\"}\n");
    let frames: Vec<Vec<u8>> = line.chunks(MAX_PAYLOAD).map(stdout_frame).chain([exit_frame()]).collect();
    let (written, strays, _) = out(&frames, Dialect::JsonRpc);
    let answer: Value = serde_json::from_slice(&written).unwrap();
    assert_eq!(answer["id"], json!("q"));
    assert!(answer["error"]["message"].is_string());
    assert_eq!(strays.len(), 1);
}

#[test]
fn a_stream_that_breaks_off_is_a_lost_supervisor() {
    for cut in [0, 3, 9] {
        let mut frames = stdout_frame(b"half");
        frames.truncate(cut);
        let (_, _, told) = out(&[frames], Dialect::Raw);
        assert!(matches!(told.as_slice(), [Told::Lost]), "{told:?}");
    }
}

#[test]
fn a_reader_that_left_is_told_once_and_the_rest_is_drained() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let (tell, mut told) = mpsc::unbounded_channel();
    let (stray, _strays) = mpsc::channel(1);
    let frames = [stdout_frame(b"a"), stdout_frame(b"b"), exit_frame()].concat();
    outwards(io::Cursor::new(frames), &Mutex::new(Closed), &tell, &stray, Dialect::Raw);
    assert!(matches!(told.blocking_recv(), Some(Told::ReaderGone)));
    assert!(matches!(told.blocking_recv(), Some(Told::Ended(_))));
}

#[test]
fn a_request_over_the_cap_is_answered_and_not_forwarded() {
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    let answers = Mutex::new(Vec::new());
    let mut line = b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"m\",\"params\":\"".to_vec();
    line.resize(model::stdio::DEFAULT_CAP + 10, b'y');
    line.extend_from_slice(b"\"}\n{\"jsonrpc\":\"2.0\",\"method\":\"n\"}\nnot a message\n");
    inwards(io::Cursor::new(line), &ours, &answers, Dialect::JsonRpc).unwrap();
    drop(ours);
    let answer: Value = serde_json::from_slice(&answers.into_inner().unwrap()).unwrap();
    assert_eq!(answer["id"], json!(7));
    let mut sent = Vec::new();
    while let Ok((channel, payload)) = receive(&mut theirs) {
        assert_eq!(channel, Channel::Stdin);
        sent.push(payload);
    }
    assert_eq!(sent, [&b"{\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n"[..], b"not a message\n", b""]);
}

#[test]
fn a_server_that_reads_nothing_does_not_keep_its_answers_back() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let (done, finished) = std_mpsc::channel();
    let stdin = thread::spawn(move || {
        let large = vec![b'z'; 8 << 20];
        done.send(inwards(io::Cursor::new(large), &ours, &Mutex::new(Vec::new()), Dialect::Raw)).ok();
    });
    let (written, _, told) = out(&[stdout_frame(b"answer"), exit_frame()], Dialect::Raw);
    assert_eq!((written.as_slice(), told.len()), (&b"answer"[..], 1));
    assert!(finished.try_recv().is_err(), "8 MiB went somewhere");
    break_off(&theirs);
    stdin.join().unwrap();
    assert!(finished.recv().unwrap().is_err());
}
