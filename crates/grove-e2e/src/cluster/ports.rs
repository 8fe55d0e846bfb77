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
    /// Asks the system for ports that nobody has.
    pub(super) fn reserve() -> Result<Self> {
        let [etcd, etcd_peer, api, controller_manager, scheduler, kwok, others @ ..] = free::<10>()?;
        Ok(Self { etcd, etcd_peer, api, controller_manager, scheduler, kwok, others })
    }
}

/// So many ports that nobody has. All are held until all are known, so that no two are equal.
pub(crate) fn free<const COUNT: usize>() -> Result<[u16; COUNT]> {
    let held = (0..COUNT).map(|_| TcpListener::bind("127.0.0.1:0")).collect::<Result<Vec<_>, _>>()?;
    let mut ports = [0; COUNT];
    for (port, listener) in ports.iter_mut().zip(&held) {
        *port = listener.local_addr()?.port();
    }
    Ok(ports)
}
