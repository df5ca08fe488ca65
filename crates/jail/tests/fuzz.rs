//! Fuzz targets of the jail: the spec is the one thing it reads from outside. `cargo test` replays the corpus and tries
//! random inputs; `cargo bolero` goes on from there.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::unreachable,
    reason = "a panic is how a fuzz target says that it found something"
)]

use std::path::{Component, Path};

use jail::spec::{Cgroups, Entry, Identity, Rlimits, Spec};

fn is_plain(path: &Path) -> bool {
    path.is_absolute()
        && path.components().skip(1).all(|part| matches!(part, Component::Normal(_)))
        && path.components().count() > 1
}

fn is_plain_inside(path: &Path) -> bool {
    path.components().next().is_some() && path.components().all(|part| matches!(part, Component::Normal(_)))
}

/// What the jail relies on for every spec it accepts.
fn check_accepted(spec: &Spec) {
    assert!(!matches!(spec.identity, Identity::Reserved { id: 0 } | Identity::Caller { subgid: Some(0) }));
    for entry in &spec.root {
        assert!(is_plain(entry.path()), "{entry:?}");
        for own in ["/proc", "/dev", "/sys"] {
            assert!(!entry.path().starts_with(own) || entry.path() == Path::new("/dev/shm"), "{entry:?}");
        }
        if let Entry::Bind { source, guarded, masked, .. } = entry {
            assert!(is_plain(source), "{entry:?}");
            for inner in guarded.iter().chain(masked) {
                assert!(is_plain_inside(inner), "{entry:?}");
            }
        }
    }
    let again = Spec::parse(&serde_json::to_vec(spec).unwrap()).unwrap();
    assert_eq!(&again, spec);
}

#[test]
fn spec_bytes() {
    bolero::check!().with_iterations(20_000).for_each(|bytes: &[u8]| {
        if let Ok(spec) = Spec::parse(bytes) {
            check_accepted(&spec);
        }
    });
}

/// Paths put together from the pieces that matter, so that random input reaches the checks behind the JSON parser.
fn path_from(pieces: &[u8]) -> String {
    const PIECES: [&str; 12] =
        ["/", "..", ".", "a", "proc", "dev", "shm", "sys", "", "/..", "b c", "\u{301}"];
    pieces.iter().map(|piece| PIECES[usize::from(*piece) % PIECES.len()]).collect::<Vec<_>>().join("/")
}

#[test]
fn spec_paths() {
    bolero::check!().with_iterations(20_000).with_type::<(Vec<u8>, Vec<u8>, Vec<u8>, bool, u32)>().for_each(
        |(path, source, inner, reserved, id)| {
            let bind = Entry::Bind {
                source: path_from(source).into(),
                path: path_from(path).into(),
                write: true,
                map_owner: true,
                guarded: vec![path_from(inner).into()],
                masked: Vec::new(),
            };
            let identity = if *reserved {
                Identity::Reserved { id: *id }
            } else {
                Identity::Caller { subgid: Some(*id) }
            };
            let spec = Spec {
                hostname: "cell".into(),
                identity,
                root: vec![bind.clone()],
                cgroups: Cgroups::default(),
                rlimits: Rlimits { open_files: 1, file_size: 1, processes: 1, memory: 1, cpu_milli: 1 },
                routes: Vec::new(),
                watch: None,
                contents: Vec::new(),
            };
            let told = serde_json::to_vec(&spec).unwrap();
            match Spec::parse(&told) {
                Ok(accepted) => check_accepted(&accepted),
                // A refusal must have a reason: nothing plain is turned away.
                Err(failure) => {
                    let Entry::Bind { source, path, guarded, .. } = &bind else { unreachable!() };
                    let own = ["/proc", "/dev", "/sys"].iter().any(|own| path.starts_with(own));
                    let fine = is_plain(path)
                        && !own
                        && is_plain(source)
                        && is_plain_inside(&guarded[0])
                        && *id != 0;
                    assert!(!fine, "{failure}: {bind:?}");
                }
            }
        },
    );
}
