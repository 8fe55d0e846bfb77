//! A real Kubernetes control plane on loopback, as processes that end with us.

mod audit;
mod client;
mod control_plane;
mod gates;
mod last_words;
mod link;
mod pki;
mod ports;
mod programs;
mod reaper;
mod sandbox;
mod schedulers;
mod state;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use futures::{FutureExt, future::BoxFuture};
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::{Api, Client};
use rustix::process::{Pid, Signal, kill_process_group};

pub use self::{
    audit::{Request, Tail, Write, writes},
    client::{client, client_as},
    gates::Gates,
    link::Link,
    programs::{Programs, repository},
    reaper::{Command, Process, Reaper, reap},
    sandbox::serve_sandbox,
    schedulers::Scheduler,
    state::{Detached, detached},
};
pub(crate) use self::{
    last_words::last_words,
    link::{Forwarder, server},
    pki::GATEWAY,
    ports::free as free_ports,
};

/// How long the control plane may take to answer; on a loaded machine it takes a good part of it.
const START_DEADLINE: Duration = Duration::from_mins(2);

/// What a cluster should be.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where its files go. What an earlier cluster left there is removed.
    pub folder: PathBuf,
    /// Which workload features are on.
    pub gates: Gates,
    /// Which scheduler runs besides the stock one.
    pub scheduler: Scheduler,
    /// What of it is not Kubernetes' own.
    pub simulated: Simulated,
}

/// What of a cluster is simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Simulated {
    /// Nodes and kubelets, by kwok.
    #[default]
    Nodes,
    /// All of it, in one program.
    All,
    /// All of it, but with the scheduler of Kubernetes.
    AllButScheduler,
}

impl Options {
    /// Whether it is one program instead of Kubernetes'.
    pub fn is_sandbox(&self) -> bool {
        self.simulated != Simulated::Nodes
    }
}

/// A running cluster. Its processes end when it is dropped, and also when this process is killed.
pub struct Cluster {
    /// Speaks as an admin.
    pub client: Client,
    /// For `kubectl` and other clients.
    pub kubeconfig: PathBuf,
    /// What it was asked to be.
    pub options: Options,
    /// Where its programs are.
    pub programs: Programs,
    reaper: Arc<Reaper>,
    processes: Vec<Process>,
    /// How each program was started.
    commands: BTreeMap<String, Command>,
}

impl Cluster {
    /// Starts a control plane and waits until it answers.
    pub async fn start(options: Options, programs: Programs) -> Result<Self> {
        let folder = &options.folder;
        state::fresh(folder)?;
        std::fs::create_dir_all(folder.join("log")).with_context(|| folder.display().to_string())?;
        let ports = ports::Ports::reserve()?;
        pki::write(folder, ports.api)?;
        let reaper = Arc::new(Reaper::start()?);
        let mut cluster = Self {
            client: client(&folder.join("admin.kubeconfig")).await?,
            kubeconfig: folder.join("admin.kubeconfig"),
            options,
            programs,
            reaper,
            processes: Vec::new(),
            commands: BTreeMap::new(),
        };
        let plane = control_plane::Plane {
            folder: cluster.options.folder.clone(),
            ports,
            gates: cluster.options.gates,
        };
        plane.write_files()?;
        if cluster.options.is_sandbox() {
            cluster.run(plane.sandbox(cluster.options.simulated)?).await?;
            cluster.until_ready().await?;
            if cluster.options.simulated == Simulated::AllButScheduler {
                cluster.run(plane.json_scheduler(&cluster.programs)).await?;
            }
            cluster.until_service_account().await?;
            return Ok(cluster);
        }
        cluster.run(plane.etcd(&cluster.programs)).await?;
        cluster.run(plane.api_server(&cluster.programs)).await?;
        cluster.until_ready().await?;
        cluster.run(plane.controller_manager(&cluster.programs)).await?;
        cluster.run(plane.scheduler(&cluster.programs)).await?;
        cluster.run(plane.kubelets(&cluster.programs)).await?;
        schedulers::install(&cluster).await?;
        for command in schedulers::commands(&cluster, &plane) {
            cluster.run(command).await?;
        }
        schedulers::until_open(&cluster).await?;
        cluster.until_service_account().await?;
        Ok(cluster)
    }

    /// Starts one more program that ends with the cluster.
    pub async fn run(&mut self, command: Command) -> Result<()> {
        self.commands.insert(command.name.clone(), command.clone());
        let process = self.reaper.run(command).await?;
        self.processes.push(process);
        Ok(())
    }

    /// Stops the program called `name`, as `systemctl stop` would.
    pub async fn stop_program(&mut self, name: &str) -> Result<()> {
        let at = self.processes.iter().position(|it| it.name == name);
        let process = self.processes.remove(at.with_context(|| format!("no program {name:?}"))?);
        self.reaper.stop(&process).await
    }

    /// Starts a program that was stopped, as it was started before.
    pub async fn start_program(&mut self, name: &str) -> Result<()> {
        let command = self.commands.get(name).cloned();
        self.run(command.with_context(|| format!("no program {name:?} was started"))?).await
    }

