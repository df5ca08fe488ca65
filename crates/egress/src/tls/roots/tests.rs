use super::*;
use crate::tls::authority::Authority;
use crate::upstream::Pinned;

#[test]
fn extra_files_count_and_their_text_is_part_of_the_bundle() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("extra.pem");
    let text = Authority::new().unwrap().certificate_pem();
    std::fs::write(&path, &text).unwrap();
    let plain = Roots::system(&[]).unwrap();
    let roots = Roots::system(&[path.clone(), path]).unwrap();
    assert_eq!(roots.public().len(), plain.public().len() + 1, "the same certificate twice counts once");
    assert!(roots.pem().contains(&text));
    assert!(Roots::none().is_empty() && Roots::none().pem().is_empty());
}

#[test]
fn a_file_that_somebody_named_and_that_is_no_certificate_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.pem");
    assert!(matches!(Roots::system(std::slice::from_ref(&path)), Err(RootsError::Read { .. })));
    for text in ["", "hello", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        std::fs::write(&path, text).unwrap();
        assert!(
            matches!(Roots::system(std::slice::from_ref(&path)), Err(RootsError::Content { .. })),
            "{text}"
        );
    }
}

#[test]
fn the_authority_of_a_bound_name_is_for_that_name_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ca.pem");
    let authority = Authority::new().unwrap();
    std::fs::write(&path, authority.certificate_pem()).unwrap();
    let name = HostName::parse("ghe.corp.example").unwrap();
    let mut upstreams = Upstreams::default();
    upstreams.pin(name.clone(), Pinned::parse(&name, "10.1.2.3", false).unwrap().with_ca(path));
    let roots = Roots::of(&upstreams).unwrap();
    assert!(!roots.public().iter().any(|der| der.as_ref() == authority.certificate_der()));
    assert_eq!(roots.own[&name].len(), 1);
}

#[test]
fn what_was_kept_is_what_was_read() {
    let folder = tempfile::tempdir().unwrap();
    let (extra, kept) = (folder.path().join("extra.pem"), folder.path().join("kept.pem"));
    std::fs::write(&extra, Authority::new().unwrap().certificate_pem()).unwrap();
    let read = Roots::system(std::slice::from_ref(&extra)).unwrap();
    std::fs::write(&kept, read.pem()).unwrap();
    let roots = Roots::kept(File::open(&kept).unwrap(), &Upstreams::default()).unwrap();
    // As by a process that may open nothing any more.
    std::fs::remove_file(&kept).unwrap();
    assert!(!roots.is_empty());
    for _again in 0..2 {
        assert_eq!(roots.public(), read.public());
    }
    assert_eq!(roots.store().len(), read.store().len());
    std::fs::write(&kept, "").unwrap();
    let none = Roots::kept(File::open(&kept).unwrap(), &Upstreams::default()).unwrap();
    assert!(none.is_empty() && none.public().is_empty());
}
