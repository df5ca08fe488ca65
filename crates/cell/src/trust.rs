//! What makes programs inside take the cell's own certificate authority for one of the usual ones: files at the places
//! they look at, and the variables of those that look elsewhere.
//!
//! It is there from the start of every cell: a later change of what it may reach can begin to look into connections, and a
//! running program reads its roots once.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use cell_api::{
    error::{ErrorBody, ErrorCode},
    network::NetworkSpec,
};
use egress::tls::{authority::Authority, roots::Roots};
use rustls_pki_types::{CertificateDer, pem::PemObject as _};
use sandbox::plan::MadeFile;

use crate::network;

mod keystore;
mod subject;

/// Every root of the host, the operator's, and the cell's own.
const BUNDLE: &str = "/etc/ssl/certs/ca-certificates.crt";
/// Where OpenSSL looks for single certificates.
const FOLDER: &str = "/etc/ssl/certs";
/// The cell's own authority, and the operator's roots.
const OWN: &str = "/etc/ssl/certs/fumehood.pem";
/// Where Debian's Java looks.
const KEYSTORE: &str = "/etc/ssl/certs/java/cacerts";

/// Other names of the bundle.
const BUNDLE_LINKS: [&str; 7] = [
    // OpenSSL's own default; Alpine, Arch.
    "/etc/ssl/cert.pem",
    // Go's list; openSUSE.
    "/etc/ssl/ca-bundle.pem",
    // Fedora.
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/pki/tls/certs/ca-bundle.trust.crt",
    "/etc/pki/tls/cert.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    // What p11-kit reads, and by it GnuTLS on Fedora.
    "/etc/pki/ca-trust/source/anchors/fumehood.crt",
];
/// Other names of the key store: Fedora.
const KEYSTORE_LINKS: [&str; 2] = ["/etc/pki/java/cacerts", "/etc/pki/ca-trust/extracted/java/cacerts"];

/// Folders of managed policies: Debian's and upstream's Chromium, Ubuntu's, Chrome, Chrome for Testing.
const BROWSERS: [&str; 4] =
    ["/etc/chromium", "/etc/chromium-browser", "/etc/opt/chrome", "/etc/opt/chrome_for_testing"];

/// Variables that name the bundle, each with who reads it.
const BUNDLE_VARIABLES: [(&str, &str); 16] = [
    ("SSL_CERT_FILE", "OpenSSL, Go, rustls-native-certs, httpx, aiohttp, Ruby"),
    ("REQUESTS_CA_BUNDLE", "Python's requests"),
    ("CURL_CA_BUNDLE", "curl"),
    ("GIT_SSL_CAINFO", "git"),
    ("PIP_CERT", "pip"),
    ("AWS_CA_BUNDLE", "the AWS SDKs"),
    ("CARGO_HTTP_CAINFO", "cargo"),
    ("npm_config_cafile", "npm"),
    ("YARN_HTTPS_CA_FILE_PATH", "yarn 2 and later"),
    ("BUNDLE_SSL_CA_CERT", "Ruby's bundler"),
    ("GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", "gRPC's C core"),
    ("PERL_LWP_SSL_CA_FILE", "Perl's LWP"),
    ("HTTPLIB2_CA_CERTS", "Python's httplib2"),
    ("CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE", "gcloud"),
    ("NIX_SSL_CERT_FILE", "programs built by Nix"),
    ("WEBSOCKET_CLIENT_CA_BUNDLE", "Python's websocket-client"),
];

/// Who vouches for whom, outside and inside.
#[derive(Debug)]
pub(crate) struct Trust {
    /// For hosts outside.
    pub(crate) roots: Arc<Roots>,
    /// Inside, for hosts that are looked into.
    pub(crate) authority: Arc<Authority>,
    extra: String,
    java: bool,
}

impl Trust {
    /// Reads the host's roots and the operator's, and makes the cell's own authority.
    pub(crate) fn new(network: &NetworkSpec) -> Result<Self, ErrorBody> {
        let upstreams = network::checked(network)?.upstreams;
        let roots = Roots::of(&upstreams)
            .map_err(|error| ErrorBody::new(ErrorCode::Spec, error.to_string()).hint(error.hint()))?;
        let authority = Authority::new().map_err(|error| {
            ErrorBody::new(
                ErrorCode::Internal,
                format!("making the cell's certificate authority failed: {error}"),
            )
        })?;
        let java = has_java(std::env::var_os("PATH").as_deref());
        let extra = certificates_of(&upstreams.extra_roots);
        Ok(Self { roots: Arc::new(roots), authority: Arc::new(authority), extra, java })
    }

    /// What programs inside find.
    pub(crate) fn files(&self) -> Vec<MadeFile> {
        let (roots, authority) = (self.roots.pem(), self.authority.certificate_pem());
        let certificates = Certificates {
            roots: &roots,
            extra: &self.extra,
            authority: &authority,
            authority_der: self.authority.certificate_der(),
        };
        files(&certificates, self.java)
    }

    /// What they are told.
    pub(crate) fn variables(&self) -> BTreeMap<String, String> {
        variables(self.java)
    }
}

/// The certificates in these files and nothing else of them: somebody's key may stand beside one.
fn certificates_of(paths: &[PathBuf]) -> String {
    let mut text = String::new();
    for path in paths {
        // Read a moment ago without a fault.
        let Ok(all) = CertificateDer::pem_file_iter(path) else { continue };
        for certificate in all.flatten() {
            text.push_str("-----BEGIN CERTIFICATE-----\n");
            let encoded = STANDARD.encode(&certificate);
            for line in encoded.as_bytes().chunks(64) {
                text.extend(line.iter().map(|byte| char::from(*byte)));
                text.push('\n');
            }
            text.push_str("-----END CERTIFICATE-----\n");
        }
    }
    text
}

