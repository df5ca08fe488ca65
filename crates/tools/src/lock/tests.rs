use super::*;

fn pinned() -> Pinned {
    Pinned {
        source: "npx:@acme/weather-mcp@1.4.2".to_owned(),
        command: ["npx", "-y", "@acme/weather-mcp"].map(str::to_owned).to_vec(),
        integrity: Some("sha512-aGk+/w==".to_owned()),
        tree: Some(Digest::of(b"tree")),
        content: [("linux-x64", "x"), ("linux-x64-cpython-3.11", "y")]
            .map(|(platform, bytes)| (platform.to_owned(), Digest::of(bytes.as_bytes())))
            .into(),
        scripts: vec!["esbuild".to_owned()],
        client: Profile::plain(),
        lists: Lists::Offline,
        fingerprint: format!("v1:{}", Digest::of(b"surface")).parse().unwrap(),
        short: "1bd42917668ede86".to_owned(),
        hosts: vec!["api.weather.example".to_owned()],
        secrets: [("WEATHER_KEY".to_owned(), "weather".to_owned())].into(),
        mounts: vec!["docs".to_owned(), "out \u{202e}\"\\:rw".to_owned()],
    }
}

#[test]
fn show() {
    let mut lock = Lock::default();
    lock.insert(ServerName::new("b").unwrap(), pinned());
    println!("{}", lock.to_text());
    let read = Lock::parse("x", lock.to_text().as_bytes());
    println!("{read:?}");
    assert_eq!(read.unwrap(), lock);
}
