//! Sizes as people write them.

/// Units of a size, largest first within each family, in bytes. Binary ones first: they are what [`format`] prefers.
const UNITS: [(&str, u64); 9] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KB", 1_000),
    ("B", 1),
];

/// Bytes of a text such as `512MiB`, `1.5 GiB` or `100 KB`.
///
/// Units are `B`, `KiB` … `TiB` (powers of 1024) and `KB` … `TB` (powers of 1000), in any case, after an optional
/// space. A number alone is bytes.
///
/// # Errors
///
/// [`SizeError`] where the text is no number with a unit, does not come out as a whole number of bytes, or exceeds
/// `u64`.
pub fn parse(text: &str) -> Result<u64, SizeError> {
    let malformed = || SizeError::Malformed { text: text.to_owned() };
    let trimmed = text.trim();
    let end = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at_checked(end).ok_or_else(malformed)?;
    let unit = unit.trim_start_matches(' ');
    let unit = if unit.is_empty() { "B" } else { unit };
    let bytes = UNITS
        .iter()
        .find_map(|(name, bytes)| name.eq_ignore_ascii_case(unit).then_some(*bytes))
        .ok_or_else(malformed)?;

    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    if whole.is_empty() || fraction.is_empty() || fraction.contains('.') {
        return Err(malformed());
    }
    let too_large = || SizeError::TooLarge { text: text.to_owned() };
    let uneven = || SizeError::Fraction { text: text.to_owned() };
    let whole: u64 = whole.parse().map_err(|_| too_large())?;

    // 2^40 is divided evenly by powers of ten up to 10^40 at most, so a longer fraction cannot be whole bytes.
    let fraction = fraction.trim_end_matches('0');
    let scale = u32::try_from(fraction.len()).ok().and_then(|digits| 10_u128.checked_pow(digits));
    let part = match (fraction, scale) {
        ("", _) => 0,
        (digits, Some(scale)) => {
            let scaled = digits
                .parse::<u128>()
                .ok()
                .and_then(|digits| digits.checked_mul(u128::from(bytes)))
                .ok_or_else(uneven)?;
            if !scaled.is_multiple_of(scale) {
                return Err(uneven());
            }
            u64::try_from(scaled / scale).map_err(|_| too_large())?
        }
        (_, None) => return Err(uneven()),
    };
    whole.checked_mul(bytes).and_then(|total| total.checked_add(part)).ok_or_else(too_large)
}

/// A size in the largest unit that states it exactly: `512 MiB`, `100 KB`, `1025 B`.
pub fn format(bytes: u64) -> String {
    let exact = UNITS.iter().find(|(_, unit)| bytes >= *unit && bytes.is_multiple_of(*unit));
    match exact {
        Some((name, unit)) => format!("{} {name}", bytes / unit),
        None => format!("{bytes} B"),
    }
}

/// A size for people: `512 B`, `18.5 MiB`, at most one digit behind the point.
pub fn round(bytes: u64) -> String {
    let units = [("TiB", 1_u64 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match units.iter().find(|(_, unit)| bytes >= *unit) {
        Some((name, unit)) => {
            // Tenths, without leaving whole numbers.
            let tenths = bytes / (unit / 10).max(1);
            format!("{}.{} {name}", tenths / 10, tenths % 10)
        }
        None => format!("{bytes} B"),
    }
}

/// A text that is no size.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SizeError {
    /// Not a number with a known unit.
    #[error("`{text}` is not a size")]
    Malformed {
        /// What was written.
        text: String,
    },
    /// Some part of a byte is left over.
    #[error("`{text}` is not a whole number of bytes")]
    Fraction {
        /// What was written.
        text: String,
    },
    /// More than 2⁶⁴ − 1 bytes.
    #[error("`{text}` is too large to count in bytes")]
    TooLarge {
        /// What was written.
        text: String,
    },
}

impl SizeError {
    /// What to write instead.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Malformed { .. } => {
                "write a number and a unit: B, KiB, MiB, GiB, TiB (powers of 1024), KB, MB, GB, TB (of 1000); \
                 for example `512MiB`"
            }
            Self::Fraction { .. } => "use the next smaller unit without a fraction",
            Self::TooLarge { .. } => "give a smaller number",
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_size_for_people_is_short() {
        let shown = [0, 1023, 1024, 1536, 19_363_674, 5 << 30, u64::MAX].map(round);
        assert_eq!(shown, ["0 B", "1023 B", "1.0 KiB", "1.5 KiB", "18.4 MiB", "5.0 GiB", "16777216.0 TiB"]);
    }

    #[test]
    fn what_people_write_is_understood() {
        for (text, bytes) in [
            ("0", 0),
            ("17", 17),
            ("17 B", 17),
            ("64kib", 65_536),
            ("64KB", 64_000),
            ("512MiB", 536_870_912),
            ("1 GiB", 1_073_741_824),
            (" 1.5GiB ", 1_610_612_736),
            ("0.5 tb", 500_000_000_000),
            ("2TiB", 2_199_023_255_552),
            ("1.50000000000000000000000000000000000000000000000000KiB", 1536),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn everything_else_is_refused_with_its_reason() {
        for text in [
            "",
            " ",
            "MiB",
            "-1",
            "1e3",
            "64k",
            "1..5KiB",
            ".5KiB",
            "5.KiB",
            "1,5GiB",
            "1 G iB",
            "１KiB",
            "1\u{a0}KiB",
        ] {
            assert!(matches!(parse(text), Err(SizeError::Malformed { .. })), "{text:?}: {:?}", parse(text));
        }
        for text in ["0.5B", "0.3KiB", "1.00000000000000000000000000000000000000000000001TiB", "0.1GiB"] {
            assert!(matches!(parse(text), Err(SizeError::Fraction { .. })), "{text}: {:?}", parse(text));
        }
        for text in
            ["18446744073709551616", "16777216TiB", "99999999999999999999999TB", "18446744073709.551616MB"]
        {
            assert!(matches!(parse(text), Err(SizeError::TooLarge { .. })), "{text}: {:?}", parse(text));
        }
    }

    proptest! {
        #[test]
        fn a_formatted_size_always_reads_back_as_itself(bytes: u64) {
            prop_assert_eq!(parse(&format(bytes)), Ok(bytes));
        }

        #[test]
        fn parsing_never_panics(text in "[0-9. kKmMgGtTiIbB]{0,40}|.{0,20}") {
            prop_assert!(parse(&text).map_or(true, |bytes| parse(&format(bytes)) == Ok(bytes)));
        }
    }
}
