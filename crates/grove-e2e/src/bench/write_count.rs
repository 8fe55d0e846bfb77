//! How often one client wrote, by the API server's audit log.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use anyhow::{Result, bail};

use crate::cluster::{Cluster, Write};

/// How long the log may lag behind. The server writes it in the goroutine of the request, but after the answer.
const LAG: Duration = Duration::from_secs(10);

/// Writes of a client by verb and resource, such as `create pods`. Leases are its heartbeat and do not count.
pub(super) fn by_verb_and_resource(writes: &[Write], user_agent: &str) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    let is_theirs = |it: &&Write| it.user_agent.starts_with(user_agent) && it.resource != "leases";
    for write in writes.iter().filter(is_theirs) {
        *counts.entry(write.what()).or_default() += 1;
    }
    counts
}

/// The writes of a client, which have to be `expected`: the loop wrote what we say it writes, and the log has all of it.
pub(super) async fn exactly(
    cluster: &Cluster,
    user_agent: &str,
    expected: &BTreeMap<String, usize>,
) -> Result<BTreeMap<String, usize>> {
    let started = Instant::now();
    loop {
        let counts = by_verb_and_resource(&cluster.writes()?, user_agent);
        if counts == *expected {
            return Ok(counts);
        }
        if started.elapsed() > LAG {
            bail!("the audit log has other writes than those expected: {counts:?}, not {expected:?}");
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_writes_and_no_leases() {
        let write = |verb: &str, resource: &str, user_agent: &str| Write {
            verb: verb.to_owned(),
            resource: resource.to_owned(),
            user_agent: user_agent.to_owned(),
            ..Write::default()
        };
        let writes = [
            write("create", "pods", "us"),
            write("create", "pods", "us"),
            write("patch", "pods/status", "us"),
            write("patch", "pods/status", "kwok"),
            write("update", "leases", "us"),
        ];
        let expected = BTreeMap::from([("create pods".to_owned(), 2), ("patch pods/status".to_owned(), 1)]);
        assert_eq!(by_verb_and_resource(&writes, "us"), expected);
    }
}
