//! How each program of the control plane is started.

use std::{collections::BTreeMap, fs, path::PathBuf};

use anyhow::Result;

use super::{Simulated, gates::Gates, ports::Ports, programs::Programs, reaper::Command};

/// Who asked for what, without bodies: enough to count writes, and to know what the operator's account needs. Of
/// everybody else, reads and heartbeats are left out.
const AUDIT_POLICY: &str = "\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - { level: Metadata, users: [\"system:serviceaccount:grove-system:grove-operator\", \"system:serviceaccount:grove-system:grove-podgrouper\"] }
  - { level: None, resources: [{ group: coordination.k8s.io }] }
  - { level: None, verbs: [get, list, watch] }
  - { level: Metadata }
";

/// The scheduler tries again after a second at the most: scenarios wait for its next try.
const SCHEDULER_CONFIGURATION: &str = "\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: { kubeconfig: scheduler.kubeconfig, qps: 1000, burst: 2000 }
leaderElection: { leaderElect: false }
podInitialBackoffSeconds: 1
podMaxBackoffSeconds: 1
";

/// How kwok plays the kubelets.
const STAGES: &str = include_str!("../nodes/stages.yaml");

/// One cluster's arguments.
pub(super) struct Plane {
    pub(super) folder: PathBuf,
    pub(super) ports: Ports,
    pub(super) gates: Gates,
}

impl Plane {
    pub(super) fn write_files(&self) -> Result<()> {
        fs::write(self.folder.join("audit-policy.yaml"), AUDIT_POLICY)?;
        fs::write(self.folder.join("scheduler.yaml"), SCHEDULER_CONFIGURATION)?;
        let json = SCHEDULER_CONFIGURATION
            .replace("scheduler.kubeconfig,", "admin.kubeconfig, contentType: application/json,");
        fs::write(self.folder.join("json-scheduler.yaml"), json)?;
        fs::write(self.folder.join("stages.yaml"), STAGES)?;
        Ok(())
    }

    /// A program of this cluster, with its log.
    pub(super) fn command(&self, name: &str, program: PathBuf, arguments: &[String]) -> Command {
        Command {
            name: name.to_owned(),
            program,
            arguments: arguments.to_vec(),
            environment: BTreeMap::new(),
            folder: self.folder.clone(),
            log: self.folder.join("log").join(format!("{name}.log")),
        }
    }

    pub(super) fn etcd(&self, programs: &Programs) -> Command {
        let client = format!("http://127.0.0.1:{}", self.ports.etcd);
        let peer = format!("http://127.0.0.1:{}", self.ports.etcd_peer);
        let arguments = [
            "--data-dir=etcd".to_owned(),
            // A test cluster need not survive a power failure.
            "--unsafe-no-fsync".to_owned(),
            "--log-level=warn".to_owned(),
            format!("--listen-client-urls={client}"),
            format!("--advertise-client-urls={client}"),
            format!("--listen-peer-urls={peer}"),
            format!("--initial-advertise-peer-urls={peer}"),
            format!("--initial-cluster=default={peer}"),
        ];
        self.command("etcd", programs.get("kubernetes", "etcd"), &arguments)
    }

    pub(super) fn api_server(&self, programs: &Programs) -> Command {
        let arguments = [
            format!("--etcd-servers=http://127.0.0.1:{}", self.ports.etcd),
            format!("--secure-port={}", self.ports.api),
            "--bind-address=127.0.0.1".to_owned(),
            "--service-cluster-ip-range=10.0.0.0/16".to_owned(),
            "--client-ca-file=pki/ca.crt".to_owned(),
            "--tls-cert-file=pki/apiserver.crt".to_owned(),
            "--tls-private-key-file=pki/apiserver.key".to_owned(),
            "--authorization-mode=Node,RBAC".to_owned(),
            "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
            "--service-account-key-file=pki/sa.pub".to_owned(),
            "--service-account-signing-key-file=pki/sa.key".to_owned(),
            // Nobody is aggregated; without these the other programs complain in their logs all the time.
            "--requestheader-client-ca-file=pki/ca.crt".to_owned(),
            "--requestheader-allowed-names=front-proxy".to_owned(),
            "--requestheader-username-headers=X-Remote-User".to_owned(),
            "--requestheader-group-headers=X-Remote-Group".to_owned(),
            "--requestheader-extra-headers-prefix=X-Remote-Extra-".to_owned(),
            // Nobody plays kube-proxy: webhooks behind a Service are called at the addresses of its pods that are ready.
            "--enable-aggregator-routing=true".to_owned(),
            format!("--feature-gates={}", self.gates.api()),
            "--runtime-config=api/all=true".to_owned(),
            "--audit-log-path=log/audit.log".to_owned(),
            "--audit-log-maxsize=2000".to_owned(),
            "--audit-policy-file=audit-policy.yaml".to_owned(),
            "--profiling=false".to_owned(),
            "--max-requests-inflight=2000".to_owned(),
            "--max-mutating-requests-inflight=1000".to_owned(),
        ];
        self.command("kube-apiserver", programs.get("kubernetes", "kube-apiserver"), &arguments)
    }

