//! Names that nobody guesses and nobody else has.

/// So many random bytes in hexadecimal.
pub(crate) fn hex(bytes: usize) -> anyhow::Result<String> {
    let mut random = vec![0; bytes];
    getrandom::fill(&mut random)
        .map_err(|error| anyhow::anyhow!("the kernel gave no random bytes: {error}"))?;
    let digit = |nibble: u8| char::from_digit(nibble.into(), 16);
    Ok(random.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).flatten().collect())
}
