use model::needle::{Needle, NeedleKey};
use serde_json::json;

use super::*;

const VALUE: &str = "ghp_q7Xk2/Lm+9 ÄsT";

fn screen() -> Screen {
    let key = NeedleKey::new([7; 32]);
    let needle = Needle::of(VALUE.as_bytes(), &key).unwrap();
    Screen::new(key, vec![("GITHUB".to_owned(), needle)])
}

#[test]
fn a_value_is_found_as_it_is() {
    let found = screen().find(&json!({"a": ["x", {"b": format!("say {VALUE}!")}]})).unwrap();
    assert_eq!((found.path.as_str(), found.what.as_str()), ("a[1].b", "the secret `GITHUB`"));
}