/// The certificates to be trusted inside.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Certificates<'a> {
    /// The host's roots and the operator's (PEM).
    pub(crate) roots: &'a str,
    /// The operator's alone (PEM): for programs that bring their own roots.
    pub(crate) extra: &'a str,
    /// The cell's own authority (PEM).
    pub(crate) authority: &'a str,
    /// The same (DER).
    pub(crate) authority_der: &'a [u8],
}

/// Whether there is a Java on this host that a cell could see.
pub(crate) fn has_java(search: Option<&std::ffi::OsStr>) -> bool {
    let known = ["/usr/lib/jvm", "/etc/ssl/certs/java", "/etc/pki/java"];
    std::env::var_os("JAVA_HOME").is_some()
        || known.iter().any(|path| Path::new(path).exists())
        || search.is_some_and(|path| std::env::split_paths(path).any(|dir| dir.join("java").exists()))
}

/// The files. With `java` also a key store, which takes as long to make as all the rest.
pub(crate) fn files(of: &Certificates<'_>, java: bool) -> Vec<MadeFile> {
    let own = format!("{}{}", lined(of.authority), of.extra);
    let bundle = format!("{}{}", lined(of.roots), of.authority);
    let mut links = hashed(Path::new(FOLDER));
    if let Some(hash) = subject::hash(of.authority_der) {
        links.retain(|(name, _)| *name != format!("{hash}.0"));
        links.push((format!("{hash}.0"), PathBuf::from("fumehood.pem")));
    }
    let mut files = vec![
        MadeFile::Links { path: FOLDER.into(), links },
        bytes(BUNDLE, bundle.as_bytes()),
        bytes(OWN, own.as_bytes()),
    ];
    files.extend(BUNDLE_LINKS.iter().map(|path| link(path, BUNDLE)));
    let policy = policy(of.authority_der);
    files.extend(
        BROWSERS.iter().map(|folder| bytes(&format!("{folder}/policies/managed/fumehood.json"), &policy)),
    );
    if java {
        let certificates: Vec<CertificateDer<'_>> =
            CertificateDer::pem_slice_iter(bundle.as_bytes()).filter_map(Result::ok).collect();
        files.push(bytes(KEYSTORE, &keystore::of(&certificates)));
        files.extend(KEYSTORE_LINKS.iter().map(|path| link(path, KEYSTORE)));
    }
    files
}

/// The variables; whatever is declared for the cell comes over them.
pub(crate) fn variables(java: bool) -> BTreeMap<String, String> {
    let mut all: BTreeMap<String, String> =
        BUNDLE_VARIABLES.iter().map(|(name, _)| ((*name).to_owned(), BUNDLE.to_owned())).collect();
    // Both bring roots of their own, and take what is named here besides.
    for name in ["NODE_EXTRA_CA_CERTS", "DENO_CERT"] {
        all.insert(name.to_owned(), OWN.to_owned());
    }
    all.insert("DENO_TLS_CA_STORE".to_owned(), "mozilla,system".to_owned());
    // uv's present name of it, and its former one.
    all.insert("UV_SYSTEM_CERTS".to_owned(), "true".to_owned());
    all.insert("UV_NATIVE_TLS".to_owned(), "true".to_owned());
    if java {
        let store = format!("-Djavax.net.ssl.trustStore={KEYSTORE} -Djavax.net.ssl.trustStoreType=JKS");
        all.insert("JAVA_TOOL_OPTIONS".to_owned(), store);
    }
    all
}

/// Managed policy (chromeenterprise.google/policies): our authority, and nothing that passes by it.
fn policy(authority: &[u8]) -> Vec<u8> {
    let policy = serde_json::json!({
        "CACertificates": [STANDARD.encode(authority)],
        "EncryptedClientHelloEnabled": false,
        "QuicAllowed": false,
        "DnsOverHttpsMode": "off",
    });
    policy.to_string().into_bytes()
}

/// The links by which OpenSSL finds a root, `HASH.N`, each to the certificate's own file outside of the folder.
fn hashed(folder: &Path) -> Vec<(String, PathBuf)> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names
        .filter(|name| is_hashed(name))
        .filter_map(|name| Some((target(folder, &name)?, name)))
        .map(|(to, name)| (name, to))
        .collect()
}

fn is_hashed(name: &str) -> bool {
    name.split_once('.').is_some_and(|(hash, number)| {
        hash.len() == 8
            && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
            && !number.is_empty()
            && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// Follows links within the folder, at most two, to an absolute path that a cell sees.
fn target(folder: &Path, name: &str) -> Option<PathBuf> {
    let first = std::fs::read_link(folder.join(name)).ok()?;
    let to =
        if first.components().count() == 1 { std::fs::read_link(folder.join(&first)).ok()? } else { first };
    to.starts_with("/usr").then_some(to)
}

fn bytes(path: &str, contents: &[u8]) -> MadeFile {
    MadeFile::Bytes { path: path.into(), contents: contents.to_vec() }
}

fn link(path: &str, target: &str) -> MadeFile {
    MadeFile::Link { path: path.into(), target: target.into() }
}

/// With a line's end at its end: PEM blocks begin on a line of their own.
fn lined(pem: &str) -> String {
    let end = if pem.is_empty() || pem.ends_with('\n') { "" } else { "\n" };
    format!("{pem}{end}")
}

#[cfg(test)]
mod tests;