    /// All of it in one program, simulated.
    pub(super) fn sandbox(&self, simulated: Simulated) -> Result<Command> {
        let mut arguments = vec![
            "sandbox".to_owned(),
            format!("--folder={}", self.folder.display()),
            format!("--port={}", self.ports.api),
        ];
        if simulated == Simulated::AllButScheduler {
            arguments.push("--no-scheduler".to_owned());
        }
        Ok(self.command("sandbox", std::env::current_exe()?, &arguments))
    }

    pub(super) fn controller_manager(&self, programs: &Programs) -> Command {
        let arguments = [
            "--kubeconfig=controller-manager.kubeconfig".to_owned(),
            "--authentication-kubeconfig=controller-manager.kubeconfig".to_owned(),
            "--authorization-kubeconfig=controller-manager.kubeconfig".to_owned(),
            "--bind-address=127.0.0.1".to_owned(),
            format!("--secure-port={}", self.ports.controller_manager),
            "--leader-elect=false".to_owned(),
            "--service-account-private-key-file=pki/sa.key".to_owned(),
            "--root-ca-file=pki/ca.crt".to_owned(),
            "--use-service-account-credentials=true".to_owned(),
            format!("--feature-gates={}", self.gates.api()),
            "--kube-api-qps=500".to_owned(),
            "--kube-api-burst=1000".to_owned(),
            "--concurrent-gc-syncs=40".to_owned(),
            // A node that is silent is noticed as fast as a busy machine allows: the kubelets are one process that
            // competes with all others for it, and a lease that comes late takes every pod of its node with it.
            "--node-monitor-period=1s".to_owned(),
            "--node-monitor-grace-period=90s".to_owned(),
            "--controllers=*,-node-ipam-controller,-persistentvolume-binder-controller,\
             -persistentvolume-attach-detach-controller"
                .to_owned(),
        ];
        self.command(
            "kube-controller-manager",
            programs.get("kubernetes", "kube-controller-manager"),
            &arguments,
        )
    }

    pub(super) fn scheduler(&self, programs: &Programs) -> Command {
        self.scheduler_with(programs, "scheduler", "scheduler")
    }

    /// For an API server that speaks JSON alone, and has no role for it.
    pub(super) fn json_scheduler(&self, programs: &Programs) -> Command {
        self.scheduler_with(programs, "json-scheduler", "admin")
    }

    fn scheduler_with(&self, programs: &Programs, configuration: &str, user: &str) -> Command {
        let arguments = [
            format!("--config={configuration}.yaml"),
            format!("--authentication-kubeconfig={user}.kubeconfig"),
            format!("--authorization-kubeconfig={user}.kubeconfig"),
            "--bind-address=127.0.0.1".to_owned(),
            format!("--secure-port={}", self.ports.scheduler),
            format!("--feature-gates={}", self.gates.scheduler()),
        ];
        self.command("kube-scheduler", programs.get("kubernetes", "kube-scheduler"), &arguments)
    }

    pub(super) fn kubelets(&self, programs: &Programs) -> Command {
        let arguments = [
            "--kubeconfig=admin.kubeconfig".to_owned(),
            "--config=stages.yaml".to_owned(),
            // A node with this label is no longer played: its kubelet is lost. (By an annotation it cannot be done:
            // kwok's annotation selector does not know "not".)
            "--manage-nodes-with-label-selector=!e2e.grove.io/lost".to_owned(),
            // Renewed every quarter of it, so eight may be late before the grace period above ends.
            "--node-lease-duration-seconds=40".to_owned(),
            // Room for thousands of pods, and apart from the addresses of Services.
            "--cidr=10.64.0.0/12".to_owned(),
            format!("--server-address=127.0.0.1:{}", self.ports.kwok),
        ];
        self.command("kwok", programs.get("kubernetes", "kwok"), &arguments)
    }
}
