//! Whose tokens count, and what is read from them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use super::claim_path::ClaimPath;
use super::complaint::{Complaint, nearest, quoted};
use super::duration;
use super::limits::kept;
use super::mounts::{self, Asker, Place};
use super::problem::Source;
use super::role::{self, RoleName};
use super::url;
use super::written::{self, At};

/// An issuer of tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentityProvider {
    issuer: String,
    audience: Vec<String>,
    keys: KeySource,
    algorithms: BTreeSet<Algorithm>,
    claims: ClaimPaths,
    require_tenant: bool,
    roles: Option<BTreeMap<String, BTreeSet<RoleName>>>,
    leeway: Duration,
    token_types: Option<BTreeSet<String>>,
    extra_root: Option<PathBuf>,
}

/// Where the keys of an issuer are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum KeySource {
    /// Where the issuer's metadata says (RFC 8414, OpenID Connect Discovery 1.0).
    #[default]
    Discovery,
    /// At this URL (RFC 7517).
    Url(String),
    /// In this file (RFC 7517).
    File(PathBuf),
}

/// Which claims say what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimPaths {
    /// Who it is; `sub` where nothing is said.
    pub subject: ClaimPath,
    /// To which tenant he belongs.
    pub tenant: Option<ClaimPath>,
    /// His roles, a text or a list of texts; `roles` where nothing is said.
    pub roles: ClaimPath,
    /// What the token is for, words with blanks between them; `scope` where nothing is said (RFC 9068).
    pub scope: ClaimPath,
}

/// A signature of a token (RFC 7518 §3.1, RFC 8037). Those with a secret that both sides know are not among them: whoever
/// can check such a token can make one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Algorithm {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    Rs256,
    /// RSASSA-PKCS1-v1_5 with SHA-384.
    Rs384,
    /// RSASSA-PKCS1-v1_5 with SHA-512.
    Rs512,
    /// RSASSA-PSS with SHA-256.
    Ps256,
    /// RSASSA-PSS with SHA-384.
    Ps384,
    /// RSASSA-PSS with SHA-512.
    Ps512,
    /// ECDSA on P-256 with SHA-256.
    Es256,
    /// ECDSA on P-384 with SHA-384.
    Es384,
    /// Ed25519.
    EdDsa,
}

impl IdentityProvider {
    /// What `iss` says, byte for byte.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// What `aud` must say, one of them; never empty.
    pub fn audience(&self) -> &[String] {
        &self.audience
    }

    /// Where its keys are.
    pub fn keys(&self) -> &KeySource {
        &self.keys
    }

    /// Which signatures count; never empty.
    pub fn algorithms(&self) -> &BTreeSet<Algorithm> {
        &self.algorithms
    }

    /// Which claims say what.
    pub fn claims(&self) -> &ClaimPaths {
        &self.claims
    }

    /// Whether a token without a tenant is refused.
    pub fn require_tenant(&self) -> bool {
        self.require_tenant
    }

    /// Roles by value of the roles claim, where there is such a table; else each value is a role.
    pub fn roles(&self) -> Option<&BTreeMap<String, BTreeSet<RoleName>>> {
        self.roles.as_ref()
    }

    /// By how much clocks may differ.
    pub fn leeway(&self) -> Duration {
        self.leeway
    }

    /// Whether a token may say this of its type (`typ`, RFC 7515 §4.1.9; RFC 9068 §2.1). Where the file says nothing:
    /// `at+jwt`, `JWT` or nothing.
    pub fn takes_type(&self, typ: Option<&str>) -> bool {
        match (&self.token_types, typ.map(media_type)) {
            (None, None) => true,
            (None, Some(typ)) => matches!(typ.as_str(), "at+jwt" | "jwt"),
            (Some(_), None) => false,
            (Some(types), Some(typ)) => types.contains(&typ),
        }
    }

    /// A file with the certificate authority of the issuer (PEM).
    pub fn extra_root(&self) -> Option<&PathBuf> {
        self.extra_root.as_ref()
    }
}

impl Algorithm {
    /// Every one.
    pub const ALL: [Self; 9] = [
        Self::Rs256,
        Self::Rs384,
        Self::Rs512,
        Self::Ps256,
        Self::Ps384,
        Self::Ps512,
        Self::Es256,
        Self::Es384,
        Self::EdDsa,
    ];
    /// Those that count where nothing is said.
    pub const USUAL: [Self; 4] = [Self::Rs256, Self::Ps256, Self::Es256, Self::EdDsa];

