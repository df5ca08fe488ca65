//! Names at which many tenants are served by the same machines, so that a name alone does not say whose they are.

use crate::name::HostName;

/// Suffixes that delivery networks give to their customers. Behind one address all of them answer, and which of them does
/// is said by `Host` inside TLS, where a tunnel cannot see it: who holds one name could speak to another tenant.
const SHARED: [&str; 15] = [
    "akamaized.net",
    "akamaihd.net",
    "edgekey.net",
    "edgesuite.net",
    "cloudfront.net",
    "azureedge.net",
    "azurefd.net",
    "trafficmanager.net",
    "fastly.net",
    "fastlylb.net",
    "b-cdn.net",
    "cdn77.org",
    "workers.dev",
    "pages.dev",
    "googleusercontent.com",
];

/// Whether connections to `name` are looked into though no rule asks for it.
pub(crate) fn is_shared(name: &HostName) -> bool {
    !crate::guard::off("shared-front") && name.parents().any(|parent| SHARED.contains(&parent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_customers_name_is_shared_and_one_that_only_ends_alike_is_not() {
        let shared = |text: &str| is_shared(&HostName::parse(text).unwrap());
        assert!(shared("d111111abcdef8.cloudfront.net") && shared("a.b.pages.dev"));
        assert!(
            !shared("cloudfront.net.example.com")
                && !shared("mycloudfront.net")
                && !shared("api.example.com")
        );
    }
}
