//! Grove's operator as a process of a cluster, with its own account: started, stopped, killed and started again.

pub(crate) mod account;
mod balancer;
mod configuration;
mod ledger;

use std::{net::Ipv4Addr, path::PathBuf, sync::Arc, time::Duration};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Resource, Rlimit, Signal, prlimit};

use self::configuration::configuration;
pub use self::{
    balancer::Balancer,
    ledger::{Grant, Ledger},
};
use crate::{
    cluster::{Cluster, Command, Link, Process, Reaper, Scheduler, Write, free_ports},
    plain_http,
};

/// How long it may take until it is ready, and until it has ended.
const DEADLINE: Duration = Duration::from_mins(1);

/// How an operator is run.
#[derive(Clone, Debug)]
pub struct OperatorOptions {
    /// What to call it; its files and its log have this name.
    pub name: String,
    /// The program; none: the one beside ours.
    pub program: Option<PathBuf>,
    /// Whether it asks to lead before it works. One that was killed leads on until its lease has run out.
    pub leader_election: bool,
    /// Lease duration, renew deadline, retry period.
    pub lease: [&'static str; 3],
    /// Whether the API server asks it about sets and topologies. They are refused while it is down.
    pub webhooks: bool,
    /// The port on 127.0.0.1 where the API server asks; none: its own.
    pub webhook_port: Option<u16>,
    /// Whether it protects what it made; needs webhooks.
    pub authorizer: bool,
    /// More arguments of `grove operator`.
    pub arguments: Vec<String>,
    /// Whether placement by topology is on.
    pub topology_aware: bool,
    /// The schedulers it is told of, the default first. None: what it knows by itself.
    pub schedulers: Vec<Scheduler>,
    /// Whether the stock scheduler is told of gangs, where it is listed.
    pub gang_scheduling: bool,
    /// More lines of its configuration.
    pub more: &'static str,
    /// Megabytes of data that it may have; one that wants more ends at once.
    pub memory: Option<u64>,
}

impl Default for OperatorOptions {
    fn default() -> Self {
        Self {
            name: "operator".to_owned(),
            program: None,
            leader_election: true,
            lease: ["15s", "10s", "2s"],
            webhooks: false,
            webhook_port: None,
            authorizer: false,
            arguments: Vec::new(),
            topology_aware: true,
            schedulers: Vec::new(),
            gang_scheduling: true,
            more: "",
            memory: None,
        }
    }
}

impl OperatorOptions {
    /// One whose default is this scheduler; the stock one is always there.
    pub fn on(scheduler: Scheduler) -> Self {
        let mut schedulers = vec![scheduler, Scheduler::Kube];
        schedulers.dedup();
        Self { schedulers, ..Self::default() }
    }
}

/// What it listens on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Port {
    /// Admission, by TLS.
    Webhooks,
    /// Health, in plain HTTP.
    Health,
    /// Metrics, in plain HTTP.
    Metrics,
}

/// An operator of a cluster. It ends with the cluster.
pub struct Operator {
    options: OperatorOptions,
    command: Command,
    ports: [u16; 3],
    link: Link,
    reaper: Arc<Reaper>,
    process: Option<Process>,
}

impl Operator {
    /// Installs what an operator needs, starts it and waits until it is ready. The cluster has to know our kinds.
    pub async fn start(cluster: &Cluster, options: OperatorOptions) -> Result<Self> {
        let program = options.program.clone().map_or_else(program, Ok)?;
        let folder = cluster.options.folder.clone();
        let config = folder.join(format!("{}.yaml", options.name));
        // The webhooks stay where the API server was told that they are.
        let ports = free_ports()?;
        std::fs::write(&config, configuration(&options, ports))?;
        let url = format!("https://127.0.0.1:{}", options.webhook_port.unwrap_or(ports[0]));
        account::install(&cluster.client, &program, &config, &url, options.webhooks).await?;
        let link =
            Link::open(&account::kubeconfig(cluster, account::ACCOUNT, &options.name).await?, &options.name)
                .await?;
        let mut arguments = vec!["operator".to_owned(), "--config".to_owned(), config.display().to_string()];
        arguments.extend(options.arguments.iter().cloned());
        let environment = [
            ("KUBECONFIG", link.kubeconfig.display().to_string()),
            ("GROVE_OPERATOR_SERVICE_ACCOUNT_NAME", account::ACCOUNT.to_owned()),
        ];
        let command = Command {
            name: options.name.clone(),
            program,
            arguments,
            environment: environment.map(|(name, value)| (name.to_owned(), value)).into(),
            log: folder.join("log").join(format!("{}.log", options.name)),
            folder,
        };
        let mut operator = Self { options, command, ports, link, reaper: cluster.reaper(), process: None };
        match operator.start_again().await {
            Ok(()) => Ok(operator),
            Err(error) => {
                // Who ended by itself would count as the end of every later one.
                if let Some(process) = operator.process.take() {
                    operator.reaper.end_by(&process, Signal::KILL).await?;
                }
                // Nobody would answer them.
                if operator.has_webhooks() {
                    account::remove_webhooks(&cluster.client).await?;
                }
                Err(error)
            }
        }
    }

