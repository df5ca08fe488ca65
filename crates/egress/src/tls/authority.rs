//! The certificate authority of one cell: it vouches, inside that cell only, for the hosts whose TLS is looked into.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, ExtendedKeyUsagePurpose,
    IsCa, KeyPair, KeyUsagePurpose, SanType, SerialNumber,
};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs::{Ticketer, default_provider, sign::any_ecdsa_type};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::{CertifiedKey, SigningKey};
use zeroize::Zeroize;

use super::alpn::Alpn;

const DAY: Duration = Duration::from_hours(24);

/// How far certificates begin in the past: a cell's clock may be set, and some clients round.
const BACK: Duration = Duration::from_hours(7 * 24);

/// How long the authority is good for; no cell lives as long.
const AUTHORITY: Duration = Duration::from_hours(3650 * 24);

/// How long a host's certificate is good for: below the 398 days that clients take at most (CA/Browser Forum, Ballot
/// SC-22), the days before now included.
const LEAF: Duration = Duration::from_hours(90 * 24);

/// From when on before its end a certificate is made anew.
const RENEW: Duration = Duration::from_hours(30 * 24);

/// Certificates kept; the one that was asked for the longest ago goes first.
const LEAVES: usize = 512;

/// Longest common name (X.520, `ub-common-name`).
const MAX_COMMON_NAME: usize = 64;

/// A certificate authority that lives in memory as long as its cell, and whose keys are never written down.
pub struct Authority {
    inner: Arc<Inner>,
    configs: [Arc<ServerConfig>; 3],
}

/// Why there is no certificate authority, or no certificate.
#[derive(Debug, thiserror::Error)]
pub enum AuthorityError {
    /// A key could not be made or used.
    #[error("no certificate could be made: {0}")]
    Certificate(#[from] rcgen::Error),
    /// The TLS library does not take what was made.
    #[error("the TLS library refused its configuration: {0}")]
    Tls(#[from] rustls::Error),
    /// There is no randomness.
    #[error("the system has no random numbers: {0}")]
    Random(getrandom::Error),
}

struct Inner {
    issuer: CertifiedIssuer<'static, KeyPair>,
    /// One key for all hosts: they are all this process.
    key: KeyPair,
    signing: Arc<dyn SigningKey>,
    leaves: Mutex<HashMap<String, Leaf>>,
}

struct Leaf {
    certified: Arc<CertifiedKey>,
    renew: SystemTime,
    asked: SystemTime,
}

impl Authority {
    /// Makes an authority with fresh keys (ECDSA, P-256).
    ///
    /// # Errors
    /// If the system has no random numbers, or the libraries do not agree with each other.
    pub fn new() -> Result<Self, AuthorityError> {
        let now = SystemTime::now();
        let mut key = KeyPair::generate()?;
        let signing = any_ecdsa_type(&PrivateKeyDer::Pkcs8(key.serialized_der().into()))?;
        // From here on the private keys are in the memory of the library only, which wipes them.
        key.zeroize();
        let mut issuing = KeyPair::generate()?;
        issuing.zeroize();
        let issuer = CertifiedIssuer::self_signed(of_authority(now)?, issuing)?;
        let inner = Arc::new(Inner { issuer, key, signing, leaves: Mutex::default() });
        let base = Self::config(&inner)?;
        let configs = Alpn::ALL.map(|alpn| {
            let mut config = base.clone();
            config.alpn_protocols = alpn.protocols();
            Arc::new(config)
        });
        Ok(Self { inner, configs })
    }

    fn config(inner: &Arc<Inner>) -> Result<ServerConfig, AuthorityError> {
        let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(inner) as Arc<dyn ResolvesServerCert>);
        // Stateless, and rustls resumes a session only for the server name it was made for.
        config.ticketer = Ticketer::new()?;
        Ok(config)
    }

    /// The authority's certificate.
    pub fn certificate_der(&self) -> &[u8] {
        self.inner.issuer.der()
    }

    /// The authority's certificate as text (RFC 7468).
    pub fn certificate_pem(&self) -> String {
        pem(self.certificate_der())
    }

    /// How a server answers inside the cell that speaks `alpn`.
    pub(crate) fn server(&self, alpn: Alpn) -> Arc<ServerConfig> {
        let [none, one, two] = &self.configs;
        Arc::clone(match alpn {
            Alpn::None => none,
            Alpn::One => one,
            Alpn::Two => two,
        })
    }

    /// Certificates kept now.
    #[cfg(test)]
    fn leaves(&self) -> usize {
        self.inner.leaves.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authority").finish_non_exhaustive()
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inner").finish_non_exhaustive()
    }
}

impl ResolvesServerCert for Inner {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.leaf(hello.server_name()?, SystemTime::now()).ok()
    }
}

