use std::fs;

use super::*;

/// The line of smaps(5) with this beginning, for the mapping that holds `address`.
fn smaps(address: usize, field: &str) -> String {
    let text = fs::read_to_string("/proc/self/smaps").unwrap();
    let mut inside = false;
    for line in text.lines() {
        if let Some((from, to)) = line.split(' ').next().and_then(|range| range.split_once('-'))
            && let (Ok(from), Ok(to)) = (usize::from_str_radix(from, 16), usize::from_str_radix(to, 16))
        {
            inside = (from..to).contains(&address);
            continue;
        }
        if inside && line.starts_with(field) {
            return line.to_owned();
        }
    }
    panic!("{address:x} is not mapped");
}

fn address(value: &Plaintext) -> usize {
    value.expose().as_ptr() as usize
}

#[test]
fn no_two_secrets_share_a_page() {
    let page = rustix::param::page_size();
    let values: Vec<Plaintext> = (0..8).map(|n| Plaintext::new(vec![n; 20])).collect();
    let mut pages: Vec<usize> = values.iter().map(|value| address(value) / page).collect();
    pages.sort_unstable();
    pages.dedup();
    assert_eq!(pages.len(), values.len());
    assert!(values.iter().all(|value| address(value).is_multiple_of(page)));
}

#[test]
fn one_given_back_leaves_the_others_locked() {
    let (first, second) = (Plaintext::new(vec![1; 32]), Plaintext::new(vec![2; 32]));
    if !(first.is_locked() && second.is_locked()) {
        // This machine locks nothing for this user, so there is nothing to lose.
        return;
    }
    drop(first);
    let flags = smaps(address(&second), "VmFlags");
    assert!(flags.split_whitespace().any(|flag| flag == "lo"), "{flags}");
}

#[test]
fn the_pages_are_left_out_of_cores_and_of_children() {
    let value = Plaintext::new(b"a value of a secret".to_vec());
    let flags = smaps(address(&value), "VmFlags");
    for flag in ["dd", "wf"] {
        assert!(flags.split_whitespace().any(|set| set == flag), "{flag}: {flags}");
    }
    let ordinary = Box::new([7_u8; 4096]);
    let flags = smaps(ordinary.as_ptr() as usize, "VmFlags");
    assert!(!flags.split_whitespace().any(|set| set == "dd"), "{flags}");
}

#[test]
fn what_is_cut_off_is_overwritten() {
    let mut value = Plaintext::new(b"0123456789".to_vec());
    value.truncate(4);
    assert_eq!(value.expose(), b"0123");
    assert_eq!(value.pages.bytes()[..10], *b"0123\0\0\0\0\0\0");
    value.truncate(9);
    assert_eq!(value.len(), 4);
}

#[test]
fn a_reader_is_read_to_its_end_and_no_further_than_told() {
    let text = b"x".repeat(5000);
    assert_eq!(Plaintext::read(&mut text.as_slice(), 5000).map(|value| value.len()).unwrap(), 5000);
    assert_eq!(Plaintext::read(&mut &text[..10], 5000).map(|value| value.len()).unwrap(), 10);
    assert!(Plaintext::read(&mut text.as_slice(), 4999).is_err());
    assert!(Plaintext::read(&mut &b""[..], 10).unwrap().is_empty());
}
