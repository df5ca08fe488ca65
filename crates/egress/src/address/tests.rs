use super::*;

/// The rows: an address, whether it may be dialled, what it is.
fn rows() -> Vec<(IpAddr, bool, &'static str)> {
    include_str!("../../tests/data/addresses.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let [address, verdict, class] = line.split('\t').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            (address.parse().unwrap(), verdict == "dial", class)
        })
        .collect()
}

#[test]
fn the_table_and_the_classes_agree() {
    assert_eq!(rows().len(), 78);
    for (address, dialled, what) in rows() {
        let class = Class::of(address);
        assert_eq!(class.is_public(), dialled, "{address} ({what}) is {class}");
        let expected = [
            ("public", Class::Public),
            ("just ", Class::Public),
            ("loopback", Class::Loopback),
            ("private", Class::Private),
            ("metadata", Class::Metadata),
            ("cloud special", Class::Metadata),
            ("shared", Class::Shared),
            ("unique local", Class::UniqueLocal),
            ("site-local", Class::UniqueLocal),
            ("link-local", Class::LinkLocal),
            ("multicast", Class::Multicast),
            ("broadcast", Class::Multicast),
            ("v4-", Class::Embedded),
            ("NAT64", Class::Embedded),
            ("local NAT64", Class::Embedded),
            ("6to4 of", Class::Embedded),
            ("Teredo", Class::Embedded),
            ("unspecified", Class::Unspecified),
            ("this network", Class::Unspecified),
            ("documentation", Class::Reserved),
            ("benchmarking", Class::Reserved),
            ("reserved", Class::Reserved),
            ("outside", Class::Reserved),
        ];
        if let Some((_, expected)) = expected.iter().find(|(beginning, _)| what.starts_with(beginning)) {
            assert_eq!(class, *expected, "{address} ({what})");
        }
    }
}

#[test]
fn what_the_table_does_not_have() {
    for (address, class) in [
        ("169.254.170.23", Class::Metadata),
        ("fd20:ce::254", Class::Metadata),
        ("fd00:ec2::23", Class::Metadata),
        ("fd00:42::42", Class::Metadata),
        ("2606:4700::5efe:7f00:1", Class::Embedded),
        ("2606:4700::200:5efe:a00:1", Class::Embedded),
        ("2606:4700::1:5efe:a00:1", Class::Public),
        ("::ffff:0:7f00:1", Class::Reserved),
        ("::2", Class::Embedded),
        ("64:ff9b:1:ffff::1", Class::Embedded),
        ("2001:1ff::1", Class::Reserved),
        ("2003::1", Class::Public),
        ("3fff:1000::1", Class::Public),
        ("3fff:fff::1", Class::Reserved),
        ("1fff::1", Class::Reserved),
        ("223.255.255.255", Class::Public),
        ("161.26.0.7", Class::Reserved),
    ] {
        assert_eq!(Class::of(address.parse().unwrap()), class, "{address}");
    }
}

#[test]
fn no_row_is_a_host_name_or_a_rule() {
    use crate::name::HostName;
    use crate::rule::HostRule;

    for (address, _, what) in rows() {
        let bracketed = match address {
            IpAddr::V4(v4) => v4.to_string(),
            IpAddr::V6(v6) => format!("[{v6}]"),
        };
        for text in [address.to_string(), bracketed.clone(), format!("{bracketed}.")] {
            assert!(HostName::parse(&text).is_err(), "{text} ({what})");
            assert!(HostName::from_wire(text.as_bytes()).is_err(), "{text} ({what})");
        }
        for text in [
            address.to_string(),
            format!("{bracketed}:443"),
            format!("https://{bracketed}"),
            format!("tcp://{bracketed}:1"),
        ] {
            assert!(HostRule::parse(&text).is_err(), "{text} ({what})");
        }
        let labels = address.to_string();
        assert!(HostName::from_labels(labels.split('.').map(str::as_bytes)).is_err(), "{labels} ({what})");
    }
}