    /// Holds a program still, or lets it go on: what happens in between it sees all at once.
    pub fn pause_program(&self, name: &str, paused: bool) -> Result<()> {
        let process = self.processes.iter().find(|it| it.name == name);
        let process = process.with_context(|| format!("no program {name:?}"))?;
        let signal = if paused { Signal::STOP } else { Signal::CONT };
        let group = i32::try_from(process.pid).ok().and_then(Pid::from_raw).context("no process")?;
        Ok(kill_process_group(group, signal)?)
    }

    /// Starts a program that belongs to the scheduler under test and does not run by itself.
    pub async fn run_companion(&mut self, name: &str) -> Result<()> {
        let command = schedulers::companion(self, name)?;
        self.run_besides(command).await
    }

    /// Memory that a program has now.
    pub fn resident_megabytes(&self, name: &str) -> Result<u64> {
        let process = self.processes.iter().find(|it| it.name == name);
        let process = process.with_context(|| format!("no program {name:?}"))?;
        let status = std::fs::read_to_string(format!("/proc/{}/status", process.pid))?;
        let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:")).context("no VmRSS")?;
        let kilobytes: u64 = line.trim().trim_end_matches(" kB").trim().parse()?;
        Ok(kilobytes / 1_024)
    }

    /// Starts one more program that ends with the scenario.
    pub async fn run_besides(&mut self, command: Command) -> Result<()> {
        let process = self.reaper.run(command).await?;
        self.processes.push(process);
        Ok(())
    }

    /// After a scenario: what it stopped runs again, and what it started besides has ended.
    pub(crate) async fn restore(&mut self) -> Result<()> {
        let runs: BTreeSet<String> = self.processes.iter().map(|it| it.name.clone()).collect();
        let besides: Vec<&String> = runs.iter().filter(|it| !self.commands.contains_key(*it)).collect();
        for name in besides {
            self.stop_program(name).await?;
        }
        let ended: Vec<String> = self.commands.keys().filter(|it| !runs.contains(*it)).cloned().collect();
        for name in ended {
            self.start_program(&name).await?;
        }
        Ok(())
    }

    /// Runs programs to their end; they too end with the cluster.
    pub(crate) fn reaper(&self) -> Arc<Reaper> {
        Arc::clone(&self.reaper)
    }

    /// Where the log of a program is.
    pub fn log(&self, name: &str) -> PathBuf {
        self.options.folder.join("log").join(format!("{name}.log"))
    }

    /// Requests that changed something, from the audit log.
    pub fn writes(&self) -> Result<Vec<Write>> {
        writes(&self.audit_log())
    }

    /// Dry runs, from the audit log. They are not among the writes.
    pub fn dry_runs(&self) -> Result<Vec<Write>> {
        audit::dry_runs(&self.audit_log())
    }

    /// Requests that change something, from now on.
    pub fn tail(&self) -> Result<Tail> {
        Tail::from_now(&self.audit_log())
    }

    /// All requests of the operator's account, from the audit log.
    pub fn requests_of(&self, user: &str) -> Result<Vec<Request>> {
        audit::requests_of(&self.audit_log(), user)
    }

    fn audit_log(&self) -> PathBuf {
        self.options.folder.join("log/audit.log")
    }

    /// Ends everything and waits for it.
    pub async fn stop(self) -> Result<()> {
        self.reaper.finish().await
    }

    /// Waits until a program that should go on has ended, and tells which.
    pub(crate) async fn until_one_ends(&self) -> anyhow::Error {
        self.reaper.until_one_ends().await
    }

    async fn until_ready(&self) -> Result<()> {
        let ask = || async { Ok(self.client.request_text(http_get("/readyz")?).await.is_ok()) }.boxed();
        self.until("the API server is ready", "kube-apiserver", ask).await
    }

    /// Pods are refused until the controller-manager has made the service account of the namespace.
    async fn until_service_account(&self) -> Result<()> {
        let accounts: Api<ServiceAccount> = Api::namespaced(self.client.clone(), "default");
        let ask = || async { Ok(accounts.get_opt("default").await?.is_some()) }.boxed();
        self.until("there is a service account", "kube-controller-manager", ask).await
    }

    /// Asks until the answer is yes; `program` is whose log to look into if it never is.
    async fn until<'a>(
        &self,
        what: &str,
        program: &str,
        ask: impl Fn() -> BoxFuture<'a, Result<bool>>,
    ) -> Result<()> {
        let asking = async {
            while !ask().await? {
                self.reaper.check()?;
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            Ok(())
        };
        match tokio::time::timeout(START_DEADLINE, asking).await {
            Ok(result) => result,
            Err(_) => bail!("not within {START_DEADLINE:?}: {what}; see {}", self.log(program).display()),
        }
    }
}

/// A request without a body.
pub fn http_get(path: &str) -> Result<http::Request<Vec<u8>>> {
    Ok(http::Request::get(path).body(Vec::new())?)
}
