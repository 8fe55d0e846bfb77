//! The cluster that a command asks: how it is found, and what went wrong.

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Args;
use grove_runtime::without_proxy;
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};

/// A person waits.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Arguments of commands that ask a cluster.
#[derive(Args)]
pub(crate) struct Reach {
    /// Kubeconfig file [default: $KUBECONFIG, ~/.kube/config, or the pod's service account].
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,

    /// Kubeconfig context [default: the current one].
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
}

/// A cluster that can be asked.
#[derive(Clone)]
pub(crate) struct Cluster {
    pub(crate) client: Client,
    /// Address of the API server, for errors.
    pub(crate) server: String,
    /// Namespace of the context.
    pub(crate) namespace: String,
}

impl Reach {
    pub(crate) async fn cluster(&self) -> io::Result<Cluster> {
        let config = config(self.kubeconfig.as_deref(), self.context.as_deref()).await?;
        let (server, namespace) = (config.cluster_url.to_string(), config.default_namespace.clone());
        let client = Client::try_from(config).map_err(|it| failure(&server, &it))?;
        Ok(Cluster { client, server, namespace })
    }
}

/// Runs a command that asks a cluster.
pub(crate) fn block_on<T>(asking: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(asking)
}

/// The cluster of a kubeconfig.
async fn config(file: Option<&Path>, context: Option<&str>) -> io::Result<Config> {
    let options = KubeConfigOptions { context: context.map(str::to_owned), ..KubeConfigOptions::default() };
    let mut config = match (file, context) {
        (Some(file), _) => {
            let wrong =
                |cause| io::Error::other(format!("kubeconfig {}: {}", file.display(), causes(&cause)));
            let kubeconfig = Kubeconfig::read_from(file).map_err(wrong)?;
            Config::from_custom_kubeconfig(kubeconfig, &options).await.map_err(wrong)?
        }
        (None, Some(_)) => Config::from_kubeconfig(&options)
            .await
            .map_err(|it| io::Error::other(format!("kubeconfig: {}", causes(&it))))?,
        (None, None) => Config::infer()
            .await
            .map_err(|it| io::Error::other(format!("no usable kubeconfig: {}", causes(&it))))?,
    };
    config.connect_timeout = Some(CONNECT_TIMEOUT);
    without_proxy(&mut config).map_err(io::Error::other)?;
    Ok(config)
}

/// Says in words why a cluster cannot be asked.
pub(crate) fn failure(server: &str, error: &kube::Error) -> io::Error {
    let text = match error {
        kube::Error::Api(status) if status.code == 404 => {
            "the cluster has no Grove CRDs; install them: grove crds | kubectl apply --server-side -f -"
                .to_owned()
        }
        kube::Error::Api(status) => format!("{server}: {}", status.message),
        other => format!("cannot reach {server}: {}", causes(other)),
    };
    io::Error::other(text)
}

/// The last cause says most; those in between repeat it.
pub(crate) fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut last = error;
    while let Some(cause) = last.source() {
        last = cause;
    }
    let (first, last) = (error.to_string(), last.to_string());
    if first.contains(&last) { first } else { format!("{first}: {last}") }
}
