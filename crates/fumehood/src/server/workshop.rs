//! Cells for installing packages, as `packages` wants them.

use std::path::PathBuf;

use cell::folders::Folders;
use cell_api::{info::End, order::StderrMode, spec::CellSpec};
use model::{exit::Exit, mount::Data};
use packages::{Done, Workshop, WorkshopError};

use super::attachment::{Attachment, Heard, Said};
use crate::{session::Session, stop::Stop};

/// Builds them as every other cell: by a supervisor of its own.
#[derive(Debug, Clone)]
pub(crate) struct Cells {
    /// Where cells lie.
    pub(crate) folders: Folders,
}

impl Workshop for Cells {
    async fn run(
        &self,
        spec: CellSpec,
        heard: &mut dyn FnMut(packages::workshop::Heard<'_>),
    ) -> Result<Done, WorkshopError> {
        let session = Session::begin(self.folders.clone(), &spec).await.map_err(|error| failed(&error))?;
        let outcome = listen(&session, heard).await;
        session.finish().await;
        outcome
    }

    fn data_folder(&self, data: &Data) -> PathBuf {
        self.folders.data(&data.name)
    }
}

async fn listen(
    session: &Session,
    heard: &mut dyn FnMut(packages::workshop::Heard<'_>),
) -> Result<Done, WorkshopError> {
    let attached = session.attach(StderrMode::True).await.map_err(|error| failed(&error))?;
    let mut attachment = Attachment::begin(attached);
    // A process that is gone already has no stdin.
    attachment.say.send(Said::End).await.ok();
    loop {
        match attachment.heard.recv().await {
            Some(Heard::Stdout(bytes)) => heard(packages::workshop::Heard::Stdout(&bytes)),
            Some(Heard::Stderr(bytes)) => heard(packages::workshop::Heard::Stderr(&bytes)),
            Some(Heard::Ended(end)) => return Ok(done(&end)),
            Some(Heard::Broken(_) | Heard::Lost) | None => {
                let message = "the supervisor of the cell died".to_owned();
                return Err(WorkshopError { message, hint: Some("try again".to_owned()) });
            }
        }
    }
}

fn done(end: &End) -> Done {
    let code = match end.exit {
        Some(Exit::Code(code)) => Some(code),
        _ => None,
    };
    Done { code, end: end.detail.clone() }
}

fn failed(error: &anyhow::Error) -> WorkshopError {
    let hint = error.downcast_ref::<Stop>().map(Stop::hint).filter(|hint| !hint.is_empty());
    WorkshopError { message: format!("{error:#}"), hint: hint.map(str::to_owned) }
}
