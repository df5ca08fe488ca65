use super::*;

mod corruption;
mod merging;
mod properties;
mod refusals;

fn name(text: &str) -> ServerName {
    ServerName::new(text).unwrap()
}

fn digest(of: &str) -> Digest {
    Digest::of(of.as_bytes())
}

/// A package with something under every key.
fn package() -> Pinned {
    Pinned {
        source: "npx:@acme/weather-mcp@1.4.2".to_owned(),
        command: ["npx", "-y", "@acme/weather-mcp"].map(str::to_owned).to_vec(),
        integrity: Some("sha512-aGk+/w==".to_owned()),
        tree: Some(digest("tree")),
        content: [("linux-x64", "x"), ("linux-arm64", "y"), ("linux-x64-cpython-3.11", "z")]
            .map(|(platform, bytes)| (platform.to_owned(), digest(bytes)))
            .into(),
        scripts: vec!["esbuild".to_owned()],
        client: "elicitation+roots".parse().unwrap(),
        lists: Lists::Keys,
        fingerprint: format!("v1:{}", digest("surface")).parse().unwrap(),
        short: "1bd42917668ede86".to_owned(),
        hosts: vec!["api.weather.example".to_owned(), "*.tiles.example:8443".to_owned()],
        secrets: [("WEATHER_KEY".to_owned(), "weather".to_owned())].into(),
        headers: vec!["x-key=${KEY}".to_owned()],
        mounts: vec!["docs".to_owned(), "Ü/\u{202e}\"\\\n:rw".to_owned()],
        tiers: [("forecast".to_owned(), Tier::One), ("station.delete".to_owned(), Tier::Three)].into(),
        bound: [("forecast/user_id".to_owned(), "claims.sub".to_owned())].into(),
    }
}

/// A local command with as little as can be.
fn command() -> Pinned {
    Pinned {
        source: "command".to_owned(),
        command: vec!["./server".to_owned()],
        integrity: None,
        tree: None,
        content: BTreeMap::new(),
        scripts: Vec::new(),
        client: Profile::plain(),
        lists: Lists::Offline,
        hosts: Vec::new(),
        secrets: BTreeMap::new(),
        headers: Vec::new(),
        mounts: Vec::new(),
        tiers: BTreeMap::new(),
        bound: BTreeMap::new(),
        ..package()
    }
}

fn lock<const N: usize>(servers: [(&str, Pinned); N]) -> Lock {
    let mut lock = Lock::default();
    for (server, pinned) in servers {
        assert_eq!(lock.insert(name(server), pinned), None);
    }
    lock
}

const TEXT: &str = r#"# What was pinned of each server; written by `fumehood`, and meant for version control.
version = 1

[servers."notes.local"]
source = "command"
command = [
  "./server",
]
client = "plain"
lists = "offline"
fingerprint = "v1:sha256:763cdc62a869262b6ff432a40eae29a00bb96f96f7a3320845abc8cd144d12e2"
short = "1bd42917668ede86"

[servers.weather]
source = "npx:@acme/weather-mcp@1.4.2"
command = [
  "npx",
  "-y",
  "@acme/weather-mcp",
]
integrity = "sha512-aGk+/w=="
tree = "sha256:dc9c5edb8b2d479e697b4b0b8ab874f32b325138598ce9e7b759eb8292110622"
content.linux-arm64 = "sha256:a1fce4363854ff888cff4b8e7875d600c2682390412a8cf79b37d0b11148b0fa"
content.linux-x64 = "sha256:2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
content."linux-x64-cpython-3.11" = "sha256:594e519ae499312b29433b7dd8a97ff068defcba9755b6d5d00e84c524d67b06"
scripts = [
  "esbuild",
]
client = "elicitation+roots"
lists = "keys"
fingerprint = "v1:sha256:763cdc62a869262b6ff432a40eae29a00bb96f96f7a3320845abc8cd144d12e2"
short = "1bd42917668ede86"
hosts = [
  "api.weather.example",
  "*.tiles.example:8443",
]
secrets.WEATHER_KEY = "weather"
headers = [
  "x-key=${KEY}",
]
mounts = [
  "docs",
  "Ü/\u202E\"\\\n:rw",
]
tiers.forecast = "1"
tiers."station.delete" = "3"
bound."forecast/user_id" = "claims.sub"
"#;

