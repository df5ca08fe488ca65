//! `fumehood secret export` and `restore`.

use std::{
    fs::{File, OpenOptions},
    io::Write,
    os::unix::fs::OpenOptionsExt,
    path::Path,
    process::ExitCode,
};

use secrets::{
    plaintext::Plaintext,
    vault::{Recipient, Seal, Store},
};

use crate::{
    cli::secret::{SecretExport, SecretRestore},
    passphrase::AtTerminal,
    stop::{FAILURE, Stop, USAGE},
    terminal,
};

/// An identity with some lines of comment, in bytes.
const LONGEST_IDENTITY: usize = 4096;

/// Writes everything, sealed, into a new file.
pub(super) fn export(asked: &SecretExport, store: &Store) -> anyhow::Result<ExitCode> {
    let recipients = recipients(&asked.recipients)?;
    if recipients.is_empty() && !asked.passphrase {
        let hint =
            "`--recipient age1…` seals it to whoever has that identity, `--passphrase` to whoever knows it";
        return Err(Stop::new(USAGE, "nobody could open the backup", hint).into());
    }
    let seal = if asked.passphrase { Seal::Passphrase } else { Seal::Recipients(&recipients) };
    let (sealed, count) = store.export(&mut AtTerminal::default(), &seal).map_err(Stop::from)?;
    let file = asked.file.display();
    let write = |path: &Path| -> std::io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        file.write_all(&sealed)?;
        file.sync_all()
    };
    write(&asked.file).map_err(|error| {
        Stop::new(FAILURE, format!("writing `{file}` failed: {error}"), "a backup is written into a new file")
    })?;
    terminal::say(&format!("`{file}` holds {}, sealed", counted(count)));
    terminal::say("help: `fumehood secret restore FILE` puts it in the vault's place");
    Ok(ExitCode::SUCCESS)
}

/// Puts what is sealed in a file in the vault's place.
pub(super) fn restore(asked: &SecretRestore, store: &Store) -> anyhow::Result<ExitCode> {
    let identity = asked.identity.as_deref().map(identity).transpose()?;
    let restored = store
        .restore(&mut AtTerminal::default(), &asked.file, identity.as_ref(), asked.replace)
        .map_err(Stop::from)?;
    terminal::say(&format!("the vault holds {}", counted(restored)));
    Ok(ExitCode::SUCCESS)
}

/// Each `age1…` that was typed.
pub(super) fn recipients(texts: &[String]) -> anyhow::Result<Vec<Recipient>> {
    let parsed = texts.iter().map(|text| Recipient::parse(text));
    Ok(parsed.collect::<Result<_, _>>().map_err(|error| Stop::new(USAGE, error.to_string(), ""))?)
}

fn identity(path: &Path) -> Result<Plaintext, Stop> {
    let read = File::open(path).and_then(|mut file| Plaintext::read(&mut file, LONGEST_IDENTITY));
    read.map_err(|error| Stop::new(USAGE, format!("reading `{}` failed: {error}", path.display()), ""))
}

fn counted(secrets: usize) -> String {
    format!("{secrets} secret{}", if secrets == 1 { "" } else { "s" })
}
