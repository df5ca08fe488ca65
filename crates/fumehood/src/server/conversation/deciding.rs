//! What a person decides while a session goes on, and what one is told.

use store::Pending;

use super::Talk;
use crate::{
    attend,
    server::{
        preparing,
        standing::{Standing, told, trust},
    },
    terminal,
};

impl Talk {
    /// A person hears of it, and it is kept until one has decided.
    pub(super) fn changed(
        &mut self,
        now: Result<tools::surface::Surface, String>,
        whole: bool,
    ) -> anyhow::Result<()> {
        let name = &self.target.name;
        let what = match &now {
            Ok(_) if whole => {
                "it offers something else than what was accepted, and was not let in".to_owned()
            }
            Ok(_) => "it has changed while it ran; what has changed is held".to_owned(),
            Err(error) => format!("what it offers cannot be compared with what was accepted: {error}"),
        };
        terminal::say(&format!("{name}: {what}"));
        terminal::say(&format!("help: `fumehood review {name}` shows the difference, and asks what to do"));
        if let Ok(surface) = now {
            let seen = humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string();
            let pending = Pending {
                fingerprint: surface.fingerprint().to_string(),
                surface: surface.value().clone(),
                first_seen: seen.clone(),
                last_seen: seen,
            };
            trust(&self.folders).set_pending(&self.target.lock.key(name), &pending).map_err(told)?;
        }
        self.changed = true;
        if whole {
            self.end_cell(attend::HURRIED);
        }
        Ok(())
    }

    /// Whether a person has decided meanwhile.
    pub(super) fn look(&mut self) {
        if self.background.is_some() || self.running.is_some() {
            return;
        }
        let standing = match Standing::of(&self.target, &self.folders) {
            Ok(standing) => standing,
            // Half a file, or one that a person has to mend.
            Err(error) => {
                self.log(format!("{error:#}"));
                return;
            }
        };
        if let Standing::Ready(entry) = standing {
            if self.front.is_closed() {
                self.walks.accept(&self.target, &entry.surface);
                self.front.accept(entry.surface.clone(), entry.pinned.client.clone());
                self.front.show(self.walks.shown());
            }
            match preparing::start_accepted(&self.target, &self.folders, &entry) {
                Ok(start) => self.begin(start),
                Err(error) => self.front.gone(&format!("{error:#}")),
            }
        } else {
            self.tell_standing(&standing);
        }
    }

    /// The installation and the reading have ended, well or not.
    pub(super) fn prepared(&mut self) {
        let Some(background) = self.background.take() else { return };
        match background.outcome() {
            Ok(()) => match Standing::of(&self.target, &self.folders) {
                Ok(standing) => {
                    if let Some(reason) = standing.reason() {
                        let remedy = standing.remedy(&self.target);
                        terminal::say(&format!("{}: installed and read; {reason}", self.target.name));
                        terminal::say(&format!("help: `{remedy}` in a terminal; the client waits"));
                    }
                    self.tell_standing(&standing);
                }
                Err(error) => terminal::say(&format!("{error:#}")),
            },
            Err(error) => {
                terminal::say(&format!("{}: {error}", self.target.name));
                let reason = format!("it could not be made ready ({error})");
                let remedy = crate::server::again(&self.target);
                terminal::say(&format!("help: `{remedy}` in a terminal shows more"));
                self.front.notice(crate::server::notice(&self.target, reason, remedy));
            }
        }
    }

    fn tell_standing(&mut self, standing: &Standing) {
        if let Some(reason) = standing.reason() {
            let notice = crate::server::notice(&self.target, reason, standing.remedy(&self.target));
            if self.front.is_closed() {
                self.front.notice(notice);
            } else {
                // It was accepted when the session began, and is not any more: nobody waits for it in vain.
                self.front.close(notice);
            }
        }
    }
}
