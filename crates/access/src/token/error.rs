//! Why a token is refused.

/// Why a token is refused. Nothing in it is a text of the token, so it can be told to whoever sent it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// Longer than [`super::MAX_LENGTH`].
    #[error("the token is longer than 16 KiB")]
    Length,
    /// Not three parts of base64url with JSON objects in the first two, or a key stands twice.
    #[error("the token is malformed: {0}")]
    Malformed(&'static str),
    /// Its algorithm is none that tokens of its issuer may have.
    #[error("the token is signed with an algorithm that is not allowed")]
    Algorithm,
    /// It wants an extension to be understood that is not (RFC 7515, section 4.1.11).
    #[error("the token has a critical header that is not understood")]
    Critical,
    /// It is no access token.
    #[error("the token is no access token")]
    Kind,
    /// It belongs to whoever has a certain key (RFC 7800), of which a bearer gives no proof.
    #[error("the token is bound to a key of its sender, which cannot be proven here")]
    Bound,
    /// No key of the issuer is the one it names, or fits its algorithm.
    #[error("the token is signed with a key that its issuer does not publish")]
    Key {
        /// The key it names, for [`TokenError::needs_key`]; a text of the token.
        kid: Option<String>,
    },
    /// The signature is not one over this token.
    #[error("the signature of the token is wrong")]
    Signature,
    /// Its issuer is none that is trusted here.
    #[error("the token comes from an issuer that is not trusted here")]
    Issuer,
    /// It is meant for somebody else.
    #[error("the token is meant for another audience")]
    Audience,
    /// Its time is over.
    #[error("the token has expired")]
    Expired,
    /// Its time has not come.
    #[error("the token is not valid yet")]
    Early,
    /// A claim that has to be there is missing, or has another type than it should.
    #[error("the claim `{0}` is missing or has the wrong type")]
    Claim(&'static str),
    /// It has no tenant where one is needed.
    #[error("the token names no tenant")]
    Tenant,
    /// The chain of those who act for the subject is malformed or too long.
    #[error("the chain of actors is malformed or too long")]
    Actors,
}

impl TokenError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Length => "FH-TOKEN-SIZE",
            Self::Malformed(_) | Self::Critical => "FH-TOKEN-MALFORMED",
            Self::Algorithm => "FH-TOKEN-ALGORITHM",
            Self::Kind | Self::Bound => "FH-TOKEN-KIND",
            Self::Key { .. } => "FH-TOKEN-KEY",
            Self::Signature => "FH-TOKEN-SIGNATURE",
            Self::Issuer => "FH-TOKEN-ISSUER",
            Self::Audience => "FH-TOKEN-AUDIENCE",
            Self::Expired => "FH-TOKEN-EXPIRED",
            Self::Early => "FH-TOKEN-EARLY",
            Self::Claim(_) | Self::Actors => "FH-TOKEN-CLAIM",
            Self::Tenant => "FH-TOKEN-TENANT",
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Expired => "get a new token",
            Self::Early => "wait, or set the clocks",
            Self::Issuer => "get a token from one of the authorization servers in the resource's metadata",
            Self::Audience => "ask for a token with this resource (RFC 8707)",
            Self::Kind => "send the access token, not the ID token",
            Self::Bound => "ask for a bearer token (without DPoP or a client certificate)",
            Self::Tenant => "ask for a token of one tenant",
            _ => "send an access token that the issuer signed (RFC 9068)",
        }
    }

    /// The key that was missing, if newer keys of the issuer may have it.
    pub fn needs_key(&self) -> Option<Option<&str>> {
        match self {
            Self::Key { kid } => Some(kid.as_deref()),
            _ => None,
        }
    }
}
