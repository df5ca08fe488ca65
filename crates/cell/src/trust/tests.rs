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
    let (extra, folder) = (named("extra"), tempfile::tempdir().unwrap());
    let path = folder.path().join("extra.pem");
    fs::write(&path, &extra.pem).unwrap();
    let authority = Authority::new().unwrap();
    let hash = subject::hash(authority.certificate_der()).unwrap();
    let standing =
        Standing::of(&folder.path().join("trust"), std::slice::from_ref(&path), Some(&hash), false).unwrap();
    let files = files(&standing, &authority, &certificates_of(&[path]), None);
    let held = |path: &str| {
        let (after, contents) = files
            .iter()
            .find_map(|file| match file {
                MadeFile::Bytes { path: at, after, contents } if at == Path::new(path) => {
                    Some((after, contents))
                }
                _ => None,
            })
            .unwrap();
        let mut whole = after.as_ref().map(|after| fs::read(after).unwrap()).unwrap_or_default();
        whole.extend_from_slice(contents);
        CertificateDer::pem_slice_iter(&whole).map(|der| der.unwrap().to_vec()).collect::<Vec<_>>()
    };
    let own = authority.certificate_der().to_vec();
    let roots = Roots::system(&[]).unwrap().public().into_owned();
    let all = roots.iter().map(|root| root.to_vec()).chain([extra.der.clone(), own.clone()]);
    assert_eq!(held(ROOTS), all.collect::<Vec<_>>());
    assert_eq!(held(AUTHORITY), [own, extra.der]);
    let links = files.iter().find_map(|file| match file {
        MadeFile::Links { path, list } if path == Path::new(FOLDER) => Some(fs::read(list).unwrap()),
        _ => None,
    });
    let links = links.unwrap();
    let words: Vec<&[u8]> = links.split(|byte| *byte == 0).collect();
    for (name, target) in
        [(format!("{hash}.0"), OWN_NAME), (OWN_NAME.to_owned(), AUTHORITY), (BUNDLE_NAME.to_owned(), ROOTS)]
    {
        let pair = [name.as_bytes(), target.as_bytes()];
        assert_eq!(words.chunks(2).filter(|words| *words == pair).count(), 1, "{name}");
    }
}

#[test]
fn java_reads_the_key_store() {
    let (root, own) = (named("root"), named("own"));
    let mut store = keystore::begin(&[CertificateDer::from_slice(&root.der)]);
    let end = keystore::finish(&store, &own.der);
    store.extend(end);
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&store).unwrap();
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
