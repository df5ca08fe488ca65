//! The secrets of a cell: from the broker's link to placeholders in its environment and keys at its edge, and what
//! becomes of them while it runs.

use std::{
    collections::BTreeMap,
    os::fd::{AsFd, OwnedFd},
    rc::Rc,
    sync::Arc,
    time::Duration,
};

use cell_api::{
    error::{ErrorBody, ErrorCode},
    event::{EventKind, SecretChange},
    info::{SecretInfo, SecretState},
    order::LogMark,
};
use egress::credential::{Key, KeyError, Keyring, Placeholder};
use model::secret::{SecretName, SecretUse};
use secrets::{
    link::{Granted, Link, LinkError, Notice},
    plaintext::Plaintext,
};

use crate::{cell::Cell, network, sys};

/// How long the broker may take: a command that it asks for a value has up to two minutes, and a passphrase is typed.
const PATIENCE: Duration = Duration::from_mins(3);

/// What a cell has of its secrets at its start.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    /// The keys at its edge.
    pub(crate) ring: Arc<Keyring>,
    /// The variables that hold placeholders, or values where somebody asked for that.
    pub(crate) variables: Variables,
    /// What stands for each secret inside, for as long as the cell lives.
    pub(crate) placeholders: BTreeMap<SecretName, Placeholder>,
    /// For whoever asks.
    pub(crate) infos: Vec<SecretInfo>,
    /// What comes later.
    pub(crate) link: Option<Link>,
    /// What a supervisor with a fault gives away.
    #[cfg(feature = "guard-off")]
    pub(crate) leaks: crate::taken_over::Leaks,
}

/// Variables of which some may hold a value: never printed.
#[derive(Default)]
pub(crate) struct Variables(pub(crate) BTreeMap<String, String>);

impl std::fmt::Debug for Variables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Asks the broker for everything `uses` names.
pub(crate) async fn take(broker: Option<OwnedFd>, uses: &[SecretUse]) -> Result<Keys, ErrorBody> {
    if uses.is_empty() {
        return Ok(Keys::default());
    }
    let broker = broker.ok_or_else(|| {
        let refusal =
            ErrorBody::new(ErrorCode::Secret, "the cell uses secrets, and its supervisor has no broker");
        refusal.hint("start it with `fumehood run --secret NAME`, which starts one")
    })?;
    let (granted, link) = ask(Link::over(broker)).await?;
    Keys::of(uses, granted, link)
}

/// Waits on a thread of its own, which has ended when this returns: whoever confines this process afterwards must find no
/// other.
async fn ask(mut link: Link) -> Result<(Vec<Granted>, Link), ErrorBody> {
    let (tell, told) = tokio::sync::oneshot::channel();
    let asking =
        std::thread::Builder::new().name("broker".to_owned()).stack_size(256 << 10).spawn(move || {
            let granted = link.first(PATIENCE);
            // Nobody waits any more where the cell was ended meanwhile.
            tell.send((granted, link)).ok();
        });
    let asking = asking.map_err(|error| internal(&format!("asking the broker failed: {error}")))?;
    let told = told.await;
    asking.join().ok();
    let (granted, link) = told.map_err(|_| internal("asking the broker was broken off"))?;
    match granted {
        Ok(granted) => Ok((granted, link)),
        Err(error) => Err(not_given(&error)),
    }
}

impl Keys {
    fn of(uses: &[SecretUse], granted: Vec<Granted>, link: Link) -> Result<Self, ErrorBody> {
        let mut all: BTreeMap<SecretName, (Vec<String>, Arc<Plaintext>)> = BTreeMap::new();
        let mut placeholders = BTreeMap::new();
        let mut ring = Keyring::new();
        for Granted { name, binding, value } in granted {
            let value = Arc::new(value);
            let hosts = binding.hosts.clone();
            if uses.iter().any(|used| used.name == name && !used.expose) {
                let made = Placeholder::for_value(&value);
                let key = Key::new(name.clone(), binding, Arc::clone(&value), made.clone());
                ring = key.and_then(|key| ring.with(key)).map_err(|error| no_key(&error))?;
                placeholders.insert(name.clone(), made);
            }
            all.insert(name, (hosts, value));
        }
        let mut keys = Self { ring: Arc::new(ring), link: Some(link), placeholders, ..Self::default() };
        #[cfg(feature = "guard-off")]
        for (_, value) in all.values() {
            keys.leaks.take(value);
        }
        for used in uses {
            let (hosts, value) = all.get(&used.name).ok_or_else(|| {
                ErrorBody::new(ErrorCode::Secret, format!("the broker gave no secret `{}`", used.name))
            })?;
            let (text, state, hosts) = match keys.placeholders.get(&used.name) {
                Some(placeholder) if !used.expose => {
                    (placeholder.as_str().to_owned(), SecretState::Placeholder, hosts.clone())
                }
                _ => (exposed(&used.name, value)?, SecretState::Exposed, Vec::new()),
            };
            keys.variables.0.insert(used.variable.clone(), text);
            let SecretUse { name, variable, .. } = used.clone();
            keys.infos.push(SecretInfo { name, variable, state, hosts });
        }
        Ok(keys)
    }
}