#[test]
fn a_lock_is_written_for_people_and_read_back() {
    let lock = lock([("weather", package()), ("notes.local", command())]);
    assert_eq!(lock.to_text(), TEXT);
    assert_eq!(Lock::parse("fumehood.lock", TEXT.as_bytes()).unwrap(), lock);
    assert_eq!(lock.get(&name("weather")), Some(&package()));
    let empty = Lock::default();
    assert_eq!(Lock::parse("fumehood.lock", empty.to_text().as_bytes()).unwrap(), empty);
}

#[test]
fn comment_lines_at_the_top_are_free() {
    let lock = lock([("a", command())]);
    let (_, body) = TEXT.split_once('\n').unwrap();
    for head in ["", "#\n", "# mine\n#and <<<<<<< mine\n"] {
        assert!(Lock::parse("l", format!("{head}{body}").as_bytes()).is_ok(), "{head}");
    }
    assert!(lock.to_text().starts_with('#'));
}

/// What an acceptance names; a person can compute it with `sha256sum`.
#[test]
fn the_digest_is_of_the_table_as_written() {
    let (_, table) = TEXT.split_once("\n\n").unwrap();
    let (table, _) = table.split_once("\n\n").unwrap();
    assert_eq!(command().digest(&name("notes.local")), digest(&format!("fumehood.lock/1\n{table}\n")));
    assert_ne!(command().digest(&name("notes.local")), command().digest(&name("notes.remote")));
}

#[test]
fn every_key_is_in_the_digest() {
    let changes: [fn(&mut Pinned); 19] = [
        |pinned| pinned.source = "npx:@acme/weather-mcp@1.4.3".to_owned(),
        |pinned| pinned.command.push("--all".to_owned()),
        |pinned| pinned.command = vec!["npx -y @acme/weather-mcp".to_owned()],
        |pinned| pinned.integrity = Some("sha512-aGk+/x==".to_owned()),
        |pinned| pinned.integrity = None,
        |pinned| pinned.tree = None,
        |pinned| assert!(pinned.content.remove("linux-arm64").is_some()),
        |pinned| pinned.content.extend([("linux-x64".to_owned(), digest("other"))]),
        |pinned| pinned.scripts.clear(),
        |pinned| pinned.client = Profile::plain(),
        |pinned| pinned.lists = Lists::Offline,
        |pinned| pinned.fingerprint = format!("v1:{}", digest("other")).parse().unwrap(),
        |pinned| pinned.short = "0000000000000000".to_owned(),
        |pinned| pinned.hosts.reverse(),
        |pinned| pinned.secrets.extend([("WEATHER_KEY".to_owned(), "other".to_owned())]),
        |pinned| pinned.headers = vec!["x-key=${OTHER}".to_owned()],
        |pinned| pinned.mounts = vec!["docs:rw".to_owned()],
        |pinned| pinned.tiers = [("forecast".to_owned(), Tier::Two)].into(),
        |pinned| pinned.bound.clear(),
    ];
    let mut seen = vec![package().digest(&name("a"))];
    for change in changes {
        let mut pinned = package();
        change(&mut pinned);
        let digest = pinned.digest(&name("a"));
        assert!(!seen.contains(&digest), "{pinned:?}");
        seen.push(digest);
    }
}

#[test]
fn another_spelling_is_put_in_order_but_not_started_from() {
    let wanted = lock([("a", command()), ("weather", package())]);
    let (head, tables) = TEXT.split_once("\n\n").unwrap();
    let (notes, weather) = tables.split_once("\n\n").unwrap();
    let notes = notes.replace("\"notes.local\"", "a");
    let reordered = format!("{head}\n\n{weather}\n{notes}\n");
    let inline = format!("{head}\n\n{notes}\n\n{weather}").replace("[\n  \"./server\",\n]", "['./server']");
    let comment = format!("{head}\n\n{notes}\n\n# mine\n{weather}");
    let keys = format!("{head}\n\n{notes}\n\n{weather}")
        .replace("client = \"plain\"\nlists = \"offline\"", "lists = \"offline\"\nclient = \"plain\"");
    for text in [reordered, inline, comment, keys] {
        assert_eq!(Lock::parse_any_spelling("l", text.as_bytes()).unwrap(), wanted);
        let error = Lock::parse("l", text.as_bytes()).unwrap_err();
        assert_eq!(error.fault(), &LockFault::Spelling, "{text}");
        assert!(error.hint().contains("fumehood lock"));
    }
}
