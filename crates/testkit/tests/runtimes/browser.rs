//! Chromium without a screen: a page over TLS that is looked into, and a request with the key from its script.

use hyper::Version;

use crate::{
    origin::Shelf,
    scene::{Scene, host},
};

#[test]
fn chromium_loads_a_page_and_uses_a_key_in_it() {
    let Some(chromium) = host("Chromium with a key", "chromium") else { return };
    let mut shelf = Shelf { open: vec!["/page".to_owned(), "/favicon.ico".to_owned()], ..Shelf::default() };
    shelf.pages.insert("/page".to_owned(), ("text/html", include_bytes!("programs/page.html").to_vec()));
    let scene = Scene::new(shelf);
    let line = format!(
        "{chromium} --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
         --user-data-dir=/tmp/browser --dump-dom \"https://api.example.test/page#$TOKEN\""
    );
    scene.greeted(Version::HTTP_2, &["--limit", "processes=500"], &["sh", "-c", &line]);
}
