//! Words by which somebody is asked for a secret.

/// Longest text that is looked through, in characters.
const LONGEST: usize = 4_000;

/// Words that name a secret wherever they stand.
const WORDS: [&str; 9] = [
    "apikey",
    "credential",
    "otp",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "secretkey",
];
/// Pairs of words that name one together.
const PAIRS: [(&str, &str); 23] = [
    ("access", "key"),
    ("access", "token"),
    ("api", "key"),
    ("api", "secret"),
    ("api", "token"),
    ("auth", "token"),
    ("authentication", "token"),
    ("bearer", "token"),
    ("client", "secret"),
    ("encryption", "key"),
    ("pass", "phrase"),
    ("pass", "word"),
    ("pin", "code"),
    ("private", "key"),
    ("recovery", "phrase"),
    ("refresh", "token"),
    ("secret", "key"),
    ("security", "code"),
    ("security", "token"),
    ("seed", "phrase"),
    ("session", "token"),
    ("signing", "key"),
    ("ssh", "key"),
];
/// Names of fields that are secrets by themselves.
const NAMES: [&str; 12] =
    ["auth", "bearer", "cvc", "cvv", "jwt", "key", "pass", "pin", "pwd", "secret", "secrets", "token"];
/// What names of fields have in them that are secrets.
const PARTS: [&str; 7] = ["apikey", "passphrase", "passwd", "password", "privatekey", "secret", "token"];
/// Beside these, `tokens` are pieces of text that a model reads.
const AMOUNTS: [&str; 8] = ["budget", "count", "limit", "max", "maximum", "min", "number", "total"];

/// Whether a text asks for one.
pub(super) fn asked_in(text: &str) -> bool {
    names_one(&words(text))
}

/// Whether a field of this name holds one.
pub(super) fn is_name(name: &str) -> bool {
    let words = words(name);
    let joined = words.concat();
    if words.iter().any(|word| AMOUNTS.contains(&word.as_str())) && words.iter().any(|word| word == "tokens")
    {
        return false;
    }
    names_one(&words) || NAMES.contains(&joined.as_str()) || PARTS.iter().any(|part| joined.contains(part))
}

fn names_one(words: &[String]) -> bool {
    let single = |word: &str| word.strip_suffix('s').map_or_else(|| word.to_owned(), str::to_owned);
    words.iter().any(|word| WORDS.contains(&word.as_str()) || WORDS.contains(&single(word).as_str()))
        || words.windows(2).any(|pair| match pair {
            [one, other] => {
                let other = single(other);
                PAIRS.iter().any(|(first, second)| one == first && (other == *second))
            }
            _ => false,
        })
}

/// Words in small letters: of `apiKey`, `api_key` and `API key` the same ones.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut was_small) = (Vec::new(), String::new(), false);
    for c in text.chars().take(LONGEST) {
        let is_end = !c.is_alphanumeric() || (was_small && c.is_uppercase());
        if is_end && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        was_small = c.is_lowercase() || c.is_numeric();
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}
