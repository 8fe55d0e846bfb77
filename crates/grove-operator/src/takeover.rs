//! What a new leader does before it works: its pod cache is a watch that may be behind the last writes of the leader before
//! it, and a pod that is missing from it would be created once more.

use std::time::Duration;

use grove_api::constants::labels;
use grove_runtime::{Cache, WriteError, Writer};
use tokio::time::sleep;
use tracing::warn;

use crate::seen::PodView;

/// Pause after a list failed.
const PAUSE: Duration = Duration::from_secs(1);

/// Lists our pods once, as they are now. Names of other objects are fixed: creating one of them twice is refused.
pub(crate) async fn catch_up(writer: &Writer, pods: &Cache<PodView>) {
    while let Err(error) = show_pods(writer, pods, "", None).await {
        warn!(%error, "failed to list pods before leading, retrying");
        sleep(PAUSE).await;
    }
}

/// Shows our pods in the cache as the server has them now; only those of a PodClique, where one is given.
pub(crate) async fn show_pods(
    writer: &Writer,
    pods: &Cache<PodView>,
    namespace: &str,
    clique: Option<&str>,
) -> Result<(), WriteError> {
    let ours = format!("{}={}", labels::MANAGED_BY, labels::MANAGED_BY_VALUE);
    let selector = clique.map_or(ours.clone(), |it| format!("{ours},{}={it}", labels::POD_CLIQUE));
    for pod in writer.list::<PodView>(namespace, &selector).await? {
        pods.written(pod);
    }
    Ok(())
}