    /// Starts it after it was stopped or killed, and waits until it is ready.
    pub async fn start_again(&mut self) -> Result<()> {
        self.launch().await?;
        self.until_ready().await
    }

    /// Starts it and does not wait.
    pub async fn launch(&mut self) -> Result<()> {
        ensure!(self.process.is_none(), "{} runs already", self.options.name);
        // Those of the one before may be taken by now; that of the webhooks is known to the API server.
        let [health, metrics] = free_ports()?;
        self.ports = [self.ports[0], health, metrics];
        let config = self.command.folder.join(format!("{}.yaml", self.options.name));
        std::fs::write(config, configuration(&self.options, self.ports))?;
        let process = self.process.insert(self.reaper.run(self.command.clone()).await?);
        if let Some(megabytes) = self.options.memory {
            limit_data(process.pid, megabytes)?;
        }
        Ok(())
    }

    /// Waits until it says that it is ready.
    pub async fn until_ready(&self) -> Result<()> {
        let asking = async {
            while get(self.ports[1], "/readyz").await.map_or(0, |it| it.0) != 200 {
                self.reaper.check()?;
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            Ok(())
        };
        match tokio::time::timeout(DEADLINE, asking).await {
            Ok(result) => result,
            Err(_) => bail!("not ready within {DEADLINE:?}; see {}", self.command.log.display()),
        }
    }

    /// Tells it to end, and waits until it has, which it has to with success.
    pub async fn stop(&mut self) -> Result<()> {
        let code = self.end_by(Signal::TERM).await?;
        ensure!(code == Some(0), "SIGTERM ended it with {code:?}; see {}", self.command.log.display());
        Ok(())
    }

    /// Ends it in the middle of whatever it does.
    pub async fn kill(&mut self) -> Result<()> {
        self.end_by(Signal::KILL).await?;
        Ok(())
    }

    async fn end_by(&mut self, signal: Signal) -> Result<Option<i32>> {
        let process = self.process.take().context("it does not run")?;
        let ended = tokio::time::timeout(DEADLINE, self.reaper.end_by(&process, signal));
        ended.await.with_context(|| format!("{} does not end", self.options.name))?
    }

    /// Whether the API server asks it about sets and topologies.
    pub fn has_webhooks(&self) -> bool {
        self.options.webhooks
    }

    /// Whether it was started and not ended by us.
    pub fn is_running(&self) -> bool {
        self.process.is_some()
    }

    /// Ends all its connections; it has to come back by itself.
    pub fn cut(&self) {
        self.link.cut();
    }

    /// Its process, for measuring.
    pub fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(|it| it.pid)
    }

    /// The number of a port on 127.0.0.1.
    pub fn port(&self, port: Port) -> u16 {
        let [webhooks, health, metrics] = self.ports;
        match port {
            Port::Webhooks => webhooks,
            Port::Health => health,
            Port::Metrics => metrics,
        }
    }

    /// What it says of itself at `/metrics`.
    pub async fn metrics(&self) -> Result<String> {
        let (code, text) = get(self.ports[2], "/metrics").await?;
        ensure!(code == 200, "/metrics answers {code}");
        Ok(text)
    }
}

/// A request to a server of plain HTTP on 127.0.0.1: status and body.
async fn get(port: u16, path: &str) -> Result<(u16, String)> {
    plain_http::get((Ipv4Addr::LOCALHOST, port).into(), path).await
}

/// Limits the data of a process: its heap, and the stacks of its threads, whether it uses all of them or not.
fn limit_data(pid: u32, megabytes: u64) -> Result<()> {
    let pid = Pid::from_raw(i32::try_from(pid)?).context("no process")?;
    let bytes = Some(megabytes << 20);
    prlimit(Some(pid), Resource::Data, Rlimit { current: bytes, maximum: bytes })
        .context("cannot limit its memory")?;
    Ok(())
}

/// Those requests that are the operator's, on objects of a namespace. Leases are no writes that count.
pub fn of_operator(writes: Vec<Write>, namespace: &str) -> Vec<Write> {
    let is_ours = |it: &Write| it.user_agent.starts_with("grove-operator/") && it.namespace == namespace;
    writes.into_iter().filter(is_ours).collect()
}

/// The executable beside ours.
pub(crate) fn program() -> Result<PathBuf> {
    beside("grove")
}

/// Another executable beside ours.
pub(crate) fn beside(name: &str) -> Result<PathBuf> {
    let program = std::env::current_exe()?.with_file_name(name);
    ensure!(program.exists(), "{} is missing; build it with: make build-e2e", program.display());
    Ok(program)
}
