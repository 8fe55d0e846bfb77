//! A bounded channel whose senders never wait, and in which namespaces take turns.
//!
//! For what is better lost than waited for, as Events are. Where the channel is full, the namespace that has most in it loses its
//! newest item: a tenant that fills it takes no room from another one.

use std::{fmt, sync::Arc};

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::round_robin::RoundRobin;

/// A channel for so many items.
pub fn channel<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let state = State { waiting: RoundRobin::default(), capacity, next_number: 0, is_closed: false };
    let shared = Arc::new(Shared { state: Mutex::new(state), changed: Notify::new() });
    (Sender(Arc::new(Sending(Arc::clone(&shared)))), Receiver(shared))
}

/// Sends. Clones share the channel.
pub struct Sender<T>(Arc<Sending<T>>);

/// Receives. The channel is closed when it is dropped.
pub struct Receiver<T>(Arc<Shared<T>>);

/// Closes the channel with the last sender.
struct Sending<T>(Arc<Shared<T>>);

struct Shared<T> {
    state: Mutex<State<T>>,
    changed: Notify,
}

struct State<T> {
    waiting: RoundRobin<T>,
    capacity: usize,
    next_number: u64,
    is_closed: bool,
}

impl<T> Sender<T> {
    /// Sends an item of a namespace. Whether there was room: else an item was dropped, of this or of another namespace.
    pub fn send(&self, namespace: &str, item: T) -> bool {
        let shared = &self.0.0;
        let mut state = shared.state.lock();
        if state.is_closed {
            return false;
        }
        let number = state.next_number;
        state.next_number += 1;
        state.waiting.push(namespace, number, item);
        let has_room = state.waiting.len() <= state.capacity;
        if !has_room {
            state.waiting.drop_newest_of_largest();
        }
        drop(state);
        shared.changed.notify_one();
        has_room
    }
}

impl<T> Receiver<T> {
    /// The first item of the namespace whose turn it is. `None` when there is none, and no sender any more.
    pub async fn recv(&mut self) -> Option<T> {
        loop {
            {
                let mut state = self.0.state.lock();
                if let Some(item) = state.waiting.pop() {
                    return Some(item);
                }
                if state.is_closed {
                    return None;
                }
            }
            // There is one receiver, for which a notification waits.
            self.0.changed.notified().await;
        }
    }

    /// Drops all that wait.
    pub fn clear(&mut self) {
        self.0.state.lock().waiting = RoundRobin::default();
    }
}

impl<T> Drop for Sending<T> {
    fn drop(&mut self) {
        self.0.state.lock().is_closed = true;
        self.0.changed.notify_one();
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.is_closed = true;
        state.waiting = RoundRobin::default();
    }
}

// Not derived: that would ask `T: Clone`.
impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_namespace_that_fills_the_channel_takes_no_room_from_another() {
        let (sender, mut receiver) = channel(4);
        let answers: Vec<bool> = (0..6).map(|number| sender.send("a", number)).collect();
        assert_eq!(answers, [true, true, true, true, false, false]);
        assert!(!sender.send("b", 100), "an item of the other was dropped");
        assert!(!sender.send("b", 101));
        assert!(!sender.send("b", 102), "now both have the same");
        drop(sender);
        let mut items = Vec::new();
        while let Some(item) = receiver.recv().await {
            items.push(item);
        }
        assert_eq!(items, [0, 100, 1, 101]);
    }

    #[tokio::test]
    async fn a_receiver_waits_and_takes_nothing_that_was_cleared() {
        let (sender, mut receiver) = channel(4);
        sender.send("a", 1);
        receiver.clear();
        let waiting = tokio::spawn(async move { (receiver.recv().await, receiver) });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        assert!(sender.send("a", 2));
        let (item, receiver) = waiting.await.unwrap();
        assert_eq!(item, Some(2));
        drop(receiver);
        assert!(!sender.send("a", 3), "nobody receives it");
    }
}
