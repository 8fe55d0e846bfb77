//! Rules that compare fields with each other. What a single value may be is decided by `keys`.
//!
//! A comparison with a field that is known to be wrong is left out: its value is a stand-in.

use std::net::IpAddr;

use super::{
    findings::Findings,
    types::{OperatorConfiguration, Servers},
};
use crate::{
    field::{Error, Path},
    wire::GoDuration,
};

/// Checks a complete configuration.
pub(super) fn check(config: &OperatorConfiguration, findings: &mut Findings) {
    leader_election(config, findings);
    listeners(config, findings);
    token_file(config, findings);
    node_loss(config, findings);
}

/// Times that count also where the part is off: they are a mistake either way.
fn node_loss(config: &OperatorConfiguration, findings: &mut Findings) {
    let loss = &config.node_loss;
    for (key, text) in [("after", &loss.after), ("replaceUnitAfter", &loss.replace_unit_after)] {
        let path = Path::of(&["nodeLoss", key]);
        if text.nanos().unwrap_or_default() <= 0 && !findings.is_wrong(&path) {
            findings.add(Error::invalid(path, text, "must be greater than 0"));
        }
    }
}

/// A duration of the leader election.
struct Timing<'a> {
    path: Path,
    text: &'a GoDuration,
    nanos: i128,
}

fn leader_election(config: &OperatorConfiguration, findings: &mut Findings) {
    let election = &config.leader_election;
    if !election.enabled {
        return;
    }
    let timing = |key, text| {
        let path = Path::of(&["leaderElection", key]);
        let nanos = GoDuration::nanos(text).unwrap_or_default().into();
        Timing { path, text, nanos }
    };
    let lease = timing("leaseDuration", &election.lease_duration);
    let renew = timing("renewDeadline", &election.renew_deadline);
    let retry = timing("retryPeriod", &election.retry_period);

    let invalid = |it: &Timing<'_>, detail| Error::invalid(it.path.clone(), it.text, detail);
    for timing in [&lease, &renew, &retry] {
        if timing.nanos <= 0 {
            findings.add(invalid(timing, "must be greater than 0"));
        }
    }
    // Others see the lease in whole seconds, and wait for so long.
    let waited = lease.nanos - lease.nanos % 1_000_000_000;
    if waited <= renew.nanos && !findings.is_wrong(&renew.path) {
        let detail = if lease.nanos <= renew.nanos {
            "must be greater than renewDeadline"
        } else {
            "must be greater than renewDeadline when it is cut to whole seconds"
        };
        findings.add(invalid(&lease, detail));
    }
    // A try is put off by up to a fifth of the period, so that candidates do not all try at once.
    if renew.nanos * 5 <= retry.nanos * 6 && !findings.is_wrong(&retry.path) {
        findings.add(invalid(&renew, "must be greater than 1.2 times retryPeriod"));
    }
}

/// The operator may start in any directory.
fn token_file(config: &OperatorConfiguration, findings: &mut Findings) {
    let path = Path::of(&["server", "metrics", "tokenFile"]);
    if let Some(file) = config.server.metrics.token_file.as_deref().filter(|it| !it.starts_with('/')) {
        findings.add(Error::invalid(path, file, "must be an absolute path"));
    }
}

/// An address that the operator listens on.
struct Listener<'a> {
    block: Path,
    address_key: &'static str,
    address: &'a str,
    port_key: &'static str,
    port: u16,
}

fn listeners(config: &OperatorConfiguration, findings: &mut Findings) {
    let server = |key: &str, address, port| {
        let block = Path::of(&["server", key]);
        Listener { block, address_key: "bindAddress", address, port_key: "port", port }
    };
    let Servers { webhooks, health_probes, metrics } = &config.server;
    let mut listeners = vec![
        server("webhooks", webhooks.bind_address.as_str(), webhooks.port),
        server("healthProbes", health_probes.bind_address.as_str(), health_probes.port),
        server("metrics", metrics.bind_address.as_str(), metrics.port),
    ];
    if let Some(debugging) = config.debugging.as_ref().filter(|it| it.enable_profiling) {
        listeners.push(Listener {
            block: Path::of(&["debugging"]),
            address_key: "pprofBindHost",
            address: &debugging.pprof_bind_host,
            port_key: "pprofBindPort",
            port: debugging.pprof_bind_port,
        });
    }
    // One whose address or port is wrong has an error already, and is compared with nothing.
    listeners.retain(|it| {
        [it.address_key, it.port_key].iter().all(|key| !findings.is_wrong(&it.block.child(key)))
    });
    for (position, later) in listeners.iter().enumerate() {
        let taken =
            |earlier: &&Listener<'_>| earlier.port == later.port && overlap(earlier.address, later.address);
        if let Some(earlier) = listeners[..position].iter().find(taken) {
            let detail = format!("{} listens there too", earlier.block);
            findings.add(Error::invalid(later.block.child(later.port_key), later.port, detail));
        }
    }
}

/// Whether two servers on one port would get in each other's way.
fn overlap(left: &str, right: &str) -> bool {
    // That is where the operator listens for this name.
    let [left, right] = [left, right].map(|it| if it == "localhost" { "127.0.0.1" } else { it });
    let everywhere = |address: &str| address.is_empty() || address.parse() == Ok(IpAddr::from([0u16; 8]));
    let every_v4 = |address: &str| address.parse() == Ok(IpAddr::from([0u8; 4]));
    let v6_only = |address: &str| address.parse().is_ok_and(|it: IpAddr| it.is_ipv6());
    left == right
        || everywhere(left)
        || everywhere(right)
        || (every_v4(left) && !v6_only(right))
        || (every_v4(right) && !v6_only(left))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_overlap_as_sockets_do() {
        let cases = [
            ("", "", true),
            ("", "127.0.0.1", true),
            ("::", "127.0.0.1", true),
            ("0.0.0.0", "127.0.0.1", true),
            ("0.0.0.0", "localhost", true),
            ("127.0.0.1", "localhost", true),
            ("::1", "localhost", false),
            ("0.0.0.0", "::1", false),
            ("127.0.0.1", "127.0.0.1", true),
            ("127.0.0.1", "127.0.0.2", false),
            ("::1", "127.0.0.1", false),
        ];
        for (left, right, want) in cases {
            assert_eq!(overlap(left, right), want, "{left} {right}");
            assert_eq!(overlap(right, left), want, "{right} {left}");
        }
    }
}
