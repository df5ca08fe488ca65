use proptest::prelude::*;

use super::*;

const LOCK: &str = r#"
lock-version = "1.0"
created-by = "uv"

[[packages]]
name = "b-c"
version = "1.0"
marker = "sys_platform == 'linux'"
wheels = [
    { url = "https://f.example/b_c-1.0-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", upload-time = 2026-02-03T04:05:06Z, hashes = { sha256 = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb" } },
    { url = "https://f.example/b_c-1.0-py2.py3-none-any.whl", upload-time = 2026-01-03T04:05:06Z, hashes = { sha256 = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" } },
]

[[packages]]
name = "a"
version = "2!1.0+local.1"
sdist = { url = "https://f.example/a.tar.gz", hashes = { sha256 = "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee" } }
wheels = [{ name = "a-1-py3-none-any.whl", hashes = { sha256 = "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc" } }]
"#;

fn tree() -> TreeFile {
    TreeFile::of(&Resolution::parse(LOCK).unwrap()).unwrap()
}

#[test]
fn what_was_resolved_is_sorted_and_holds_wheels_alone() {
    insta::assert_snapshot!(tree().text(), @r"
    # Every wheel of the tree by its hash, for `uv pip install --require-hashes`.
    a==2!1.0+local.1 \
        --hash=sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc
    b-c==1.0 ; sys_platform == 'linux' \
        --hash=sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa \
        --hash=sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
    ");
    assert_eq!(TreeFile::parse(tree().text().as_bytes()).unwrap(), tree());
}

#[test]
fn the_wheel_that_was_installed_is_found_by_its_tags() {
    let resolution = Resolution::parse(LOCK).unwrap();
    let tags = |all: &[&str]| all.iter().map(|tag| (*tag).to_owned()).collect::<Vec<_>>();
    let hash = |tag: &[&str]| resolution.hash("b-c", "1.0", &tags(tag));
    assert_eq!(hash(&["py3-none-any"]).unwrap(), "a".repeat(64));
    assert_eq!(hash(&["cp311-cp311-manylinux2014_x86_64"]).unwrap(), "b".repeat(64));
    assert_eq!(hash(&["cp312-cp312-win32"]), None);
    // Which of the two it was is not known.
    assert_eq!(hash(&["py3-none-any", "cp311-cp311-manylinux2014_x86_64"]), None);
    assert_eq!(resolution.release("b-c"), Some(("1.0", Some("2026-01-03T04:05:06Z".to_owned()))));
}

#[test]
fn what_is_not_all_wheels_with_a_hash_is_refused() {
    for (lock, why) in [
        ("[[packages]]\nname = \"a\"\nversion = \"1\"", "SHA-256"),
        ("[[packages]]\nname = \"a\"\nwheels = []", "no version"),
        (
            "[[packages]]\nname = \"a\"\nversion = \"1\"\nwheels = [{ url = \"x\", hashes = { md5 = \"00\" } }]",
            "SHA-256",
        ),
        (
            "[[packages]]\nname = \"a b\"\nversion = \"1\"\nwheels = [{ hashes = { sha256 = \"00\" } }]",
            "no name",
        ),
        (
            "[[packages]]\nname = \"a\"\nversion = \"1\"\nwheels = [{ hashes = { sha256 = \"00\" } }]",
            "no SHA-256",
        ),
    ] {
        let error = TreeFile::of(&Resolution::parse(lock).unwrap()).unwrap_err();
        assert!(error.contains(why), "{error}");
    }
    assert!(Resolution::parse("packages = 1").is_err());
}

#[test]
fn a_file_that_says_more_than_names_and_hashes_is_refused_with_the_line() {
    let hash = format!("    --hash=sha256:{}", "a".repeat(64));
    for (body, line) in [
        ("--index-url https://evil.example/simple\n".to_owned(), Some(2)),
        ("-r /etc/passwd\n".to_owned(), Some(2)),
        ("-e . \\\n".to_owned() + &hash + "\n", Some(2)),
        ("a @ https://evil.example/a.whl \\\n".to_owned() + &hash + "\n", Some(2)),
        ("a==1\n".to_owned(), Some(2)),
        (format!("a==1 \\\n{hash}\nb>=2 \\\n{hash}\n"), Some(4)),
        (format!("a==1 --index-url=https://evil.example \\\n{hash}\n"), Some(2)),
        (format!("a==1 ; sys_platform == 'x' --hash=sha256:00 \\\n{hash}\n"), Some(2)),
        (format!("a==1.* \\\n{hash}\n"), Some(2)),
        (format!("a==1 \\\n{hash} \\\n"), None),
        (format!("a==1 \\\n{hash}0\n"), Some(2)),
        (format!("a==1 \\\n{hash}\n\n"), Some(4)),
        (format!("a==1 \\\n{hash}\r\n"), None),
        (format!("b==1 \\\n{hash}\na==1 \\\n{hash}\n"), None),
        (format!("a==1 \\\n{hash}"), None),
    ] {
        let error = TreeFile::parse(format!("{FIRST_LINE}\n{body}").as_bytes()).unwrap_err();
        match line {
            Some(line) => assert!(error.starts_with(&format!("line {line}:")), "{body:?}: {error}"),
            None => assert!(!error.is_empty()),
        }
    }
    assert!(TreeFile::parse(b"").is_err());
    assert!(TreeFile::parse(b"\xff").is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    /// Whatever a lock of somebody else's brings: it is refused, or it is exactly what would be written for it.
    #[test]
    fn no_file_means_anything_but_what_it_says(
        lines in prop::collection::vec(prop::sample::select(PIECES), 0..8),
        more in "[ -~\\n]{0,12}",
        at in 0_usize..400,
    ) {
        let mut text = format!("{FIRST_LINE}\n{}", lines.concat());
        if let Some(index) = text.char_indices().map(|(index, _)| index).nth(at) {
            text.insert_str(index, &more);
        }
        if let Ok(tree) = TreeFile::parse(text.as_bytes()) {
            prop_assert_eq!(tree.text(), text);
            for row in tree.rows() {
                prop_assert!(check(row).is_ok());
            }
        }
    }
}

/// Of which files are made, and some that nobody writes.
const PIECES: &[&str] = &[
    "a==1 \\\n",
    "b==2.0 ; sys_platform == 'linux' \\\n",
    "    --hash=sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n",
    "    --hash=sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb \\\n",
    "    --index-url=https://evil.example\n",
    "-r /etc/passwd\n",
    "\n",
    "# a remark\n",
];
