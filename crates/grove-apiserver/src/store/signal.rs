//! What open watches wait for.
//!
//! Not a `tokio::sync::watch`: that wakes those who wait in random order, and runs in virtual time are to be repeatable.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;

/// What open watches wait for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Signal {
    /// The current revision.
    pub(crate) revision: u64,
    /// How often all watches were cut.
    pub(crate) cuts: u64,
}

#[derive(Debug, Default)]
struct Shared {
    now: Mutex<Signal>,
    /// Wakes in the order in which they began to wait.
    changed: Notify,
}

/// Changes the signal.
#[derive(Debug, Default)]
pub(super) struct Sender(Arc<Shared>);

impl Sender {
    pub(super) fn modify(&self, change: impl FnOnce(&mut Signal)) {
        change(&mut self.0.now.lock());
        self.0.changed.notify_waiters();
    }

    /// One who waits, and knows the signal as it is.
    pub(super) fn subscribe(&self) -> Receiver {
        let seen = *self.0.now.lock();
        Receiver { shared: Arc::clone(&self.0), seen }
    }
}

/// Waits for the signal to change.
#[derive(Debug)]
pub(crate) struct Receiver {
    shared: Arc<Shared>,
    /// As it was looked at last.
    seen: Signal,
}

impl Receiver {
    /// The signal as it is. From now on only later changes are waited for.
    pub(crate) fn look(&mut self) -> Signal {
        self.seen = *self.shared.now.lock();
        self.seen
    }

    /// Waits until the signal is another than it was when it was looked at.
    pub(crate) async fn changed(&mut self) {
        let seen = self.seen;
        self.wait_for(|it| *it != seen).await;
    }

    /// Waits until the signal is as wanted.
    pub(crate) async fn wait_for(&mut self, is_wanted: impl Fn(&Signal) -> bool) {
        loop {
            let mut woken = std::pin::pin!(self.shared.changed.notified());
            // Registered before looking, so that no change goes unnoticed in between.
            woken.as_mut().enable();
            let now = *self.shared.now.lock();
            if is_wanted(&now) {
                self.seen = now;
                return;
            }
            woken.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    #[test]
    fn a_change_is_noticed_also_if_nobody_waited() {
        let sender = Sender::default();
        let mut receiver = sender.subscribe();
        assert_eq!(receiver.changed().now_or_never(), None);
        sender.modify(|it| it.revision = 2);
        assert_eq!(receiver.changed().now_or_never(), Some(()));
        assert_eq!(receiver.changed().now_or_never(), None, "it knows that one");
        assert_eq!(receiver.wait_for(|it| it.revision >= 2).now_or_never(), Some(()));
        sender.modify(|it| it.cuts += 1);
        assert_eq!(receiver.look(), Signal { revision: 2, cuts: 1 });
        assert_eq!(receiver.changed().now_or_never(), None);
    }

    #[tokio::test]
    async fn those_who_wait_wake_in_the_order_in_which_they_began() {
        let sender = Sender::default();
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..20 {
            let (mut receiver, order) = (sender.subscribe(), Arc::clone(&order));
            tasks.spawn(async move {
                receiver.changed().await;
                order.lock().push(number);
            });
        }
        tokio::task::yield_now().await;
        sender.modify(|it| it.revision = 2);
        while tasks.join_next().await.is_some() {}
        assert_eq!(*order.lock(), (0..20).collect::<Vec<_>>());
    }
}
