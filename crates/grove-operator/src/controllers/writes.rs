//! Writes of controllers. Each belongs to the process and not to the reconcile that began it: its answer reaches the cache,
//! whatever becomes of the reconcile. None begins while the operator stops.

use std::sync::{Arc, atomic::Ordering};

use futures::{Stream, StreamExt, future, stream};
use grove_runtime::{Cache, Cached, Lane, WriteError, Writer};
use serde_json::Value;

use super::Grove;
use crate::key::Key;

impl Grove {
    /// Writes, and shows the answer in `cache`.
    pub(super) fn show<K, W, F>(
        &self,
        cache: &Cache<K>,
        write: W,
    ) -> impl Future<Output = Result<Arc<K>, WriteError>> + Send + use<K, W, F>
    where
        K: Cached,
        W: FnOnce(Writer) -> F,
        F: Future<Output = Result<K, WriteError>> + Send + 'static,
    {
        let (cache, write) = (cache.clone(), write(self.writer.clone()));
        self.writes.run(async move { write.await.map(|it| cache.written(it)) })
    }

    /// Patches the status of an object, in the lane of its kind of request unless another is given.
    pub(super) async fn patch_status<K: Cached>(
        &self,
        cache: &Cache<K>,
        lane: Option<Lane>,
        key: Key,
        patch: Value,
    ) -> Result<Arc<K>, WriteError> {
        self.show(cache, move |writer| {
            let writer = lane.map_or(writer.clone(), |lane| writer.in_lane(lane));
            async move { writer.patch_status(&key.namespace, &key.name, &patch).await }
        })
        .await
    }

    /// Whether a term as the leader is ending: nothing may begin another write.
    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// These one by one, and none any more once the operator stops.
    pub(super) fn unless_stopping<T>(&self, items: impl IntoIterator<Item = T>) -> impl Stream<Item = T> {
        stream::iter(items).take_while(|_| future::ready(!self.is_stopping()))
    }
}
