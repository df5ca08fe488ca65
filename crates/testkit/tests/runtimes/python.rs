//! Python, with what it brings and the packages most programs use.

use hyper::Version;

use crate::{
    origin::Shelf,
    scene::{PLAIN, Scene, host, python},
};

const URL: &str = "https://api.example.test/user";

#[test]
fn python_uses_a_key_by_what_it_brings() {
    let Some(python) = host("Python's urllib with a key", "python3") else { return };
    let scene = Scene::new(Shelf::default());
    let program = scene.program("ask.py", include_str!("programs/ask.py"));
    scene.greeted(Version::HTTP_11, &PLAIN, &[&python, &program, "urllib", URL]);
}

#[test]
fn python_uses_a_key_by_each_of_its_clients() {
    let row = "Python's requests, httpx, aiohttp and websockets with a key";
    let Some((python, mounts)) = python(row) else { return };
    let scene = Scene::new(Shelf::default());
    let program = scene.program("ask.py", include_str!("programs/ask.py"));
    let ways = [
        ("requests", Version::HTTP_11),
        ("httpx", Version::HTTP_11),
        ("httpx2", Version::HTTP_2),
        ("aiohttp", Version::HTTP_11),
        ("websockets", Version::HTTP_11),
    ];
    for (way, version) in ways {
        scene.greeted(version, &mounts, &[&python, &program, way, URL]);
    }
}