    /// Its name, as `alg` has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Rs384 => "RS384",
            Self::Rs512 => "RS512",
            Self::Ps256 => "PS256",
            Self::Ps384 => "PS384",
            Self::Ps512 => "PS512",
            Self::Es256 => "ES256",
            Self::Es384 => "ES384",
            Self::EdDsa => "EdDSA",
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// By how much clocks may differ: what can be asked for.
const LEEWAY: RangeInclusive<Duration> = Duration::ZERO..=Duration::from_mins(5);

/// `[identity]`. `base` is the URL of the service itself.
pub(super) fn identities(
    written: &BTreeMap<At<String>, written::Identity>,
    roles: &BTreeMap<At<String>, written::Role>,
    base: Option<&str>,
    place: &Place<'_>,
    source: &mut Source<'_>,
) -> BTreeMap<String, IdentityProvider> {
    let mut identities: BTreeMap<String, IdentityProvider> = BTreeMap::new();
    for (name, identity) in written {
        let Some(provider) = provider(name, identity, roles, base, place, source) else { continue };
        let sound = kept(source, name, |text| super::local::check_name("an identity provider", text));
        let twin = identities.iter().find(|(_, other)| other.issuer == provider.issuer);
        if let (Some((twin, _)), Some(at)) = (twin, &identity.issuer) {
            let complaint =
                Complaint::new(format!("`{}` is the issuer of `{twin}` as well", provider.issuer));
            source.add(at.span(), &complaint.help("keep one of the two: a token has one issuer"));
        }
        if sound.is_some() {
            identities.insert(name.get().clone(), provider);
        }
    }
    identities
}

fn provider(
    name: &At<String>,
    written: &written::Identity,
    roles: &BTreeMap<At<String>, written::Role>,
    base: Option<&str>,
    place: &Place<'_>,
    source: &mut Source<'_>,
) -> Option<IdentityProvider> {
    let claims = claims(&written.claims.clone().unwrap_or_default(), source);
    let audience = audience(name, written, base, source);
    let keys = written.keys.as_ref().and_then(|at| kept(source, at, |text| key_source(text, place)));
    let algorithms = written.algorithms.as_ref().map(|at| algorithms(at, source));
    let leeway = written.leeway.as_ref();
    let leeway = leeway.and_then(|at| kept(source, at, |text| duration::within("leeway", text, &LEEWAY)));
    let token_types = written.token_types.as_ref().map(|at| token_types(at, source));
    let extra_root = written.extra_root.as_ref();
    let extra_root =
        extra_root.and_then(|at| kept(source, at, |text| mounts::absolute(text, Asker::Operator, place)));
    let mapped = written.roles.as_ref().map(|table| {
        table.iter().map(|(value, held)| (value.get().clone(), role::held(held, roles, source))).collect()
    });
    let require_tenant = written.require_tenant.as_ref().map(|at| *at.get());
    if let (Some(at), Some(true), None) = (&written.require_tenant, require_tenant, &claims.tenant)
        && !source.is_left_out(&["identity", name.get(), "claims", "tenant"])
    {
        let complaint = Complaint::new("no claim says the tenant");
        source
            .add(at.span(), &complaint.help("add the claim that has it, such as `claims.tenant = \"tid\"`"));
    }
    let Some(at) = &written.issuer else {
        if !source.is_left_out(&["identity", name.get(), "issuer"]) {
            let complaint = Complaint::new(format!("the identity provider `{}` has no `issuer`", name.get()));
            let help = "write `issuer = \"https://idp.example.com\"`, as its tokens say it in `iss`";
            source.add(name.span(), &complaint.help(help));
        }
        return None;
    };
    let issuer = kept(source, at, |text| issuer(text))?;
    Some(IdentityProvider {
        issuer,
        audience,
        keys: keys.unwrap_or_default(),
        algorithms: algorithms.unwrap_or_else(|| Algorithm::USUAL.into()),
        require_tenant: require_tenant.unwrap_or(claims.tenant.is_some()),
        claims,
        roles: mapped,
        leeway: leeway.unwrap_or_default(),
        token_types,
        extra_root,
    })
}

/// RFC 8414 §2: a URL without query and fragment.
fn issuer(text: &str) -> Result<String, Complaint> {
    let url = url::secure(text)?;
    if url.text().contains('?') {
        return Err(Complaint::new(format!("`{text}` is not an issuer")).help("an issuer's URL has no query"));
    }
    Ok(url.text().to_owned())
}

fn audience(
    name: &At<String>,
    written: &written::Identity,
    base: Option<&str>,
    source: &mut Source<'_>,
) -> Vec<String> {
    const HELP: &str = "write what `aud` of a token for this service says, most often its URL";
    match (&written.audience, base) {
        (Some(at), _) => {
            if at.get().is_empty() {
                let complaint = Complaint::new("tokens for nobody would count");
                source.add(at.span(), &complaint.help(HELP));
            }
            let checked = at.get().iter().filter_map(|one| {
                kept(source, one, |text| {
                    if text.trim().is_empty() {
                        return Err(Complaint::new("this is no audience").help(HELP));
                    }
                    Ok(text.clone())
                })
            });
            checked.collect()
        }
        (None, Some(base)) => vec![base.to_owned()],
        (None, None) => {
            let is_wrong = source.is_left_out(&["identity", name.get(), "audience"])
                || source.is_left_out(&["serve", "url"]);
            if !is_wrong {
                let complaint =
                    Complaint::new(format!("tokens of `{}` would count whomever they are for", name.get()));
                source
                    .add(name.span(), &complaint.help("add `audience = [\"…\"]`, or the `url` of `[serve]`"));
            }
            Vec::new()
        }
    }
}

fn key_source(text: &str, place: &Place<'_>) -> Result<KeySource, Complaint> {
    if text == "discovery" {
        return Ok(KeySource::Discovery);
    }
    if text.contains("://") {
        return url::secure(text).map(|url| KeySource::Url(url.text().to_owned()));
    }
    if text.starts_with(['/', '~']) {
        return mounts::absolute(text, Asker::Operator, place).map(KeySource::File);
    }
    Err(Complaint::new(format!("`{text}` is not where keys are"))
        .help("write `discovery`, `https://HOST/jwks.json`, or the path of a file"))
}

fn algorithms(written: &At<Vec<At<String>>>, source: &mut Source<'_>) -> BTreeSet<Algorithm> {
    if written.get().is_empty() {
        let complaint = Complaint::new("no signature would count");
        source.add(written.span(), &complaint.help("name one, or remove the key"));
    }
    written.get().iter().filter_map(|at| kept(source, at, |text| algorithm(text))).collect()
}

fn algorithm(text: &str) -> Result<Algorithm, Complaint> {
    let names = || Algorithm::ALL.into_iter().map(Algorithm::as_str);
    if let Some(known) = Algorithm::ALL.into_iter().find(|known| known.as_str() == text) {
        return Ok(known);
    }
    if text.eq_ignore_ascii_case("none") {
        return Err(
            Complaint::new("`none` is no signature").help("anybody could write such a token: remove it")
        );
    }
    if text.to_ascii_uppercase().starts_with("HS") {
        return Err(Complaint::new(format!("`{text}` is not taken")).help(
            "whoever can check such a token can make one: let the issuer sign with RS256, ES256 or EdDSA",
        ));
    }
    let complaint = Complaint::new(format!("`{text}` is not a signature that is known"));
    // Names of algorithms are a letter apart from one another: a guess at one would be a guess at which counts.
    Err(match nearest(text, ["eddsa"]) {
        Some(_) => complaint.help("write `EdDSA`"),
        None => complaint.help(format!("known are {}", quoted(names()))),
    })
}

fn claims(written: &written::Claims, source: &mut Source<'_>) -> ClaimPaths {
    let mut path =
        |at: &Option<At<String>>| at.as_ref().and_then(|at| kept(source, at, |text| ClaimPath::parse(text)));
    ClaimPaths {
        subject: path(&written.subject).unwrap_or_else(|| ClaimPath::one("sub")),
        tenant: path(&written.tenant),
        roles: path(&written.roles).unwrap_or_else(|| ClaimPath::one("roles")),
        scope: path(&written.scope).unwrap_or_else(|| ClaimPath::one("scope")),
    }
}

fn token_types(written: &At<Vec<At<String>>>, source: &mut Source<'_>) -> BTreeSet<String> {
    if written.get().is_empty() {
        let complaint = Complaint::new("no token would count");
        source.add(written.span(), &complaint.help("name a type such as `at+jwt`, or remove the key"));
    }
    let checked = written.get().iter().filter_map(|at| {
        kept(source, at, |text| {
            let is_type = |byte: u8| byte.is_ascii_alphanumeric() || b"+-./".contains(&byte);
            if text.is_empty() || !text.bytes().all(is_type) {
                return Err(Complaint::new(format!("`{text}` is not a type of a token"))
                    .help("write `at+jwt`, or what the issuer's tokens have as `typ`"));
            }
            Ok(media_type(text))
        })
    });
    checked.collect()
}

/// `application/` may be left out, and case does not matter (RFC 7515 §4.1.9).
fn media_type(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    lower.strip_prefix("application/").map(str::to_owned).unwrap_or(lower)
}
