//! What makes programs inside take the cell's own certificate authority for one of the usual ones: files at the places
//! they look at, and the variables of those that look elsewhere.
//!
//! It is there from the start of every cell: a later change of what it may reach can begin to look into connections, and a
//! running program reads its roots once.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    path::{Path, PathBuf},
    sync::Arc,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use cell_api::{
    error::{ErrorBody, ErrorCode},
    spec::CellSpec,
};
use egress::tls::{authority::Authority, roots::Roots};
use rustls_pki_types::{CertificateDer, pem::PemObject as _};
use sandbox::plan::MadeFile;

use self::standing::{Standing, StandingError};
use crate::{folders::Folders, network};

mod keystore;
mod node;
mod standing;
mod subject;

/// Every root of the host, the operator's, and the cell's own.
const ROOTS: &str = "/etc/ssl/fumehood/roots.pem";
/// The cell's own authority, and the operator's roots.
const AUTHORITY: &str = "/etc/ssl/fumehood/authority.pem";
/// All of them for Java.
const KEYSTORE: &str = "/etc/ssl/fumehood/cacerts";

/// Where OpenSSL looks for single certificates; Debian's Java has its key store below it. The folder is the same for all
/// cells: the names in it lead to the files above.
const FOLDER: &str = "/etc/ssl/certs";
/// The bundle's usual name in it.
const BUNDLE_NAME: &str = "ca-certificates.crt";
const BUNDLE: &str = "/etc/ssl/certs/ca-certificates.crt";
/// The authority's name in it.
const OWN_NAME: &str = "fumehood.pem";
const OWN: &str = "/etc/ssl/certs/fumehood.pem";

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
    standing: Standing,
    extra: String,
    java: bool,
}

impl Trust {
    /// Makes the cell's own authority, and finds or makes what it shares with other cells.
    pub(crate) fn new(folders: &Folders, spec: &CellSpec) -> Result<Self, ErrorBody> {
        let upstreams = network::checked(&spec.network)?.upstreams;
        let authority = Authority::new()
            .map_err(|error| internal(format!("making the cell's certificate authority failed: {error}")))?;
        let hash = subject::hash(authority.certificate_der());
        let java = has_java(std::env::var_os("PATH").as_deref());
        let wrong = |error: &dyn std::error::Error, hint| {
            ErrorBody::new(ErrorCode::Spec, error.to_string()).hint(hint)
        };
        let standing = Standing::of(&folders.trust(), &upstreams.extra_roots, hash.as_deref(), java);
        let standing = standing.map_err(|error| match error {
            StandingError::Roots(error) => wrong(&error, error.hint()),
            other => internal(other.to_string()),
        })?;
        let kept = File::open(standing.roots())
            .map_err(|error| internal(format!("opening `{}` failed: {error}", standing.roots().display())))?;
        // Read long after this process may open nothing more.
        let roots = Roots::kept(kept, &upstreams).map_err(|error| wrong(&error, error.hint()))?;
        let extra = certificates_of(&upstreams.extra_roots);
        Ok(Self { roots: Arc::new(roots), authority: Arc::new(authority), standing, extra, java })
    }

    /// What programs inside find.
    pub(crate) fn files(&self) -> Result<Vec<MadeFile>, ErrorBody> {
        let store = if self.java {
            let begun = fs::read(self.standing.keystore());
            let begun = begun.map_err(|error| internal(format!("reading the key store failed: {error}")))?;
            Some(keystore::finish(&begun, self.authority.certificate_der()))
        } else {
            None
        };
        Ok(files(&self.standing, &self.authority, &self.extra, store))
    }

    /// What they are told.
    pub(crate) fn variables(&self, spec: &CellSpec) -> BTreeMap<String, String> {
        let mut all = variables(self.java);
        let (name, value) = node::variable(&spec.command, &spec.env, OWN, !self.roots.is_empty());
        all.insert(name.to_owned(), value);
        all
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

/// Whether there is a Java on this host that a cell could see.
fn has_java(search: Option<&std::ffi::OsStr>) -> bool {
    let known = ["/usr/lib/jvm", "/etc/ssl/certs/java", "/etc/pki/java"];
    std::env::var_os("JAVA_HOME").is_some()
        || known.iter().any(|path| Path::new(path).exists())
        || search.is_some_and(|path| std::env::split_paths(path).any(|dir| dir.join("java").exists()))
}

fn files(standing: &Standing, authority: &Authority, extra: &str, store: Option<Vec<u8>>) -> Vec<MadeFile> {
    let own = authority.certificate_pem();
    let mut files = vec![
        MadeFile::Links { path: FOLDER.into(), list: standing.links() },
        after(ROOTS, standing.roots(), own.clone().into_bytes()),
        bytes(AUTHORITY, format!("{own}{extra}").into_bytes()),
    ];
    files.extend(BUNDLE_LINKS.iter().map(|path| link(path, ROOTS)));
    let policy = policy(authority.certificate_der());
    files.extend(
        BROWSERS
            .iter()
            .map(|folder| bytes(&format!("{folder}/policies/managed/fumehood.json"), policy.clone())),
    );
    if let Some(end) = store {
        files.push(after(KEYSTORE, standing.keystore(), end));
        files.push(link(&format!("{FOLDER}/java/cacerts"), KEYSTORE));
        files.extend(KEYSTORE_LINKS.iter().map(|path| link(path, KEYSTORE)));
    }
    files
}

/// The variables; whatever is declared for the cell comes over them.
fn variables(java: bool) -> BTreeMap<String, String> {
    let mut all: BTreeMap<String, String> =
        BUNDLE_VARIABLES.iter().map(|(name, _)| ((*name).to_owned(), BUNDLE.to_owned())).collect();
    // It brings roots of its own, and takes what is named here besides.
    all.insert("DENO_CERT".to_owned(), OWN.to_owned());
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

fn bytes(path: &str, contents: Vec<u8>) -> MadeFile {
    MadeFile::Bytes { path: path.into(), after: None, contents }
}

fn after(path: &str, first: PathBuf, contents: Vec<u8>) -> MadeFile {
    MadeFile::Bytes { path: path.into(), after: Some(first), contents }
}

fn link(path: &str, target: &str) -> MadeFile {
    MadeFile::Link { path: path.into(), target: target.into() }
}

fn internal(message: String) -> ErrorBody {
    ErrorBody::new(ErrorCode::Internal, message)
}

#[cfg(test)]
mod tests;
