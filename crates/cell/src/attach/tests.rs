use std::rc::Rc;

use cell_api::order::StderrMode;
use model::exit::{Cause, Exit};
use tokio::{net::UnixStream, sync::oneshot};

use super::*;

struct World {
    process: Rc<Process>,
    /// The process's own ends.
    stdin: pipe::Receiver,
    stdout: pipe::Sender,
}

fn world() -> World {
    let (sender, stdin) = pipe::pipe().unwrap();
    let (stdout, receiver) = pipe::pipe().unwrap();
    let process = Process::adopt(
        1,
        2,
        vec!["x".into()],
        sender.into_blocking_fd().unwrap(),
        receiver.into_blocking_fd().unwrap(),
    )
    .unwrap();
    World { process, stdin, stdout }
}

fn end() -> End {
    End { cause: Cause::Finished, exit: Some(Exit::Code(3)), detail: "exit code 3".into() }
}

async fn frame_of(stream: &mut UnixStream) -> (Channel, Vec<u8>) {
    let mut header = [0; HEADER];
    stream.read_exact(&mut header).await.unwrap();
    let (channel, len) = frame::parse(header).unwrap();
    let mut payload = vec![0; len];
    stream.read_exact(&mut payload).await.unwrap();
    (channel, payload)
}

#[tokio::test(flavor = "current_thread")]
async fn what_was_said_before_the_end_comes_before_the_exit_frame() {
    let mut world = world();
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    let (from, to) = ours.into_split();
    let seat = world.process.sit(StderrMode::False).unwrap();
    let process = async {
        let mut said = [0; 5];
        world.stdin.read_exact(&mut said).await.unwrap();
        assert_eq!(&said, b"hello");
        let mut rest = Vec::new();
        world.stdin.read_to_end(&mut rest).await.unwrap();
        assert!(rest.is_empty());
        world.stdout.write_all(&vec![9; 200_000]).await.unwrap();
        drop(world.stdout);
    };
    let client = async {
        theirs.write_all(&frame::header(Channel::Stdin, 5).unwrap()).await.unwrap();
        theirs.write_all(b"hello").await.unwrap();
        theirs.write_all(&frame::header(Channel::Stdin, 0).unwrap()).await.unwrap();
        let mut out = 0;
        loop {
            match frame_of(&mut theirs).await {
                (Channel::Stdout, payload) => out += payload.len(),
                (Channel::Exit, payload) => {
                    assert_eq!(serde_json::from_slice::<End>(&payload).unwrap(), end());
                    return out;
                }
                other => panic!("{other:?}"),
            }
        }
    };
    // The end is known from the beginning: it must wait for the output all the same.
    let relay = relay(from, to, seat, async { end() }, true);
    let (relayed, (), out) = tokio::join!(relay, process, client);
    relayed.unwrap();
    assert_eq!(out, 200_000);
}

#[tokio::test(flavor = "current_thread")]
async fn a_client_that_leaves_makes_room_for_the_next() {
    let mut world = world();
    let (ours, theirs) = UnixStream::pair().unwrap();
    let (from, to) = ours.into_split();
    let seat = world.process.sit(StderrMode::False).unwrap();
    assert!(world.process.sit(StderrMode::False).is_none());
    drop(theirs);
    relay(from, to, seat, std::future::pending(), true).await.unwrap();
    let again = world.process.sit(StderrMode::False).unwrap();
    world.stdout.write_all(b"still there").await.unwrap();
    assert!(again.stdout.is_some());
}

#[tokio::test(flavor = "current_thread")]
async fn a_frame_that_cannot_be_ends_the_attach() {
    let world = world();
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    let (from, to) = ours.into_split();
    let seat = world.process.sit(StderrMode::False).unwrap();
    theirs.write_all(&frame::header(Channel::Stdout, 1).unwrap()).await.unwrap();
    let error = relay(from, to, seat, std::future::pending(), true).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
}

#[tokio::test(flavor = "current_thread")]
async fn a_reader_that_stops_stops_the_process_and_not_our_memory() {
    let mut world = world();
    let (ours, theirs) = UnixStream::pair().unwrap();
    let (from, to) = ours.into_split();
    let seat = world.process.sit(StderrMode::False).unwrap();
    let (done, finished) = oneshot::channel::<()>();
    let relay = relay(from, to, seat, std::future::pending(), true);
    let flood = async {
        let piece = vec![1; 1 << 16];
        for _ in 0..1_000 {
            world.stdout.write_all(&piece).await.unwrap();
        }
        done.send(()).ok();
    };
    tokio::select! {
        _ = relay => panic!("the relay ended"),
        () = flood => panic!("64 MiB went somewhere"),
        () = tokio::time::sleep(Duration::from_millis(200)) => {}
    }
    assert!({ finished }.try_recv().is_err());
    drop(theirs);
}

#[tokio::test(flavor = "current_thread")]
async fn what_a_dead_process_left_running_does_not_hold_the_exit_back_for_ever() {
    let world = world();
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    let (from, to) = ours.into_split();
    let seat = world.process.sit(StderrMode::False).unwrap();
    let client = async { frame_of(&mut theirs).await };
    let (relayed, (channel, _)) = tokio::join!(relay(from, to, seat, async { end() }, false), client);
    relayed.unwrap();
    assert_eq!(channel, Channel::Exit);
    drop(world.stdout);
}
