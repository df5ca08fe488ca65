//! Perl's LWP.

use hyper::Version;
use testkit::world::skip;

use crate::{
    origin::Shelf,
    scene::{PLAIN, Scene, host, works},
};

#[test]
fn perl_uses_a_key() {
    const ROW: &str = "Perl's LWP with a key";
    let Some(perl) = host(ROW, "perl") else { return };
    if !works(&perl, &["-MLWP::UserAgent", "-MLWP::Protocol::https", "-e", "1"]) {
        return skip(ROW, "Perl has no LWP::Protocol::https here");
    }
    let scene = Scene::new(Shelf::default());
    let program = scene.program("ask.pl", include_str!("programs/ask.pl"));
    scene.greeted(Version::HTTP_11, &PLAIN, &[&perl, &program, "https://api.example.test/user"]);
}
