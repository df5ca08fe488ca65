//! From a declared server to a cell that can be spoken to.

use std::sync::Arc;

use access::principal::Principal;
use cell::folders::Folders;
use cell_api::{
    error::{ErrorBody, ErrorCode},
    order::{EndOrder, StderrMode},
    spec::CellSpec,
};
use gateway::pool::{CellKey, Holder, StartError};
use model::{
    config::Transport,
    secret::{Per, SecretUse},
};
use secrets::vault::UserKey;

use super::holding;
use crate::{
    guard,
    server::{
        attachment::Attachment,
        preparing::{self, Starting},
        speaking,
        standing::Standing,
        target::{Source, Target},
    },
    session::Session,
    stop::Stop,
};

/// A cell that has just begun.
pub(super) struct Started {
    pub(super) session: Session,
    pub(super) attachment: Attachment,
    /// No collection takes it away while this is held.
    pub(super) package: Option<Arc<packages::Package>>,
    /// How it is ended.
    pub(super) end: EndOrder,
    /// It has a session that is ended before it is.
    pub(super) has_session: bool,
    /// Messages go over HTTP, and may be of any revision.
    pub(super) speaks_http: bool,
    pub(super) spec: CellSpec,
}

/// Looks anew at what was accepted, and starts it.
pub(super) async fn start(
    folders: &Folders,
    target: Option<Target>,
    key: &CellKey,
    who: Option<&Principal>,
) -> Result<Started, StartError> {
    let target = target.ok_or_else(|| StartError {
        code: "FH-SERVER-WITHHELD",
        reason: format!("no server `{}` is declared any more", key.server),
        is_final: true,
    })?;
    let user = user_of(&target, key, who)?;
    let speaks_http =
        matches!(target.transport, Transport::Http { .. }) || matches!(target.source, Source::Remote { .. });
    let looked_at = (target.clone(), folders.clone());
    // Files are read, of the package each one at its first use.
    let looking = tokio::task::spawn_blocking(move || accepted(&looked_at.0, &looked_at.1));
    let (mut spec, package) = looking.await.map_err(|error| failed(error.into(), who))??;
    holding::belong(&mut spec, &key.whose).map_err(|error| failed(error, who))?;
    let started = async {
        let session = begin(folders, &spec, user.as_ref(), package.clone()).await?;
        match speaking::begin(&session, target.transport, StderrMode::False).await {
            Ok(attachment) => anyhow::Ok((session, attachment)),
            Err(error) => {
                session.finish().await;
                Err(error)
            }
        }
    };
    let (session, attachment) = started.await.map_err(|error| failed(error, who))?;
    let has_session = matches!(target.transport, Transport::Http { .. });
    let end = speaking::ending(target.transport, EndOrder::default());
    Ok(Started { session, attachment, package, end, has_session, speaks_http, spec })
}

/// The user whose cell it is, where it is one's. A cell of several has no secret that is one's own.
fn user_of(target: &Target, key: &CellKey, who: Option<&Principal>) -> Result<Option<UserKey>, StartError> {
    let wrong = |code, reason: String| StartError { code, reason, is_final: true };
    let Holder::User(held) = &key.whose else {
        let own = |one: &&SecretUse| one.per == Per::User && !guard::off("per-user-secret");
        return match target.spec.secrets.iter().find(own) {
            None => Ok(None),
            Some(secret) => Err(wrong(
                "FH-SECRET-MISSING",
                format!(
                    "the secret `{}` is each user's own, and the cell is not one user's; write `cell = \"user\"`",
                    secret.name
                ),
            )),
        };
    };
    if who.is_none_or(|who| who.key() != *held) {
        return Err(wrong(
            "FH-SERVER-ENDED",
            "the cell would be another user's than the caller's".to_owned(),
        ));
    }
    UserKey::new(held.clone()).map(Some).map_err(|error| wrong("FH-SERVER-ENDED", error.to_string()))
}

/// The cell of the server as it was accepted.
fn accepted(target: &Target, folders: &Folders) -> Result<Starting, StartError> {
    let standing = Standing::of(target, folders).map_err(|error| failed(error, None))?;
    let Standing::Ready(entry) = &standing else {
        let reason = standing.reason().unwrap_or_default();
        return Err(StartError {
            code: "FH-SERVER-WITHHELD",
            reason: format!("{reason}; `{}`", standing.remedy(target)),
            is_final: true,
        });
    };
    preparing::start_accepted(target, folders, entry).map_err(|error| failed(error, None))
}

async fn begin(
    folders: &Folders,
    spec: &CellSpec,
    user: Option<&UserKey>,
    package: Option<Arc<packages::Package>>,
) -> anyhow::Result<Session> {
    let swept = folders.clone();
    tokio::task::spawn_blocking(move || crate::places::sweep(&swept, false)).await?;
    // While the supervisor gets ready, every file is looked at; nothing runs before that has gone well.
    let whole = package.map(|package| tokio::task::spawn_blocking(move || preparing::verify(&package)));
    let ready = async {
        match whole {
            Some(whole) => whole.await?,
            None => Ok(()),
        }
    };
    Session::begin_when(folders.clone(), spec, user, ready).await
}

/// Why it was not started, in words for whoever called.
fn failed(error: anyhow::Error, who: Option<&Principal>) -> StartError {
    let stop = match error.downcast::<Stop>() {
        Ok(stop) => stop,
        Err(error) => {
            let reason = format!("it could not be started: {error:#}");
            return StartError { code: "FH-SERVER-ENDED", reason, is_final: false };
        }
    };
    match stop.into_refusal() {
        Ok(ErrorBody { code: ErrorCode::SecretMissing, message, hint, .. }) => {
            // Whoever is missing one is told how exactly it is kept.
            let hint = match who {
                Some(who) => hint.replace("'ISSUER|SUBJECT'", &user_words(who)),
                None => hint,
            };
            StartError { code: "FH-SECRET-MISSING", reason: advised(&message, &hint), is_final: true }
        }
        Ok(ErrorBody { code, message, hint, .. }) => {
            let is_final = matches!(
                code,
                ErrorCode::Spec
                    | ErrorCode::Mount
                    | ErrorCode::Command
                    | ErrorCode::Wall
                    | ErrorCode::Required
                    | ErrorCode::Secret
            );
            StartError { code: code.as_str(), reason: advised(&message, &hint), is_final }
        }
        Err(stop) => StartError {
            code: "FH-SERVER-ENDED",
            reason: advised(&stop.to_string(), stop.hint()),
            is_final: false,
        },
    }
}

fn user_words(who: &Principal) -> String {
    let word = egress::refusal::remedy::shell_word;
    let user = word(&format!("{}|{}", who.issuer(), who.subject()));
    match who.tenant() {
        Some(tenant) => format!("{user} --tenant {}", word(tenant)),
        None => user,
    }
}

fn advised(message: &str, hint: &str) -> String {
    if hint.is_empty() { message.to_owned() } else { format!("{message}; {hint}") }
}
