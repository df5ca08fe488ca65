//! What systemd is told (`sd_notify(3)`). Where nobody has asked for it, nothing is.

use sd_notify::NotifyState;

/// It answers.
pub(crate) fn ready(status: &str) {
    tell(&[NotifyState::Ready, NotifyState::Status(&line(status))]);
}

/// It reads its configuration anew. [`ready`] ends it, whatever came of it.
pub(crate) fn reloading() {
    // Without its time a reload counts as failed (systemd 253 and later), and without the word as none at all.
    if let Ok(now) = NotifyState::monotonic_usec_now() {
        tell(&[NotifyState::Reloading, now]);
    }
}

/// It is about to end.
pub(crate) fn stopping(status: &str) {
    tell(&[NotifyState::Stopping, NotifyState::Status(&line(status))]);
}

fn tell(states: &[NotifyState<'_>]) {
    // Whoever watches us may be gone; that is no reason to stop.
    if let Err(error) = sd_notify::notify(states) {
        tracing::debug!(%error, "whoever watches the service cannot be told");
    }
}

/// Each line of such a message is a word of its own: a line end in a text would begin another one.
fn line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_status_is_one_line() {
        assert_eq!(super::line("two problems\nMAINPID=1\r\n"), "two problems MAINPID=1  ");
    }
}
