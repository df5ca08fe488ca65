//! Rust's reqwest with rustls and the system's roots: `examples/ask.rs`, which is built beside the tests.

use hyper::Version;
use testkit::world::skip;

use crate::{
    origin::Shelf,
    scene::{PLAIN, Scene},
};

#[test]
fn rust_uses_a_key() {
    let test = std::env::current_exe().unwrap();
    let example = test.ancestors().map(|folder| folder.join("examples/ask")).find(|path| path.is_file());
    let Some(example) = example else {
        return skip("Rust's reqwest with a key", "its program `examples/ask` was not built beside the test");
    };
    let scene = Scene::new(Shelf::default());
    let program = scene.world.path("tool/ask");
    std::fs::copy(example, &program).unwrap();
    let words = [program.to_str().unwrap(), "https://api.example.test/user"];
    scene.greeted(Version::HTTP_2, &PLAIN, &words);
}
