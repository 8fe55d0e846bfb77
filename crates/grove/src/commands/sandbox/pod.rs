//! `grove sandbox pod`.

use std::io;

use clap::{Args, Subcommand};
use grove_sandbox::Faults;

use super::{Done, simulated::check_pod};
use crate::{
    cli::object_name,
    cluster::{Cluster, Reach, failure},
};

/// Fail or crash a pod on a simulated node, or change whether it is ready.
#[derive(Subcommand)]
#[command(after_help = "Example:\n  grove sandbox pod fail chat-0-router-0 --exit-code 137")]
pub(crate) enum PodCommand {
    /// End the pod with an exit code: its phase becomes Failed.
    Fail {
        #[command(flatten)]
        which: PodArguments,

        /// Exit code of its containers.
        #[arg(long, value_name = "NUMBER", default_value_t = 1)]
        exit_code: u8,
    },
    /// Crash the containers once; the pod's restartPolicy applies.
    Crash {
        #[command(flatten)]
        which: PodArguments,
    },
    /// Let the pod run without being ready.
    Unready {
        #[command(flatten)]
        which: PodArguments,
    },
    /// Let the pod be ready again.
    Ready {
        #[command(flatten)]
        which: PodArguments,
    },
}

#[derive(Args)]
pub(crate) struct PodArguments {
    /// Name of a pod.
    #[arg(value_parser = object_name)]
    name: String,

    /// Namespace [default: the context's].
    #[arg(short, long, value_parser = object_name)]
    namespace: Option<String>,

    #[command(flatten)]
    reach: Reach,
}

/// What is done to a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PodFault {
    Fail { exit_code: u8 },
    Crash,
    Unready,
    Ready,
}

impl PodCommand {
    pub(super) async fn run(self) -> io::Result<Done> {
        let (fault, PodArguments { name, namespace, reach }) = match self {
            Self::Fail { which, exit_code } => (PodFault::Fail { exit_code }, which),
            Self::Crash { which } => (PodFault::Crash, which),
            Self::Unready { which } => (PodFault::Unready, which),
            Self::Ready { which } => (PodFault::Ready, which),
        };
        let cluster = reach.cluster().await?;
        let namespace = namespace.unwrap_or_else(|| cluster.namespace.clone());
        act(&cluster, fault, &namespace, &name).await
    }
}

/// Checks the node of the pod, causes the fault, and says what follows.
pub(super) async fn act(cluster: &Cluster, fault: PodFault, namespace: &str, name: &str) -> io::Result<Done> {
    if let Err(why) = check_pod(cluster, namespace, name).await? {
        return Ok(Done::Refused(why));
    }
    let faults = Faults::new(cluster.client.clone());
    let done = match fault {
        PodFault::Fail { exit_code } => faults.fail_pod(namespace, name, exit_code).await,
        PodFault::Crash => faults.crash_pod(namespace, name).await,
        PodFault::Unready => faults.set_pod_ready(namespace, name, false).await,
        PodFault::Ready => faults.set_pod_ready(namespace, name, true).await,
    };
    done.map_err(|error| failure(&cluster.server, &error))?;
    Ok(Done::Said(match fault {
        PodFault::Fail { exit_code } => {
            format!("pod {name} ends with exit code {exit_code}: it is Failed, and its PodClique replaces it")
        }
        PodFault::Crash => {
            format!("the containers of pod {name} crash once; restartPolicy applies")
        }
        PodFault::Unready => {
            format!("pod {name} runs and is not ready; `grove sandbox pod ready {name}` undoes it")
        }
        PodFault::Ready => format!("pod {name} becomes ready"),
    }))
}
