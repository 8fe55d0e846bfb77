//! Addresses of nodes and pods: the next one that nobody has.

use std::{
    net::Ipv4Addr,
    sync::atomic::{AtomicU32, Ordering},
};

/// Networks of pods and of nodes: the first address and how many there are.
const PODS: (u32, u32) = (u32::from_be_bytes([10, 64, 0, 0]), 1 << 22);
const NODES: (u32, u32) = (u32::from_be_bytes([172, 16, 0, 0]), 1 << 20);

/// Hands out addresses.
#[derive(Debug, Default)]
pub(super) struct Addresses {
    pods: AtomicU32,
    nodes: AtomicU32,
}

impl Addresses {
    pub(super) fn next_pod(&self, is_used: impl Fn(&str) -> bool) -> String {
        next(&self.pods, PODS, is_used)
    }

    pub(super) fn next_node(&self, is_used: impl Fn(&str) -> bool) -> String {
        next(&self.nodes, NODES, is_used)
    }
}

/// The counter runs through the network, so that an address is not used again soon. After a restart it begins anew, and passes over
/// those in use once.
fn next(counter: &AtomicU32, (first, count): (u32, u32), is_used: impl Fn(&str) -> bool) -> String {
    let mut address = String::new();
    for _ in 0..count {
        let number = counter.fetch_add(1, Ordering::Relaxed) % count;
        let candidate = Ipv4Addr::from(first + number);
        // Neither the name of a network nor a broadcast address.
        if matches!(candidate.octets()[3], 0 | 255) {
            continue;
        }
        address = candidate.to_string();
        if !is_used(&address) {
            break;
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_in_use_are_passed_over() {
        let addresses = Addresses::default();
        let used = ["10.64.0.1", "10.64.0.2"];
        assert_eq!(addresses.next_pod(|it| used.contains(&it)), "10.64.0.3");
        assert_eq!(addresses.next_pod(|_| false), "10.64.0.4");
        assert_eq!(addresses.next_node(|_| false), "172.16.0.1");
        for _ in 4..254 {
            addresses.next_pod(|_| false);
        }
        assert_eq!(addresses.next_pod(|_| false), "10.64.1.1");
    }
}
