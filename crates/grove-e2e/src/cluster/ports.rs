//! Free loopback ports.

use std::{
    net::{Ipv4Addr, TcpListener},
    ops::Range,
    sync::atomic::{AtomicU16, Ordering},
};

use anyhow::{Context as _, Result};

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
    /// Chooses ports that nobody has.
    pub(super) fn reserve() -> Result<Self> {
        let [etcd, etcd_peer, api, controller_manager, scheduler, kwok, others @ ..] = free::<10>()?;
        Ok(Self { etcd, etcd_peer, api, controller_manager, scheduler, kwok, others })
    }
}

/// Below what systems give to whoever asks for any port: nobody who connects or listens is given one of these between our
/// choice and the start of the program that it is for.
const RANGE: Range<u16> = 12_000..32_000;

/// The place of the next port in the range. No port is given out twice before all others were.
static NEXT: AtomicU16 = AtomicU16::new(0);

/// So many ports that nobody has.
pub(crate) fn free<const COUNT: usize>() -> Result<[u16; COUNT]> {
    let mut found = RANGE.filter_map(|_| {
        let port = port_at(std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok().then_some(port)
    });
    let mut ports = [0; COUNT];
    for port in &mut ports {
        *port = found.next().with_context(|| format!("no port of {RANGE:?} is free"))?;
    }
    Ok(ports)
}

/// Processes that were started one after the other begin far from each other.
fn port_at(process: u32, place: u16) -> u16 {
    let count = u32::from(RANGE.end - RANGE.start);
    let place = (process % count * 7919 + u32::from(place)) % count;
    RANGE.start + u16::try_from(place).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_is_taken_is_passed_over_and_none_is_given_twice() {
        let [first] = free().unwrap();
        let place = NEXT.load(Ordering::Relaxed);
        let taken = port_at(std::process::id(), place);
        let _held = TcpListener::bind((Ipv4Addr::LOCALHOST, taken)).unwrap();
        let others = free::<20>().unwrap();
        assert!(!others.contains(&taken) && !others.contains(&first), "{first}, {taken}: {others:?}");
        assert!(others.iter().all(|it| RANGE.contains(it)), "{others:?}");
    }

    #[test]
    fn every_port_has_a_place_whoever_asks() {
        let count = RANGE.end - RANGE.start;
        for process in [1, 19_999, 4_194_304] {
            let mut all: Vec<u16> = (0..count).map(|it| port_at(process, it)).collect();
            all.sort_unstable();
            assert!(all.into_iter().eq(RANGE), "{process}");
        }
        assert!(port_at(100, 0).abs_diff(port_at(101, 0)) > 1000);
    }
}
