use proptest::prelude::*;

use super::*;

fn key() -> NeedleKey {
    NeedleKey::new(std::array::from_fn(|at| u8::try_from(at * 37 % 251).unwrap()))
}

fn search(values: &[&[u8]], text: &[u8]) -> Found {
    let needles: Vec<Needle> = values
        .iter()
        .map(|value| Needle::of(value, &key()).expect("a value of a length that is sought"))
        .collect();
    Needles::new(key(), &needles).find(text, &mut (1 << 20))
}

proptest! {
    #[test]
    fn a_value_is_found_wherever_it_stands(
        value in prop::collection::vec(any::<u8>(), SHORTEST..200),
        other in prop::collection::vec(any::<u8>(), SHORTEST..200),
        before: Vec<u8>,
        behind: Vec<u8>,
        random: [u8; 32],
    ) {
        prop_assume!(!other.windows(value.len()).any(|place| place == value));
        let key = NeedleKey::new(random);
        let needles = Needles::new(key.clone(), &[Needle::of(&value, &key).unwrap()]);
        let text = [before.as_slice(), &value, &behind].concat();
        prop_assert_eq!(needles.find(&text, &mut (1 << 20)), Found::Needle(0));
        prop_assert_eq!(needles.find(&other, &mut (1 << 20)), Found::Nothing);
    }
}

#[test]
fn which_one_it_is_is_told() {
    let values: [&[u8]; 3] = [b"hunter2-hunter2", b"correct horse", b"battery staple"];
    assert_eq!(search(&values, b"the battery staple of"), Found::Needle(2));
    assert_eq!(search(&values, b"the correct horse of"), Found::Needle(1));
    assert_eq!(search(&values, b"the correct horsf of battery stapl"), Found::Nothing);
}

#[test]
fn a_value_that_would_be_met_by_chance_is_no_needle() {
    assert_eq!(Needle::of(b"1234567", &key()), None);
    assert!(Needle::of(b"12345678", &key()).is_some());
    assert!(Needle::of(&vec![b'x'; LONGEST], &key()).is_some());
    assert_eq!(Needle::of(&vec![b'x'; LONGEST + 1], &key()), None);
}

#[test]
fn a_text_of_many_beginnings_costs_no_more_than_the_budget() {
    // Every place of this text looks like the value, and only its last byte differs.
    let mut value = vec![b'x'; 4096];
    value.push(b'y');
    let needles = Needles::new(key(), &[Needle::of(&value, &key()).unwrap()]);
    let mut budget = 1 << 20;
    assert_eq!(needles.find(&vec![b'x'; 256 << 10], &mut budget), Found::TooManyPlaces);
    assert!(budget < 4097, "{budget}");
}

#[test]
fn a_needle_says_nothing_of_its_value_that_another_key_could_use() {
    let other = NeedleKey::new([9; 32]);
    let (one, two) =
        (Needle::of(b"correct horse", &key()).unwrap(), Needle::of(b"correct horse", &other).unwrap());
    assert_ne!(one.digest, two.digest);
    let text = serde_json::to_string(&one).unwrap();
    assert_eq!(serde_json::from_str::<Needle>(&text).unwrap(), one);
    assert!(!text.contains("horse"), "{text}");
}
