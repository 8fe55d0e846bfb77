//! Which writes were asked for, and how they ended. For tests and for people who wonder.

use std::collections::VecDeque;

/// One write that somebody asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteRecord {
    /// `create`, `update`, `patch`, `delete` or `deletecollection`.
    pub verb: &'static str,
    /// The id of the resource, such as `podcliques.grove.io`.
    pub resource: String,
    /// The namespace; empty for objects of the whole cluster.
    pub namespace: String,
    /// The name; for a created object the one that it got, for a collection none.
    pub name: String,
    /// The subresource, such as `status`.
    pub subresource: Option<&'static str>,
    /// Who wrote: the field manager, or else the program of the User-Agent.
    pub manager: String,
    /// The HTTP status of the result. A write whose answer was lost has the status that nobody saw.
    pub code: u16,
    /// The revision after the write, if it changed anything.
    pub revision: Option<u64>,
}

#[derive(Debug)]
pub(super) struct Log {
    capacity: usize,
    total: u64,
    records: VecDeque<WriteRecord>,
}

impl Log {
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, total: 0, records: VecDeque::new() }
    }

    pub(super) fn push(&mut self, record: WriteRecord) {
        self.total += 1;
        self.records.push_back(record);
        if self.records.len() > self.capacity {
            self.records.pop_front();
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &WriteRecord> {
        self.records.iter()
    }

    /// Those after the first `count` of all, as far as they are remembered.
    pub(super) fn since(&self, count: u64) -> impl Iterator<Item = &WriteRecord> {
        let new = usize::try_from(self.total.saturating_sub(count)).unwrap_or(usize::MAX);
        self.records.range(self.records.len().saturating_sub(new)..)
    }

    pub(super) fn total(&self) -> u64 {
        self.total
    }
}
