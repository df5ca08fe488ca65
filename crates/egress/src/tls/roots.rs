//! The certificate authorities of this machine, read once: hosts whose TLS is looked into must be vouched for by one.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;

use super::authority::{certificates, pem};
use crate::name::HostName;
use crate::upstream::Upstreams;

/// Where Linux distributions keep all authorities in one file: Debian and Arch, Fedora, openSUSE, RHEL, Alpine.
const BUNDLES: [&str; 5] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// Largest file of certificates read, in bytes. A distribution's has about 220 KiB.
const MAX_FILE: u64 = 8 * 1024 * 1024;

/// Who may vouch for hosts.
#[derive(Clone, Default)]
pub struct Roots {
    public: Public,
    /// The authorities of hosts that have their own; nobody else may vouch for these.
    own: HashMap<HostName, Vec<CertificateDer<'static>>>,
}

/// Those who may vouch for everybody.
#[derive(Clone)]
enum Public {
    Here(Vec<CertificateDer<'static>>),
    /// In this file, which is read when the first of them is needed: most cells never need one.
    Kept(Arc<File>),
}

impl Default for Public {
    fn default() -> Self {
        Self::Here(Vec::new())
    }
}

/// Why the authorities cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RootsError {
    /// A file that the operator named cannot be read.
    #[error("the certificates in `{}` cannot be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A file that the operator named holds no certificate, or something broken.
    #[error("`{}` holds no certificate that can be used: {why}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
}

impl RootsError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        "name a file with certificates in PEM form, readable for the user who runs Fumehood"
    }
}

impl Roots {
    /// Nobody: no host is believed.
    pub fn none() -> Self {
        Self::default()
    }

    /// The authorities of this machine and those in the files `extra` (PEM). A machine without any is taken as it is:
    /// hosts are refused then, with a word that says so.
    ///
    /// # Errors
    /// If a file of `extra` cannot be read or holds no certificate.
    pub fn system(extra: &[PathBuf]) -> Result<Self, RootsError> {
        let bundle = Self::bundles().find_map(|path| read(path).ok());
        let mut public = bundle.map(|text| readable(&text)).unwrap_or_default();
        for path in extra {
            public.extend(named(path)?);
        }
        let mut seen = HashSet::new();
        public.retain(|certificate| seen.insert(certificate.to_vec()));
        Ok(Self { public: Public::Here(public), own: HashMap::new() })
    }

    /// Where a machine may keep its authorities; the first of these files that can be read counts.
    pub fn bundles() -> impl Iterator<Item = &'static Path> {
        BUNDLES.iter().map(Path::new)
    }

    /// What [`Roots::pem`] gave once, in a file that is open already and read when the first host asks, and the
    /// authorities of names that have their own.
    ///
    /// # Errors
    /// If the file of one of those names cannot be read or holds no certificate.
    pub fn kept(pem: File, upstreams: &Upstreams) -> Result<Self, RootsError> {
        let mut roots = Self { public: Public::Kept(Arc::new(pem)), own: HashMap::new() };
        roots.add_own(upstreams)?;
        Ok(roots)
    }

    /// The same with the operator's files: `extra_roots`, and the authority of each name that is bound to an address and
    /// has its own.
    ///
    /// # Errors
    /// If one of the files cannot be read or holds no certificate.
    pub fn of(upstreams: &Upstreams) -> Result<Self, RootsError> {
        let mut roots = Self::system(&upstreams.extra_roots)?;
        roots.add_own(upstreams)?;
        Ok(roots)
    }

    /// Reads the authorities of names that have their own and were not read yet.
    pub(crate) fn add_own(&mut self, upstreams: &Upstreams) -> Result<(), RootsError> {
        for name in upstreams.names() {
            if let Some(path) = upstreams.pinned(name).and_then(|pinned| pinned.ca())
                && !self.own.contains_key(name)
            {
                self.own.insert(name.clone(), named(path)?);
            }
        }
        Ok(())
    }

    /// Whether nobody at all is believed.
    pub fn is_empty(&self) -> bool {
        match &self.public {
            Public::Here(public) => public.is_empty(),
            Public::Kept(file) => file.metadata().is_ok_and(|facts| facts.len() == 0),
        }
    }

    /// The authorities of this machine and the operator's extra ones as text (RFC 7468), for programs that take one file.
    pub fn pem(&self) -> String {
        self.public().iter().map(|der| pem(der)).collect()
    }

    /// The authorities of this machine and the operator's extra ones (DER).
    pub fn public(&self) -> Cow<'_, [CertificateDer<'static>]> {
        match &self.public {
            Public::Here(public) => Cow::Borrowed(public),
            Public::Kept(file) => Cow::Owned(readable(&whole(file).unwrap_or_default())),
        }
    }

    /// For a verifier of all hosts but those with their own.
    pub(super) fn store(&self) -> RootCertStore {
        store(&self.public())
    }

    /// For a verifier of each host with its own.
    pub(super) fn stores(&self) -> impl Iterator<Item = (&HostName, RootCertStore)> {
        self.own.iter().map(|(name, certificates)| (name, store(certificates)))
    }
}

impl fmt::Debug for Roots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own: Vec<&HostName> = self.own.keys().collect();
        let public = match &self.public {
            Public::Here(public) => Some(public.len()),
            Public::Kept(_) => None,
        };
        f.debug_struct("Roots").field("public", &public).field("own", &own).finish()
    }
}

fn store(certificates: &[CertificateDer<'static>]) -> RootCertStore {
    let mut store = RootCertStore::empty();
    // Distributions carry authorities that this library cannot use; the others still can.
    store.add_parsable_certificates(certificates.iter().cloned());
    store
}

/// All of an open file, wherever somebody has read to.
fn whole(file: &File) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(file.metadata()?.len().min(MAX_FILE)).unwrap_or_default()];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(bytes)
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    use std::io::Read;
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_FILE).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What of a distribution's file can be read: one broken entry does not make the others wrong.
fn readable(text: &[u8]) -> Vec<CertificateDer<'static>> {
    use rustls::pki_types::pem::PemObject;
    CertificateDer::pem_slice_iter(text).filter_map(Result::ok).collect()
}

/// All of a file that somebody named.
fn named(path: &Path) -> Result<Vec<CertificateDer<'static>>, RootsError> {
    let text = read(path).map_err(|source| RootsError::Read { path: path.to_owned(), source })?;
    let content = |why: String| RootsError::Content { path: path.to_owned(), why };
    let found = certificates(&text).map_err(|error| content(error.to_string()))?;
    if store(&found).is_empty() {
        return Err(content("there is none in it".to_owned()));
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
