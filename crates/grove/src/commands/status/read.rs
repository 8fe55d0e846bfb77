//! Asks a cluster.

use std::{fmt::Debug, io, path::Path, time::Duration};

use grove_api::constants::labels;
use kube::{
    Api, Client, Config, Resource,
    api::ListParams,
    config::{KubeConfigOptions, Kubeconfig},
    core::NamespaceResourceScope,
};
use serde::de::DeserializeOwned;

use super::seen::{Objects, Seen, key};

/// A person waits.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// What is asked, and whom.
#[derive(Clone)]
pub(super) struct Question {
    pub(super) client: Client,
    /// Address of the API server, for errors.
    pub(super) server: String,
    /// `None`: all.
    pub(super) namespace: Option<String>,
    /// `None`: all.
    pub(super) set: Option<String>,
}

/// A kind that is asked for.
pub(super) trait Kind:
    Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned + Send + 'static
{
}

impl<K> Kind for K where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + Clone
        + Debug
        + DeserializeOwned
        + Send
        + 'static
{
}

impl Question {
    pub(super) fn api<K: Kind>(&self) -> Api<K> {
        match &self.namespace {
            Some(namespace) => Api::namespaced(self.client.clone(), namespace),
            None => Api::all(self.client.clone()),
        }
    }

    /// Selects what belongs to the set, or to any.
    pub(super) fn selector(&self) -> String {
        match &self.set {
            Some(set) => format!("{}={set}", labels::PART_OF),
            None => String::new(),
        }
    }

    async fn list<K: Kind>(&self, params: &ListParams) -> io::Result<Objects<K>> {
        let list = self.api::<K>().list(params).await.map_err(|it| failure(&self.server, &it))?;
        Ok(list.items.into_iter().map(|it| (key(&it), it)).collect())
    }
}

/// The cluster of a kubeconfig.
pub(super) async fn config(file: Option<&Path>, context: Option<&str>) -> io::Result<Config> {
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
            .map_err(|it| io::Error::other(format!("looking for a cluster: {}", causes(&it))))?,
    };
    config.connect_timeout = Some(CONNECT_TIMEOUT);
    Ok(config)
}

pub(super) fn client(config: Config) -> io::Result<Client> {
    let server = config.cluster_url.to_string();
    Client::try_from(config).map_err(|it| failure(&server, &it))
}

/// Asks once. A set that is not there is not in the answer.
pub(super) async fn once(question: &Question) -> io::Result<Seen> {
    let params = ListParams::default().labels(&question.selector());
    let mut seen = Seen::default();
    let Some(set) = &question.set else {
        seen.sets = question.list(&params).await?;
        seen.cliques = question.list(&params).await?;
        seen.gangs = question.list(&params).await?;
        return Ok(seen);
    };
    // By name: its own labels are the user's.
    let found = question.api().get_opt(set).await.map_err(|it| failure(&question.server, &it))?;
    if found.is_none() {
        // No such set, or no such kind: only the list tells.
        question.list::<grove_api::wire::PodCliqueSet>(&ListParams::default().limit(1)).await?;
        return Ok(seen);
    }
    seen.sets = found.into_iter().map(|it| (key(&it), it)).collect();
    seen.groups = question.list(&params).await?;
    seen.cliques = question.list(&params).await?;
    seen.gangs = question.list(&params).await?;
    seen.pods = question.list(&params).await?;
    Ok(seen)
}

/// Says in words why a cluster cannot be asked.
pub(super) fn failure(server: &str, error: &kube::Error) -> io::Error {
    let text = match error {
        kube::Error::Api(status) if status.code == 404 => {
            "the cluster does not know Grove's kinds; install them: grove crds | kubectl apply --server-side -f -"
                .to_owned()
        }
        kube::Error::Api(status) => format!("{server} answers: {}", status.message),
        other => format!("cannot ask {server}: {}", causes(other)),
    };
    io::Error::other(text)
}

/// The last cause says most; those in between repeat it.
pub(super) fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut last = error;
    while let Some(cause) = last.source() {
        last = cause;
    }
    let (first, last) = (error.to_string(), last.to_string());
    if first.contains(&last) { first } else { format!("{first}: {last}") }
}
