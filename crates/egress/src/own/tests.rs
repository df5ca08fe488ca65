use super::*;

#[test]
fn the_tables_of_the_kernel_are_read() {
    let trie = "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 0.0.0.0\n        /0 universe UNICAST\n     |-- 10.0.0.0\n        /24 link UNICAST\n\
                Local:\n     |-- 93.184.216.34\n        /32 host LOCAL\n     |-- 203.0.0.0\n        /16 host LOCAL\n     |-- 93.184.216.255\n        /32 link BROADCAST\n";
    let told: Vec<String> = local_v4(trie).iter().map(|(net, owner)| format!("{net} {owner:?}")).collect();
    assert_eq!(told, ["93.184.216.34/32 Machine", "203.0.0.0/16 Machine", "93.184.216.255/32 Machine"]);

    let gateway = u32::from_ne_bytes([93, 184, 216, 1]);
    let routes = format!(
        "Iface\tDestination\tGateway \tFlags\neth0\t00000000\t{gateway:08X}\t0003\neth0\t0000000A\t00000000\t0001\n"
    );
    let told: Vec<String> =
        gateways_v4(&routes).iter().map(|(net, owner)| format!("{net} {owner:?}")).collect();
    assert_eq!(told, ["93.184.216.1/32 Gateway"]);

    let zero = "0".repeat(32);
    let lines = format!(
        "26064700000000000000000000000005 80 {zero} 00 {zero} 00000000 00000001 00000000 80200001     eth0\n\
         {zero} 00 {zero} 00 26064700000000000000000000000001 00000400 00000001 00000000 00000003     eth0\n\
         26064700000000000000000000000000 40 {zero} 00 {zero} 00000100 00000001 00000000 00000001     eth0\n\
         short line\n"
    );
    let told: Vec<String> = routes_v6(&lines).iter().map(|(net, owner)| format!("{net} {owner:?}")).collect();
    assert_eq!(told, ["2606:4700::5/128 Machine", "2606:4700::1/128 Gateway"]);
}

#[test]
fn this_machine_knows_itself() {
    let own = OwnAddresses::open().unwrap();
    assert_eq!(own.owner("127.0.0.1".parse().unwrap()).unwrap(), Some(Owner::Machine));
    assert_eq!(own.owner("127.3.4.5".parse().unwrap()).unwrap(), Some(Owner::Machine));
    assert_eq!(own.owner("93.184.216.34".parse().unwrap()).unwrap(), None);
    assert_eq!(own.owner("2606:4700:4700::1111".parse().unwrap()).unwrap(), None);
    let mut tables = own.tables.lock().unwrap();
    let nets = tables.refresh().unwrap();
    assert!(nets.iter().any(|(net, _)| net.to_string() == "127.0.0.1/32"), "{nets:?}");
}

#[test]
fn the_tables_stay_readable_and_fresh() {
    let own = OwnAddresses::open().unwrap();
    let mut tables = own.tables.lock().unwrap();
    let first = tables.refresh().unwrap().to_vec();
    tables.read = None;
    assert_eq!(tables.refresh().unwrap(), first);
}