/// The value as an environment can hold it.
fn exposed(name: &SecretName, value: &Plaintext) -> Result<String, ErrorBody> {
    let text = std::str::from_utf8(value.expose()).ok().filter(|text| !text.contains('\0'));
    text.map(str::to_owned).ok_or_else(|| {
        ErrorBody::new(
            ErrorCode::Secret,
            format!("the secret `{name}` is no text, which a variable has to be"),
        )
    })
}

/// Goes on listening to the broker: a new value reaches the next request, one that is gone is cut.
pub(crate) async fn follow(cell: Rc<Cell>, link: Link) {
    let lost = listen(&cell, link).await;
    let text = format!("{lost}; the cell goes on with the values it has, and hears of no change any more");
    cell.log_line(LogMark::Fumehood, &text);
    cell.events.push(EventKind::SecretsUnwatched { detail: lost.to_string() });
}

async fn listen(cell: &Rc<Cell>, mut link: Link) -> LinkError {
    let watched = match link.as_fd().try_clone_to_owned().and_then(sys::watch) {
        Ok(watched) => watched,
        Err(error) => return LinkError::Io(error),
    };
    loop {
        loop {
            match link.try_next() {
                Ok(Some(notice)) => take_notice(cell, notice).await,
                Ok(None) => break,
                Err(error) => return error,
            }
        }
        match watched.readable().await {
            Ok(mut ready) => ready.clear_ready(),
            Err(error) => return LinkError::Io(error),
        }
    }
}

async fn take_notice(cell: &Rc<Cell>, notice: Notice) {
    let name = match &notice {
        Notice::Given(granted) => granted.name.clone(),
        Notice::Taken(name) => name.clone(),
    };
    let states: Vec<SecretState> = {
        let state = cell.state.borrow();
        state.secrets.iter().filter(|info| info.name == name).map(|info| info.state).collect()
    };
    if states.contains(&SecretState::Exposed) {
        // What a program has in its environment nobody takes back.
        let text = format!(
            "the secret `{name}` was changed; the cell was given the former value itself and keeps it"
        );
        cell.log_line(LogMark::Fumehood, &text);
    }
    if !states.iter().any(|state| *state != SecretState::Exposed) {
        return;
    }
    let (change, hosts) = match notice {
        Notice::Given(granted) => {
            let hosts = granted.binding.hosts.clone();
            match renewed(cell, granted).await {
                Ok(()) => (SecretChange::Renewed, hosts),
                // The former value may be the reason of the change: nothing is better than that.
                Err(error) => {
                    let text = format!("{error}, so it was taken from the cell; {}", error.hint());
                    cell.log_line(LogMark::Fumehood, &text);
                    withdraw(cell, &name).await;
                    (SecretChange::Removed, Vec::new())
                }
            }
        }
        Notice::Taken(name) => {
            withdraw(cell, &name).await;
            (SecretChange::Removed, Vec::new())
        }
    };
    let now = match change {
        SecretChange::Renewed => SecretState::Placeholder,
        SecretChange::Removed => SecretState::Removed,
    };
    for info in cell.state.borrow_mut().secrets.iter_mut().filter(|info| info.name == name) {
        if info.state != SecretState::Exposed {
            info.state = now;
            info.hosts.clone_from(&hosts);
        }
    }
    let what = match change {
        SecretChange::Renewed => "has a new value or binding, which holds from the next request on",
        SecretChange::Removed => "was taken from the cell, and what used it was cut",
    };
    cell.log_line(LogMark::Fumehood, &format!("the secret `{name}` {what}"));
    cell.events.push(EventKind::SecretChanged { secret: name, change });
}

/// The value is another one, what stands for it inside stays the same.
async fn renewed(cell: &Cell, granted: Granted) -> Result<(), KeyError> {
    let Granted { name, binding, value } = granted;
    let value = Arc::new(value);
    let placeholders = cell.state.borrow().placeholders.clone();
    let placeholder = placeholders.get(&name).cloned().unwrap_or_else(|| Placeholder::for_value(&value));
    let key = Key::new(name, binding, value, placeholder)?;
    network::change_keys(cell, |ring| ring.with(key)).await
}

async fn withdraw(cell: &Cell, name: &SecretName) {
    let without = |ring: &Keyring| Ok::<_, std::convert::Infallible>(ring.without(name));
    let Ok(()) = network::change_keys(cell, without).await;
}

fn no_key(error: &KeyError) -> ErrorBody {
    ErrorBody::new(ErrorCode::Secret, error.to_string()).hint(error.hint())
}

fn not_given(error: &LinkError) -> ErrorBody {
    let code = match error {
        LinkError::Refused { is_missing: true, .. } => ErrorCode::SecretMissing,
        _ => ErrorCode::Secret,
    };
    ErrorBody::new(code, error.to_string()).hint(error.hint())
}

fn internal(message: &str) -> ErrorBody {
    ErrorBody::new(ErrorCode::Internal, message)
}

#[cfg(test)]
mod tests;
