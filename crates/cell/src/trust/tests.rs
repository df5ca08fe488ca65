use std::{io::Write, process::Command};

use super::*;

struct Made {
    pem: String,
    der: Vec<u8>,
}

fn authority(fill: impl FnOnce(&mut rcgen::DistinguishedName)) -> Made {
    let key = rcgen::KeyPair::generate().unwrap();
    let mut params = rcgen::CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    params.distinguished_name = rcgen::DistinguishedName::new();
    fill(&mut params.distinguished_name);
    let certificate = params.self_signed(&key).unwrap();
    Made { pem: certificate.pem(), der: certificate.der().to_vec() }
}

fn named(name: &str) -> Made {
    authority(|subject| subject.push(rcgen::DnType::CommonName, name))
}

/// What openssl(1) says of a certificate, where there is one on this machine.
fn openssl(arguments: &[&str], input: &str) -> Option<String> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(input.as_bytes()).unwrap();
    let said = Command::new("openssl").args(arguments).arg("-in").arg(file.path()).output().ok()?;
    assert!(said.status.success(), "{said:?}");
    Some(String::from_utf8(said.stdout).unwrap().trim().to_owned())
}

#[test]
fn a_certificate_is_called_as_openssl_calls_it() {
    let one = named("Fumehood cell 3f  9A ");
    let several = authority(|subject| {
        subject.push(rcgen::DnType::CountryName, "DE");
        subject.push(rcgen::DnType::OrganizationName, "Äpfel & Söhne  KG");
        subject.push(rcgen::DnType::CommonName, "x".repeat(64));
    });
    for made in [&one, &several] {
        let Some(expected) = openssl(&["x509", "-noout", "-subject_hash"], &made.pem) else { return };
        assert_eq!(subject::hash(&made.der).unwrap(), expected);
    }
    assert_eq!(subject::hash(b""), None);
    assert_eq!(subject::hash(one.der.get(..40).unwrap()), None);
}

#[test]
fn the_bundle_holds_everybody_and_the_cells_own_file_only_who_is_new() {
    let (root, extra, own) = (named("root"), named("extra"), named("own"));
    let roots = format!("{}{}", root.pem, extra.pem.trim_end());
    let of = Certificates { roots: &roots, extra: &extra.pem, authority: &own.pem, authority_der: &own.der };
    let files = files(&of, false);
    let held = |path: &str| {
        let contents = files.iter().find_map(|file| match file {
            MadeFile::Bytes { path: at, contents } if at == Path::new(path) => Some(contents),
            _ => None,
        });
        CertificateDer::pem_slice_iter(contents.unwrap()).map(|der| der.unwrap().to_vec()).collect::<Vec<_>>()
    };
    assert_eq!(held(BUNDLE), [root.der, extra.der.clone(), own.der.clone()]);
    assert_eq!(held(OWN), [own.der.clone(), extra.der]);
    let links = files.iter().find_map(|file| match file {
        MadeFile::Links { links, .. } => Some(links),
        _ => None,
    });
    let hash = format!("{}.0", subject::hash(&own.der).unwrap());
    assert!(links.unwrap().contains(&(hash, PathBuf::from("fumehood.pem"))));
}

#[test]
fn only_links_to_what_a_cell_sees_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let link = |name: &str, to: &str| std::os::unix::fs::symlink(to, folder.path().join(name)).unwrap();
    link("A_Root.pem", "/usr/share/ca-certificates/mozilla/A_Root.crt");
    link("0123abcd.0", "A_Root.pem");
    link("0123abcd.1", "/usr/share/ca-certificates/mozilla/B.crt");
    link("89abcdef.0", "/home/somebody/own.pem");
    link("deadbeef.0", "missing.pem");
    std::fs::write(folder.path().join("fedcba98.0"), "x").unwrap();
    let mut found = hashed(folder.path());
    found.sort();
    let to = |name: &str, path: &str| (name.to_owned(), PathBuf::from(path));
    assert_eq!(
        found,
        [
            to("0123abcd.0", "/usr/share/ca-certificates/mozilla/A_Root.crt"),
            to("0123abcd.1", "/usr/share/ca-certificates/mozilla/B.crt")
        ]
    );
}

#[test]
fn java_reads_the_key_store() {
    let (root, own) = (named("root"), named("own"));
    let of = Certificates { roots: &root.pem, extra: "", authority: &own.pem, authority_der: &own.der };
    let files = files(&of, true);
    let store = files.iter().find_map(|file| match file {
        MadeFile::Bytes { path, contents } if path == Path::new(KEYSTORE) => Some(contents),
        _ => None,
    });
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(store.unwrap()).unwrap();
    let mut keytool = Command::new("keytool");
    keytool.args(["-list", "-storetype", "JKS", "-storepass", PASSWORD, "-keystore"]).arg(file.path());
    let Ok(said) = keytool.output() else { return };
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.contains("contains 2 entries") && said.contains("trustedCertEntry"), "{said}");
    // With another password the digest is another: it is really checked, and so really right.
    let mut wrong = Command::new("keytool");
    wrong.args(["-list", "-storetype", "JKS", "-storepass", "changed", "-keystore"]).arg(file.path());
    assert!(!wrong.output().unwrap().status.success());
}

const PASSWORD: &str = "changeit";
