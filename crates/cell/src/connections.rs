//! Who is connected, and how long nobody has been.

use std::{cell::Cell as Slot, rc::Rc, time::Duration};

use tokio::sync::Notify;

/// Counts connections.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    count: Slot<usize>,
    changed: Notify,
}

/// One of them; dropping it ends it.
#[derive(Debug)]
pub(crate) struct Here(Rc<Connections>);

impl Connections {
    /// Somebody came.
    pub(crate) fn enter(self: &Rc<Self>) -> Here {
        self.count.set(self.count.get() + 1);
        self.changed.notify_waiters();
        Here(Rc::clone(self))
    }

    /// Waits until nobody is connected.
    pub(crate) async fn nobody(&self) {
        while self.count.get() > 0 {
            self.changed.notified().await;
        }
    }

    /// Waits until nobody has been connected for so long.
    pub(crate) async fn nobody_for(&self, patience: Duration) {
        loop {
            self.nobody().await;
            tokio::select! {
                () = self.changed.notified() => {}
                () = tokio::time::sleep(patience) => return,
            }
        }
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        self.0.count.set(self.0.count.get().saturating_sub(1));
        self.0.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn a_visit_in_between_starts_the_patience_anew() {
        let connections = Rc::new(Connections::default());
        let begin = tokio::time::Instant::now();
        let visits = async {
            tokio::time::sleep(Duration::from_millis(900)).await;
            let here = connections.enter();
            tokio::time::sleep(Duration::from_secs(5)).await;
            drop(here);
        };
        tokio::join!(connections.nobody_for(Duration::from_secs(1)), visits);
        assert_eq!(begin.elapsed().as_millis(), 6_900);
    }
}
