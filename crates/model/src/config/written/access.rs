//! `[identity]`, `[keys]`, `[peers]` and `[roles]`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::At;

/// An issuer whose tokens count.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Identity {
    /// What its tokens have as `iss`: an `https` URL, or an `http` one of this machine.
    #[schemars(required, regex(pattern = "^https?://."))]
    pub(crate) issuer: Option<At<String>>,
    /// What its tokens for this service have as `aud`, one of them; the `url` of `[serve]` where nothing is said.
    #[schemars(length(min = 1), inner(length(min = 1)))]
    pub(crate) audience: Option<At<Vec<At<String>>>>,
    /// Where its keys are: `discovery` where nothing is said, the URL of a JWK set, or the path of a file with one.
    #[schemars(regex(pattern = "^(discovery$|https?://.|/|~/)"))]
    pub(crate) keys: Option<At<String>>,
    /// Which signatures count; `RS256`, `PS256`, `ES256` and `EdDSA` where nothing is said.
    #[schemars(
        length(min = 1),
        inner(regex(pattern = "^(RS256|RS384|RS512|PS256|PS384|PS512|ES256|ES384|EdDSA)$"))
    )]
    pub(crate) algorithms: Option<At<Vec<At<String>>>>,
    /// Which claims say what: names with dots between them; a name that has dots itself stands in double quotes.
    pub(crate) claims: Option<Claims>,
    /// Whether a token without a tenant is refused; it is where `claims.tenant` is written and nothing else is said.
    pub(crate) require_tenant: Option<At<bool>>,
    /// Roles by value of the roles claim; without this table each value is the role of its name.
    #[schemars(extend(
        "additionalProperties" = { "type": "array", "items": { "type": "string", "minLength": 1, "maxLength": 128 } }
    ))]
    pub(crate) roles: Option<BTreeMap<At<String>, Vec<At<String>>>>,
    /// By how much its clock and ours may differ, up to `5m`; `0s` where nothing is said.
    #[schemars(regex(pattern = "^[0-9]+ *(ms|s|m|h|d)$"))]
    pub(crate) leeway: Option<At<String>>,
    /// What its tokens must have as `typ`; where nothing is said `at+jwt`, `JWT` or nothing.
    #[schemars(length(min = 1), inner(regex(pattern = "^[A-Za-z0-9+./-]+$")))]
    pub(crate) token_types: Option<At<Vec<At<String>>>>,
    /// A file with the certificate authority of the issuer (PEM), where it is not one of the system's.
    #[schemars(length(min = 1))]
    pub(crate) extra_root: Option<At<String>>,
}

/// Which claims say what.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Claims {
    /// Who it is; `sub` where nothing is said.
    #[schemars(length(min = 1, max = 256))]
    pub(crate) subject: Option<At<String>>,
    /// To which tenant the caller belongs.
    #[schemars(length(min = 1, max = 256))]
    pub(crate) tenant: Option<At<String>>,
    /// The caller's roles; `roles` where nothing is said.
    #[schemars(length(min = 1, max = 256))]
    pub(crate) roles: Option<At<String>>,
    /// What the token is for; `scope` where nothing is said.
    #[schemars(length(min = 1, max = 256))]
    pub(crate) scope: Option<At<String>>,
}

/// A key that a caller sends as a bearer.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Key {
    /// SHA-256 of the key in hexadecimal digits, as `fumehood serve --new-key NAME` prints it.
    #[schemars(required, regex(pattern = "^[0-9a-f]{64}$"))]
    pub(crate) sha256: Option<At<String>>,
    /// Who has it; the name of the table where nothing is said.
    #[schemars(length(min = 1, max = 256))]
    pub(crate) subject: Option<At<String>>,
    /// To which tenant he belongs.
    #[schemars(length(min = 1, max = 256))]
    pub(crate) tenant: Option<At<String>>,
    /// His roles, each one of `[roles]`.
    #[schemars(inner(length(min = 1, max = 128)))]
    #[serde(default)]
    pub(crate) roles: Vec<At<String>>,
    /// The one server it is for, at `/servers/NAME/mcp`.
    #[schemars(regex(pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"))]
    pub(crate) server: Option<At<String>>,
}

/// A user of this machine who comes over the Unix socket.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Peer {
    /// The user's number.
    #[schemars(required, range(min = 0, max = 4_294_967_294_i64))]
    pub(crate) uid: Option<At<i64>>,
    /// Who it is; the name of the table where nothing is said.
    #[schemars(length(min = 1, max = 256))]
    pub(crate) subject: Option<At<String>>,
    /// To which tenant he belongs.
    #[schemars(length(min = 1, max = 256))]
    pub(crate) tenant: Option<At<String>>,
    /// His roles, each one of `[roles]`.
    #[schemars(inner(length(min = 1, max = 128)))]
    #[serde(default)]
    pub(crate) roles: Vec<At<String>>,
}

/// What a role may use; what it does not name it does not see.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Role {
    /// Tools, each `SERVER/TOOL`; `*` stands for any number of characters on its side, and alone for everything.
    #[schemars(length(max = 1024), inner(regex(pattern = r"^(\*|[A-Za-z0-9._*-]+/.+)$")))]
    pub(crate) tools: Vec<At<String>>,
    /// Prompts, in the same way.
    #[schemars(length(max = 1024), inner(regex(pattern = r"^(\*|[A-Za-z0-9._*-]+/.+)$")))]
    pub(crate) prompts: Vec<At<String>>,
    /// Resources, each `SERVER/` and the beginning of a URI, or `SERVER/*`.
    #[schemars(length(max = 1024), inner(regex(pattern = r"^(\*|[A-Za-z0-9._*-]+/.+)$")))]
    pub(crate) resources: Vec<At<String>>,
}
