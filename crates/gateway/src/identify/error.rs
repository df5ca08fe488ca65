//! Why a request has no caller.

use access::token::TokenError;
use http::StatusCode;

use crate::jwks::KeysError;
use crate::resource_metadata::Challenge;

/// Why a request has no caller. No text of the request is in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    /// It shows nothing, and what it came over says nothing either.
    #[error("nothing says who asks")]
    None,
    /// A token in the query.
    #[error("a token stands in the query")]
    Query,
    /// Two headers, of which each reader takes another.
    #[error("there is more than one `Authorization` header")]
    Headers,
    /// Something else than a bearer token.
    #[error("`Authorization` has another scheme than Bearer")]
    Scheme,
    /// Neither a token nor a key of the operator's file.
    #[error("the key is not one of this gateway")]
    Key,
    /// A key for one server, at another address.
    #[error("the key is for one server only, at an address of its own")]
    KeyElsewhere,
    /// A token that does not count.
    #[error("{0}")]
    Token(TokenError),
    /// The issuer's keys cannot be had.
    #[error("the keys of the token's issuer cannot be had at the moment")]
    Keys(KeysError),
    /// A user of this machine whom the operator's file does not name.
    #[error("this user of the machine is not known here")]
    Peer,
    /// A cell.
    #[error("a cell may not ask here")]
    Cell,
}

impl IdentityError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::None => "FH-IDENTITY-NONE",
            Self::Query => "FH-IDENTITY-QUERY",
            Self::Headers | Self::Scheme => "FH-IDENTITY-HEADER",
            Self::Key => "FH-KEY-UNKNOWN",
            Self::KeyElsewhere => "FH-KEY-SERVER",
            Self::Token(error) => error.code(),
            Self::Keys(error) => error.code(),
            Self::Peer => "FH-PEER-UNKNOWN",
            Self::Cell => "FH-PEER-CELL",
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::None => {
                "send `Authorization: Bearer …`, or connect over the Unix socket as a user who is named in `[peers]`"
            }
            Self::Query => "send the token in the header `Authorization`",
            Self::Headers | Self::Scheme => "send one header `Authorization: Bearer …`",
            Self::Key => "`fumehood serve --new-key NAME` makes one, and prints it once",
            Self::KeyElsewhere => "use it at `/servers/NAME/mcp` of its own server",
            Self::Token(error) => error.hint(),
            Self::Keys(_) => "try again in a moment; `/readyz` names the issuer",
            Self::Peer => "add the user to `[peers]` in the operator's file",
            Self::Cell => "what runs in a cell is asked, and asks nothing",
        }
    }

    /// The status of the answer (RFC 6750, section 3.1; 503 where the fault is not the sender's).
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Query | Self::Headers => StatusCode::BAD_REQUEST,
            Self::Keys(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Cell => StatusCode::FORBIDDEN,
            _ => StatusCode::UNAUTHORIZED,
        }
    }

    /// The word for the challenge.
    pub fn challenge(&self) -> Challenge {
        match self {
            Self::None | Self::Scheme | Self::Peer | Self::Cell | Self::Keys(_) => Challenge::None,
            Self::Query | Self::Headers => Challenge::InvalidRequest,
            Self::Key | Self::KeyElsewhere | Self::Token(_) => Challenge::InvalidToken,
        }
    }
}

impl From<TokenError> for IdentityError {
    fn from(error: TokenError) -> Self {
        Self::Token(error)
    }
}
