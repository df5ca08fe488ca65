use super::*;
use crate::name::HostName;

fn pin(address: &str, loopback: bool) -> Result<Pinned, UpstreamError> {
    Pinned::parse(&HostName::parse("ghe.corp").unwrap(), address, loopback)
}

#[test]
fn the_operator_may_bind_a_name_to_what_dns_may_not_lead_to() {
    for address in [
        "10.1.2.3:443",
        "192.168.1.1:80",
        "172.16.0.1:1",
        "100.64.0.1:443",
        "[fd12::1]:443",
        "203.0.113.9:443",
    ] {
        let pinned = pin(address, false).unwrap();
        assert_eq!(pinned.address(8443).to_string(), address);
        assert!(!pinned.loopback());
    }
    assert_eq!(pin("10.1.2.3", false).unwrap().address(8443).to_string(), "10.1.2.3:8443");
    assert_eq!(pin("fd12::1", false).unwrap().address(80).to_string(), "[fd12::1]:80");
}

#[test]
fn loopback_needs_its_word_and_some_addresses_are_for_nobody() {
    for address in ["127.0.0.1:8080", "127.9.9.9:1", "[::1]:443"] {
        assert!(matches!(pin(address, false), Err(UpstreamError::Loopback { .. })), "{address}");
        assert!(pin(address, true).unwrap().loopback());
    }
    for address in [
        "169.254.169.254:80",
        "169.254.1.1:80",
        "169.254.170.2:80",
        "168.63.129.16:80",
        "100.100.100.200:80",
        "192.0.0.192:80",
        "[fd00:ec2::254]:80",
        "[fe80::1]:80",
        "[::ffff:169.254.169.254]:80",
        "[::ffff:10.1.2.3]:80",
        "[64:ff9b::a9fe:a9fe]:80",
        "[2002:a9fe:a9fe::]:80",
        "0.0.0.0:80",
        "[::]:80",
        "224.0.0.1:80",
        "255.255.255.255:80",
        "240.0.0.1:80",
        "[ff02::1]:80",
    ] {
        for loopback in [false, true] {
            assert!(
                matches!(pin(address, loopback), Err(UpstreamError::Class { .. })),
                "{address} {loopback}"
            );
        }
    }
    for text in
        ["", "ghe.corp:443", "10.1.2.3:0", "10.1.2.3:99999", "10.1.2:443", "0x7f.1:80", "[fe80::1%eth0]:80"]
    {
        assert!(
            matches!(pin(text, true), Err(UpstreamError::Address { .. } | UpstreamError::Class { .. })),
            "{text}"
        );
    }
}

#[test]
fn a_proxy_is_read_and_its_password_not_shown() {
    let proxy = UpstreamProxy::parse("http://user:p%40ss@proxy.corp:3128", ProxyResolve::Here).unwrap();
    assert_eq!(proxy.host, ProxyHost::Name(HostName::parse("proxy.corp").unwrap()));
    assert_eq!(proxy.port, 3128);
    // printf 'user:p@ss' | base64
    assert_eq!(proxy.authorization.as_deref(), Some("Basic dXNlcjpwQHNz"));
    assert!(!format!("{proxy:?}").contains("dXNl"));
    let proxy = UpstreamProxy::parse("http://[fd12::1]:3128/", ProxyResolve::Proxy).unwrap();
    assert_eq!((proxy.host, proxy.authorization), (ProxyHost::Address("fd12::1".parse().unwrap()), None));
    assert!(UpstreamProxy::parse("http://127.0.0.1:3128", ProxyResolve::Here).is_ok());
    for text in [
        "proxy.corp:3128",
        "https://proxy.corp:3128",
        "http://proxy.corp",
        "http://proxy.corp:0",
        "http://a b:1",
    ] {
        assert!(
            matches!(UpstreamProxy::parse(text, ProxyResolve::Here), Err(UpstreamError::Proxy { .. })),
            "{text}"
        );
    }
    for text in ["http://169.254.169.254:80", "http://0.0.0.0:3128"] {
        assert!(
            matches!(UpstreamProxy::parse(text, ProxyResolve::Here), Err(UpstreamError::Class { .. })),
            "{text}"
        );
    }
    let error = UpstreamProxy::parse("ftp://user:secret@proxy:1", ProxyResolve::Here).unwrap_err();
    assert!(!error.to_string().contains("secret"), "{error}");
}
