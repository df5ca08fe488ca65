//! Names that nobody guesses and nobody else has.

/// So many random bytes in hexadecimal.
pub(crate) fn hex(bytes: usize) -> anyhow::Result<String> {
    let mut random = vec![0; bytes];
    getrandom::fill(&mut random)
        .map_err(|error| anyhow::anyhow!("the kernel gave no random bytes: {error}"))?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}
