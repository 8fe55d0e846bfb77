//! Free loopback ports.

use std::net::TcpListener;

use anyhow::Result;

/// The ports of one cluster.
pub(super) struct Ports {
    pub(super) etcd: u16,
    pub(super) etcd_peer: u16,
    pub(super) api: u16,
    pub(super) controller_manager: u16,
    pub(super) scheduler: u16,
    pub(super) kwok: u16,
    /// For a second scheduler and its helpers.
    pub(super) others: [u16; 4],
}

impl Ports {
    /// Asks the system for ports that nobody has. All are held until all are known, so that no two are equal.
    pub(super) fn reserve() -> Result<Self> {
        let held = (0..10).map(|_| TcpListener::bind("127.0.0.1:0")).collect::<Result<Vec<_>, _>>()?;
        let mut ports = held.iter().map(|it| it.local_addr().map(|it| it.port()));
        let mut next = || ports.next().unwrap_or(Ok(0));
        Ok(Self {
            etcd: next()?,
            etcd_peer: next()?,
            api: next()?,
            controller_manager: next()?,
            scheduler: next()?,
            kwok: next()?,
            others: [next()?, next()?, next()?, next()?],
        })
    }
}
