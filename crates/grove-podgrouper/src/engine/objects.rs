//! Objects of any kind, as far as we may read them: watched where we may list them, asked for one by one where not.

use std::sync::Arc;

use grove_runtime::InformerMetrics;
use kube::{
    Api, Client,
    api::{ApiResource, DynamicObject},
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{
    circuit_breaker::CircuitBreaker,
    object_key::{KindName, ObjectKey},
    owner_check,
    owner_kinds::{AGAIN, InUse, OwnerKinds, Watch},
    owner_object::{Reads, prune},
};
use crate::{hub::Hub, rule::Rules};

/// Why an object is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NotRead {
    /// There can be none: it was not asked for.
    Invalid(String),
    /// We may not read it.
    Forbidden,
    /// It is in no namespace, and neither a plugin nor a rule is for its kind.
    ClusterScoped,
    /// There is none of this name.
    Absent,
    /// The API server does not serve the kind.
    NoKind,
    /// The API server did not answer.
    Failed(String),
}

/// Who is told what has changed.
pub(crate) type OnChange = Arc<dyn Fn(News<'_>) + Send + Sync>;

/// What has changed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum News<'a> {
    /// An object.
    Object(&'a ObjectKey),
    /// Objects of a kind may be read that could not be before.
    Readable(&'a KindName),
}

/// All that can be read.
pub(crate) struct Objects {
    client: Client,
    changed: OnChange,
    kinds: OwnerKinds,
    /// Of pods that own others.
    pods: CircuitBreaker,
}

impl Objects {
    pub(crate) fn new(
        client: Client,
        hub: Arc<Hub>,
        metrics: InformerMetrics,
        changed: OnChange,
        in_use: InUse,
        stop: CancellationToken,
    ) -> Self {
        let kinds = OwnerKinds::new(client.clone(), hub, metrics, Arc::clone(&changed), in_use, stop);
        Self { client, changed, kinds, pods: CircuitBreaker::default() }
    }

    /// The object. With `uid`, a cached one that is another is not believed.
    pub(crate) async fn read(
        &self,
        key: &ObjectKey,
        uid: Option<&str>,
        rules: &Rules,
    ) -> Result<Arc<DynamicObject>, NotRead> {
        owner_check::check(key).map_err(NotRead::Invalid)?;
        if key.kind.is_pod() {
            // Not all pods of a cluster are worth a watch.
            let resource = ApiResource::erase::<k8s_openapi::api::core::v1::Pod>(&());
            let api = Api::namespaced_with(self.client.clone(), &key.namespace, &resource);
            return self.pods.run(get(api, key, Reads::Metadata)).await?;
        }
        let kind = self.kinds.find(&key.kind, &key.namespace, rules).await?;
        if let Some(Watch { cache, filling, .. }) = &kind.watch {
            // A watch that is slow to start holds nobody up for ever.
            let _ = filling.run(cache.synced()).await;
            let namespace = if kind.is_namespaced { key.namespace.as_str() } else { "" };
            let found = cache.get(namespace, &key.name);
            if let Some(found) = found.filter(|it| uid.is_none() || it.metadata.uid.as_deref() == uid) {
                return Ok(found);
            }
        }
        if kind.refused.lock().is_some_and(|it| it.elapsed() < AGAIN) {
            return Err(NotRead::Forbidden);
        }
        let (client, resource) = (self.client.clone(), &kind.resource);
        let api = if kind.is_namespaced {
            Api::namespaced_with(client, &key.namespace, resource)
        } else {
            Api::all_with(client, resource)
        };
        let answer = kind.breaker.run(get(api, key, kind.reads)).await?;
        if kind.watch.is_none() {
            let now = (answer == Err(NotRead::Forbidden)).then(Instant::now);
            let before = std::mem::replace(&mut *kind.refused.lock(), now);
            if before.is_some() && now.is_none() {
                (self.changed)(News::Readable(&key.kind));
            }
        }
        answer
    }
}

/// Asks the API server.
async fn get(api: Api<DynamicObject>, key: &ObjectKey, reads: Reads) -> Result<Arc<DynamicObject>, NotRead> {
    let answer = if reads == Reads::Metadata {
        api.get_metadata(&key.name).await.map(|it| {
            let metadata = it.metadata;
            DynamicObject { types: None, metadata, data: serde_json::json!({}) }
        })
    } else {
        api.get(&key.name).await
    };
    match answer {
        Ok(mut object) => {
            prune(&mut object);
            Ok(Arc::new(object))
        }
        Err(kube::Error::Api(status)) if status.code == 403 => Err(NotRead::Forbidden),
        Err(kube::Error::Api(status)) if status.code == 404 => Err(NotRead::Absent),
        Err(error) => Err(NotRead::Failed(error.to_string())),
    }
}
