//! A value over time.

use std::collections::VecDeque;

use tokio::time::Instant;

/// The values that something had, and since when.
#[derive(Clone, Debug)]
pub(crate) struct Track<T>(VecDeque<(Instant, T)>);

impl<T: Clone + PartialEq> Track<T> {
    /// It begins now.
    pub(crate) fn new(value: T) -> Self {
        Self([(Instant::now(), value)].into())
    }

    /// It begins when it is set first.
    pub(crate) fn unknown() -> Self {
        Self(VecDeque::new())
    }

    /// It has this value from now on.
    pub(crate) fn set(&mut self, value: T) {
        if self.0.back().is_none_or(|it| it.1 != value) {
            self.0.push_back((Instant::now(), value));
        }
    }

    /// The value that it has now.
    pub(crate) fn now(&self) -> Option<&T> {
        self.0.back().map(|it| &it.1)
    }

    /// The values that it had at any time since `start`.
    pub(crate) fn since(&self, start: Instant) -> impl Iterator<Item = &T> {
        // The value at the start counts, too: the last one that began before it.
        let older = self.0.iter().take_while(|it| it.0 <= start).count();
        self.0.iter().skip(older.saturating_sub(1)).map(|it| &it.1)
    }

    /// The value that it had then; none before it began.
    pub(crate) fn at(&self, time: Instant) -> Option<&T> {
        self.0.iter().rev().find(|it| it.0 <= time).map(|it| &it.1)
    }

    /// Since when it has the value that it has now.
    pub(crate) fn changed(&self) -> Option<Instant> {
        self.0.back().map(|it| it.0)
    }

    /// When it changed, its beginning among them.
    pub(crate) fn times(&self) -> impl Iterator<Item = Instant> {
        self.0.iter().map(|it| it.0)
    }

    /// Whether it ever had such a value.
    pub(crate) fn ever(&self, test: impl Fn(&T) -> bool) -> bool {
        self.0.iter().any(|it| test(&it.1))
    }

    /// Whether it had such a value at any time since `start`.
    pub(crate) fn had(&self, start: Instant, test: impl Fn(&T) -> bool) -> bool {
        self.since(start).any(test)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_value_at_the_start_counts() {
        let second = Duration::from_secs(1);
        let mut track = Track::new(1);
        let start = Instant::now();
        for value in [2, 3, 3] {
            tokio::time::sleep(second).await;
            track.set(value);
        }
        let since = |time| track.since(time).copied().collect::<Vec<i32>>();
        assert_eq!(since(start), [1, 2, 3]);
        assert_eq!(since(start + second / 2), [1, 2, 3]);
        assert_eq!(since(start + second), [2, 3]);
        assert_eq!(since(start + second * 9), [3]);
        assert_eq!(track.now(), Some(&3));
        assert_eq!(
            [start, start + second, start + second * 9].map(|it| track.at(it).copied()),
            [Some(1), Some(2), Some(3)]
        );
        assert_eq!(track.at(start.checked_sub(second).unwrap()), None);
        assert_eq!(track.times().count(), 3);
    }
}
