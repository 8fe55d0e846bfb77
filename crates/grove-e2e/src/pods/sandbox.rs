//! The network of a pod: a namespace of its own, with one cable to the machine. It outlives the containers in it.

use std::{
    collections::BTreeMap,
    net::Ipv4Addr,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use tokio::{net::TcpListener, sync::OnceCell};

use super::container::tool;
use crate::cluster::{Cluster, Command, Forwarder, GATEWAY, Process, Reaper, free_ports, last_words, server};

/// How long the setup of a network may take.
const DEADLINE: Duration = Duration::from_secs(30);
/// Addresses of one harness.
const PER_PROCESS: u32 = 1 << 10;
/// So many of them fit into 10.128.0.0/9.
const PROCESSES: u32 = 1 << 13;

/// Numbers that were given to networks: of all clusters of this process.
static GIVEN: AtomicU32 = AtomicU32::new(1);

/// Networks of pods, and the way from them to the API server.
pub(super) struct Network {
    port: u16,
    server: String,
    /// Opened with the first pod: the gateway's address comes and goes with pods.
    gateway: OnceCell<Forwarder>,
}

/// A network that is up.
pub(super) struct Sandbox {
    pub(super) process: Process,
    pub(super) address: Ipv4Addr,
}

impl Network {
    pub(super) fn new(cluster: &Cluster) -> Result<Self> {
        let ([port], server) = (free_ports()?, server(&cluster.kubeconfig)?);
        Ok(Self { port, server, gateway: OnceCell::new() })
    }

    /// Where pods find the API server.
    pub(super) fn server(&self) -> (Ipv4Addr, u16) {
        (GATEWAY, self.port)
    }

    /// Makes a network and waits until it is up.
    pub(super) async fn open(&self, reaper: Arc<Reaper>, scripts: &Path, files: &Path) -> Result<Sandbox> {
        let number = number(std::process::id(), GIVEN.fetch_add(1, Ordering::Relaxed));
        let address = address(number);
        let (ready, log) = (files.join("network-is-up"), files.join("network.log"));
        let words = [
            "--net".to_owned(),
            "sh".to_owned(),
            scripts.join("sandbox.sh").display().to_string(),
            std::process::id().to_string(),
            // Names of interfaces have 15 characters at most.
            format!("grove{number:x}"),
            address.to_string(),
            GATEWAY.to_string(),
            ready.display().to_string(),
        ];
        let command = Command {
            name: format!("network {address}"),
            program: PathBuf::from(tool("unshare")?),
            arguments: words.to_vec(),
            environment: BTreeMap::new(),
            folder: files.to_owned(),
            log: log.clone(),
        };
        // An order to the reaper is not given up half-way: its answer would be taken for that of the next.
        let orders = Arc::clone(&reaper);
        let process = tokio::spawn(async move { orders.spawn(command).await }).await??;
        let up = async {
            while !ready.exists() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::select! {
            () = up => {}
            code = reaper.ended(&process) => bail!("the pod gets no network ({:?}):{}", code?, last_words(&log)),
            () = tokio::time::sleep(DEADLINE) => bail!("the pod gets no network within {DEADLINE:?}:{}", last_words(&log)),
        }
        self.gateway
            .get_or_try_init(|| async {
                let listener = TcpListener::bind((GATEWAY, self.port)).await?;
                Ok::<_, std::io::Error>(Forwarder::start(listener, self.server.clone()))
            })
            .await
            .with_context(|| format!("cannot listen on {GATEWAY}"))?;
        Ok(Sandbox { process, address })
    }
}

/// Harnesses that run at the same time have different ones.
fn number(process: u32, given: u32) -> u32 {
    process % PROCESSES * PER_PROCESS + given % PER_PROCESS
}

/// Not a loopback address, which the API server takes for no pod.
fn address(number: u32) -> Ipv4Addr {
    Ipv4Addr::from(u32::from(Ipv4Addr::new(10, 128, 0, 0)) + number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_names_of_cables_differ_and_fit() {
        assert_eq!(address(number(1, 5)), Ipv4Addr::new(10, 128, 4, 5));
        let last = number(PROCESSES - 1, PER_PROCESS - 1);
        assert_eq!(address(last), Ipv4Addr::new(10, 255, 255, 255));
        assert!(format!("grove{last:x}").len() <= 15);
        assert_ne!(number(PROCESSES + 7, 1), number(8, 1));
    }
}
