//! Node, two major versions of it, with what it brings and the packages most programs use.

use hyper::Version;

use crate::{
    origin::{Shelf, VALUE},
    scene::{Scene, host, package},
};

fn asks(node: &str, mounts: &[&str]) {
    let scene = Scene::new(Shelf::default());
    let program = scene.program("ask.mjs", include_str!("programs/ask.mjs"));
    for way in ["https", "fetch", "axios", "ws"] {
        let mut packages = String::new();
        let mut flags = mounts.to_vec();
        if way == "axios" || way == "ws" {
            let row = format!("`{way}` of {node} with a key");
            let Some((folder, _)) = package(&row, "npm-runtimes", &format!("node_modules/{way}")) else {
                continue;
            };
            packages = folder;
            if !flags.contains(&packages.as_str()) {
                flags.extend(["--mount", &packages]);
            }
        }
        let words = [node, &program, way, "https://api.example.test/user", &packages];
        scene.greeted(Version::HTTP_11, &flags, &words);
    }
}

#[test]
fn node_of_this_machine_uses_a_key_by_each_of_its_clients() {
    let Some(node) = host("Node with a key", "node") else { return };
    asks(&node, &[]);
}

#[test]
fn node_22_uses_a_key_by_each_of_its_clients() {
    let machine = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    let path = format!("node_modules/node-linux-{machine}/bin/node");
    let Some((folder, node)) = package("Node 22 with a key", "npm-runtimes", &path) else { return };
    asks(&node, &["--mount", &folder]);
}

/// Node that is the cell's program, and not a shell's: it is told of the edge in another way.
#[test]
fn node_as_the_program_itself_uses_a_key() {
    let machine = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    let path = format!("node_modules/node-linux-{machine}/bin/node");
    let own = host("Node as the program with a key", "node").map(|node| (Vec::new(), node));
    let other = package("Node 22 as the program with a key", "npm-runtimes", &path)
        .map(|(folder, node)| (vec!["--mount".to_owned(), folder], node));
    for (mounts, node) in own.into_iter().chain(other) {
        let scene = Scene::new(Shelf::default());
        let program = scene.program("ask.mjs", include_str!("programs/ask.mjs"));
        for way in ["https", "fetch"] {
            let mut flags = vec!["--secret", "TOKEN"];
            flags.extend(mounts.iter().map(String::as_str));
            let ran = scene.exec(&flags, &[&node, &program, way, "https://api.example.test/user", ""]);
            assert_eq!(ran.code, Some(0), "{node} {way}: {ran:?}");
            let seen = scene.origin.seen();
            let arrived = seen.iter().filter_map(|seen| seen.credential.as_deref());
            let expected = format!("Bearer {VALUE}");
            assert_eq!(arrived.filter(|credential| *credential == expected).count(), 1, "{node} {way}");
        }
        let words = ["-p", "`${process.env.NODE_OPTIONS} ${process.env.NODE_EXTRA_CA_CERTS}`"];
        let flags: Vec<&str> = mounts.iter().map(String::as_str).collect();
        let ran = scene.exec(&flags, &[&[node.as_str()], &words[..]].concat());
        assert_eq!(ran.stdout, "--use-openssl-ca undefined\n", "{node}: {ran:?}");
    }
}
