//! Node, two major versions of it, with what it brings and the packages most programs use.

use hyper::Version;

use crate::{
    origin::Shelf,
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