impl Inner {
    /// The certificate of a host, kept or fresh.
    fn leaf(&self, name: &str, now: SystemTime) -> Result<Arc<CertifiedKey>, AuthorityError> {
        let name = name.to_ascii_lowercase();
        let mut leaves = self.leaves.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(leaf) = leaves.get_mut(&name).filter(|leaf| leaf.renew > now) {
            leaf.asked = now;
            return Ok(Arc::clone(&leaf.certified));
        }
        let certified = Arc::new(self.issue(&name, now)?);
        if leaves.len() >= LEAVES
            && let Some(oldest) =
                leaves.iter().min_by_key(|(_, leaf)| leaf.asked).map(|(name, _)| name.clone())
        {
            leaves.remove(&oldest);
        }
        let leaf = Leaf { certified: Arc::clone(&certified), renew: now + LEAF - RENEW, asked: now };
        leaves.insert(name, leaf);
        Ok(certified)
    }

    fn issue(&self, name: &str, now: SystemTime) -> Result<CertifiedKey, AuthorityError> {
        let mut params = CertificateParams::default();
        dates(&mut params, now, LEAF);
        params.serial_number = Some(serial()?);
        params.subject_alt_names = vec![SanType::DnsName(name.try_into()?)];
        params.distinguished_name = named(if name.len() <= MAX_COMMON_NAME { name } else { "Fumehood" });
        params.is_ca = IsCa::ExplicitNoCa;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        let certificate = params.signed_by(&self.key, &self.issuer)?;
        Ok(CertifiedKey::new(vec![certificate.der().clone()], Arc::clone(&self.signing)))
    }
}

fn of_authority(now: SystemTime) -> Result<CertificateParams, AuthorityError> {
    let mut params = CertificateParams::default();
    dates(&mut params, now, AUTHORITY);
    params.serial_number = Some(serial()?);
    params.distinguished_name = named("Fumehood cell authority");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    Ok(params)
}

fn named(name: &str) -> DistinguishedName {
    let mut names = DistinguishedName::new();
    names.push(DnType::CommonName, name);
    names
}

/// From some days ago until `length` from now, in whole days.
fn dates(params: &mut CertificateParams, now: SystemTime, length: Duration) {
    let day = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() / DAY.as_secs() * DAY.as_secs();
    let begin = rcgen::date_time_ymd(1970, 1, 1);
    let day = Duration::from_secs(day);
    params.not_before = begin + day.saturating_sub(BACK);
    params.not_after = begin + day + length;
}

/// 16 random bytes, positive (RFC 5280 §4.1.2.2): one key signs many certificates, and a name twice.
fn serial() -> Result<SerialNumber, AuthorityError> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(AuthorityError::Random)?;
    bytes[0] = bytes[0] & 0x3f | 0x40;
    Ok(SerialNumber::from_slice(&bytes))
}

/// A certificate as text (RFC 7468).
pub(super) fn pem(der: &[u8]) -> String {
    let mut text = String::from("-----BEGIN CERTIFICATE-----\n");
    for line in der.chunks(48) {
        base64::engine::general_purpose::STANDARD.encode_string(line, &mut text);
        text.push('\n');
    }
    text.push_str("-----END CERTIFICATE-----\n");
    text
}

/// The certificates in `text`.
pub(super) fn certificates(
    text: &[u8],
) -> Result<Vec<CertificateDer<'static>>, rustls::pki_types::pem::Error> {
    use rustls::pki_types::pem::PemObject;
    CertificateDer::pem_slice_iter(text).collect()
}

#[cfg(test)]
mod tests;
