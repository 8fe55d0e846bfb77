//! What is going to happen, by time.

use std::{collections::BTreeMap, time::Duration};

use tokio::time::Instant;

/// Things to do. Of two at the same time, the one that was put down first comes first.
pub(super) struct Agenda<T> {
    items: BTreeMap<(Instant, u64), T>,
    count: u64,
}

impl<T> Agenda<T> {
    pub(super) fn new() -> Self {
        Self { items: BTreeMap::new(), count: 0 }
    }

    pub(super) fn after(&mut self, time: Duration, item: T) {
        self.count += 1;
        self.items.insert((Instant::now() + time, self.count), item);
    }

    /// When there is something to do next.
    pub(super) fn next(&self) -> Option<Instant> {
        self.items.keys().next().map(|it| it.0)
    }

    /// What there is to do by now.
    pub(super) fn due(&mut self) -> Option<T> {
        let first = self.items.first_entry()?;
        (first.key().0 <= Instant::now()).then(|| first.remove())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn in_the_order_of_time() {
        let mut agenda = Agenda::new();
        agenda.after(Duration::from_secs(2), "late");
        agenda.after(Duration::from_secs(1), "one");
        agenda.after(Duration::from_secs(1), "two");
        assert_eq!(agenda.due(), None);
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!([agenda.due(), agenda.due(), agenda.due()], [Some("one"), Some("two"), None]);
    }
}
