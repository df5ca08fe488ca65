//! The base file system of a cell in host mode: the system's own folders and a small made-up `/etc`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use jail::spec::Entry;

use super::view::View;

/// Folders that hold the system's programs and libraries, the same for every user of the host.
const FOLDERS: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// Largest file of `/etc` that is copied rather than bound, in bytes.
const SMALL: u64 = 4096;
/// Who exists inside.
const PASSWD: &str = "root:x:0:0:root:/root:/bin/sh\ntool:x:65534:65534:tool:/home/tool:/bin/sh\n";
/// Groups that exist inside.
const GROUP: &str = "root:x:0:\ntool:x:65534:\n";
/// Names come from files and DNS, never from a daemon of the host (`nss_systemd`, `sssd`, `mdns`).
const NSSWITCH: &str = "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nnetworks: files\n\
                        protocols: files\nservices: files\nrpc: files\n";
/// What a resolver finds.
const RESOLV: &str = "# this cell has no network\n";

/// What of the host's `/etc` is shown, where present, and why. A `*` stands for any run of characters.
/// Absent on purpose: `shadow`, `gitconfig`, `environment`, `ssh`, `cron*`, `sudoers`, `machine-id`, `ld.so.preload`.
const ETC: &[(&str, &str)] = &[
    ("ld.so.cache", "where the dynamic linker finds libraries"),
    ("ld.so.conf", "what the cache was made from"),
    ("ld.so.conf.d", "what the cache was made from"),
    ("alternatives", "links of `/usr/bin` pass through it (Debian, Fedora)"),
    ("ssl/certs", "trusted roots (Debian, Alpine, Arch, openSUSE)"),
    ("ssl/cert.pem", "trusted roots as one file (Alpine, Arch)"),
    ("ssl/openssl.cnf", "OpenSSL refuses to start in some modes without it"),
    ("pki/tls/certs", "trusted roots (Fedora)"),
    ("pki/tls/cert.pem", "trusted roots as one file (Fedora)"),
    ("pki/tls/openssl.cnf", "OpenSSL's configuration (Fedora)"),
    ("pki/ca-trust/extracted", "what the links of `pki/tls` lead to (Fedora)"),
    ("ca-certificates", "what the links of `ssl/certs` lead to (Arch)"),
    ("crypto-policies", "included by Fedora's `openssl.cnf`"),
    ("mime.types", "file types for web servers"),
    ("protocols", "`getprotobyname`"),
    ("services", "`getservbyname`"),
    ("os-release", "programs choose their builds by it"),
    ("debian_version", "programs choose their builds by it"),
    ("fonts", "fontconfig, for programs that draw"),
    ("java", "Java's own settings (Fedora)"),
    ("java-*-openjdk", "links of the JDK's folder lead here (Debian)"),
    ("chromium.d", "Debian's start script of the browser stops without it"),
    ("python3*", "Debian's Python reads it at start"),
    ("perl", "Perl's local library paths"),
];

/// The system folders a cell sees, each without a link in it: everything below one is visible.
pub(crate) fn folders(view: &View) -> Vec<PathBuf> {
    FOLDERS.iter().map(PathBuf::from).filter(|path| view.link(path).is_none() && view.is_dir(path)).collect()
}

/// The entries of the base file system.
pub(crate) fn entries(view: &View, hostname: &str) -> Vec<Entry> {
    let seen = folders(view);
    let mut entries = Vec::new();
    for folder in FOLDERS.iter().map(Path::new) {
        if seen.iter().any(|path| path == folder) {
            entries.push(bind(view, folder, folder));
        } else {
            entries.extend(as_on_host(view, &seen, folder));
        }
    }
    let file = |name: &str, contents: &str| Entry::File {
        path: Path::new("/etc").join(name),
        contents: contents.to_owned(),
    };
    entries.extend([
        file("passwd", PASSWD),
        file("group", GROUP),
        file("nsswitch.conf", NSSWITCH),
        file("resolv.conf", RESOLV),
        file("hostname", &format!("{hostname}\n")),
        file(
            "hosts",
            &format!("127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n127.0.1.1 {hostname}\n"),
        ),
    ]);
    entries.extend(as_on_host(view, &seen, Path::new("/etc/localtime")));
    let names = view.names(Path::new("/etc"));
    for (pattern, _) in ETC {
        for path in matches(&names, pattern) {
            entries.extend(as_on_host(view, &seen, &path));
        }
    }
    entries
}

/// A link stays the link it is where it leads to something visible; anything else is bound read-only.
fn as_on_host(view: &View, seen: &[PathBuf], path: &Path) -> Option<Entry> {
    let real = view.trace(path).ok()?.real;
    let visible = |path: &Path| seen.iter().any(|folder| path.starts_with(folder)) || shown_in_etc(path);
    if let Some(target) = view.link(path)
        && visible(&real)
    {
        return Some(Entry::Symlink { path: path.to_owned(), target });
    }
    if let Some(contents) = small(view, &real) {
        return Some(Entry::File { path: path.to_owned(), contents });
    }
    // A service's socket or device under one of these names is nothing a cell needs.
    (view.is_dir(&real) || view.is_file(&real)).then(|| bind(view, &real, path))
}

/// The text of a file so small that writing it costs less than a mount; none that not everybody may read.
fn small(view: &View, real: &Path) -> Option<String> {
    let fits = view.is_public(real) && view.is_file(real) && view.size(real)? <= SMALL;
    fits.then(|| view.text(real)).flatten()
}

fn shown_in_etc(path: &Path) -> bool {
    path.strip_prefix("/etc").is_ok_and(|inside| {
        ETC.iter().any(|(pattern, _)| !pattern.contains('*') && inside.starts_with(pattern))
    })
}

fn matches(names: &[std::ffi::OsString], pattern: &str) -> Vec<PathBuf> {
    let etc = Path::new("/etc");
    match pattern.split_once('*') {
        None => {
            let first = pattern.split('/').next().unwrap_or(pattern);
            let there = names.binary_search_by(|name| name.as_os_str().cmp(OsStr::new(first))).is_ok();
            if there { vec![etc.join(pattern)] } else { Vec::new() }
        }
        Some((start, end)) => names
            .iter()
            .filter_map(|name| name.to_str())
            .filter(|name| name.len() >= start.len() + end.len())
            .filter(|name| name.starts_with(start) && name.ends_with(end))
            .map(|name| etc.join(name))
            .collect(),
    }
}

fn bind(view: &View, real: &Path, path: &Path) -> Entry {
    Entry::Bind {
        source: view.outside(real),
        path: path.to_owned(),
        write: false,
        map_owner: false,
        guarded: Vec::new(),
        masked: Vec::new(),
    }
}
