//! The only way in which controllers change the cluster. Knows verbs, and no policy.

mod at;
mod conflicts;
mod error;
mod list;
mod owned;
#[cfg(test)]
mod tests;

use std::fmt;

use http::Request as HttpRequest;
use kube::api::{
    ApiResource, DeleteParams, DynamicObject, GetParams, Patch, PatchParams, PostParams, Preconditions,
    Request,
};
use kube::{Client, Resource};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::cache::{Cache, Cached};
use crate::object_name::is_path_segment;
use crate::throttle::Lane;

use conflicts::Conflicts;

pub use at::Revision;
pub use error::WriteError;
pub use kube::api::PropagationPolicy as Propagation;
pub use owned::OwnedWrites;

/// How to delete.
#[derive(Clone, Debug, Default)]
pub struct Delete {
    /// Grace period in seconds; the object's own when absent.
    pub grace: Option<u32>,
    /// What becomes of dependents; the kind's default when absent.
    pub propagation: Option<Propagation>,
    /// Only if the object still has this version.
    pub version: Option<String>,
}

/// What a delete achieved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deleted<V> {
    /// The object does not exist (any longer).
    Gone,
    /// The object is terminating: it has finalizers or a grace period.
    Accepted(V),
}

/// Writes to the cluster in the name of one field manager.
#[derive(Clone)]
pub struct Writer {
    client: Client,
    field_manager: &'static str,
    lane: Option<Lane>,
    conflicts: Conflicts,
}

impl Writer {
    /// A writer whose changes are recorded under `field_manager`.
    pub fn new(client: Client, field_manager: &'static str) -> Self {
        Self { client, field_manager, lane: None, conflicts: Conflicts::default() }
    }

    /// From now on, where a write is refused because its object is otherwise by now, what this cache knows of the object is in doubt.
    pub fn doubt_after_conflicts<K: Cached>(&self, cache: &Cache<K>) {
        let cache = cache.clone();
        self.conflicts.listen(&K::kind(&()), move |namespace, name| cache.doubted(namespace, name));
    }

    /// The same writer with a fixed urgency instead of that of method and path.
    #[must_use]
    pub fn in_lane(&self, lane: Lane) -> Self {
        Self { lane: Some(lane), ..self.clone() }
    }

    /// Creates `object` in `namespace` (`""` for cluster scope). The answer may be decoded as a projection of its kind.
    pub async fn create<V: Cached>(&self, namespace: &str, object: &impl Serialize) -> Result<V, WriteError> {
        let collection = &Collection::of::<V>(namespace);
        let what = |name: &str| What::new(collection, "create", name);
        let body =
            serde_json::to_vec(object).map_err(|error| what("?").failed(kube::Error::SerdeError(error)))?;
        let params = PostParams { field_manager: Some(self.field_manager.to_owned()), ..Default::default() };
        // The name is only needed if something fails, and then it can be found in the body.
        let name = |body: &[u8]| serde_json::from_slice::<Named>(body).unwrap_or_default().metadata.name();
        let request = collection.request().create(&params, body.clone());
        let request = request.map_err(|error| what(&name(&body)).unbuilt(error))?;
        self.request(request).await.map_err(|error| what(&name(&body)).failed(error))
    }

    /// Asks whether the server would create `object`: it is defaulted, validated and admitted as if it were created.
    pub async fn dry_run_create<V: Cached>(
        &self,
        namespace: &str,
        object: &impl Serialize,
    ) -> Result<(), WriteError> {
        let collection = &Collection::of::<V>(namespace);
        let what = What::new(collection, "dry-run create", "?");
        let body = serde_json::to_vec(object).map_err(|error| what.failed(kube::Error::SerdeError(error)))?;
        let field_manager = Some(self.field_manager.to_owned());
        let params = PostParams { dry_run: true, field_manager };
        self.send::<serde::de::IgnoredAny>(&what, collection.request().create(&params, body)).await?;
        Ok(())
    }

    /// Likewise, of a kind that is known at run time only.
    pub async fn create_kind(
        &self,
        resource: &ApiResource,
        namespace: &str,
        object: &Value,
    ) -> Result<DynamicObject, WriteError> {
        let collection = Collection::of_resource::<DynamicObject>(resource, namespace);
        let what = What::new(&collection, "create", object["metadata"]["name"].as_str().unwrap_or("?"));
        let params = PostParams { field_manager: Some(self.field_manager.to_owned()), ..Default::default() };
        let body = serde_json::to_vec(object).map_err(|error| what.failed(kube::Error::SerdeError(error)))?;
        self.send(&what, collection.request().create(&params, body)).await
    }

    /// Merges `patch` into the object (JSON merge patch).
    pub async fn patch<V: Cached>(
        &self,
        namespace: &str,
        name: &str,
        patch: &Value,
    ) -> Result<V, WriteError> {
        let collection = Collection::of::<V>(namespace);
        let what = What::new(&collection, "patch", name);
        let params = PatchParams { field_manager: Some(self.field_manager.to_owned()), ..Default::default() };
        let request = collection.named(name).and_then(|it| it.patch(name, &params, &Patch::Merge(patch)));
        self.send(&what, request).await
    }

    /// Likewise, of a kind that is known at run time only.
    pub async fn patch_kind(
        &self,
        resource: &ApiResource,
        namespace: &str,
        name: &str,
        patch: &Value,
    ) -> Result<DynamicObject, WriteError> {
        let collection = Collection::of_resource::<DynamicObject>(resource, namespace);
        let what = What::new(&collection, "patch", name);
        let params = PatchParams { field_manager: Some(self.field_manager.to_owned()), ..Default::default() };
        let request = collection.named(name).and_then(|it| it.patch(name, &params, &Patch::Merge(patch)));
        self.send(&what, request).await
    }

    /// Merges `patch` into the object's status. The caller puts `metadata.resourceVersion` into it.
    pub async fn patch_status<V: Cached>(
        &self,
        namespace: &str,
        name: &str,
        patch: &Value,
    ) -> Result<V, WriteError> {
        let collection = Collection::of::<V>(namespace);
        let what = What::new(&collection, "patch status of", name);
        let params = PatchParams { field_manager: Some(self.field_manager.to_owned()), ..Default::default() };
        let request = collection
            .named(name)
            .and_then(|it| it.patch_subresource("status", name, &params, &Patch::Merge(patch)));
        self.send(&what, request).await
    }

    /// Server-side apply: makes the fields in `object` so, and takes them over from other managers.
    pub async fn apply<V: Cached>(
        &self,
        namespace: &str,
        name: &str,
        object: &Value,
    ) -> Result<V, WriteError> {
        self.apply_in(&Collection::of::<V>(namespace), name, object, true).await
    }

    /// Likewise, of a kind that is known at run time only. Without `force`, fields of other managers are a conflict.
    pub(crate) async fn apply_in<V: DeserializeOwned>(
        &self,
        collection: &Collection,
        name: &str,
        object: &Value,
        force: bool,
    ) -> Result<V, WriteError> {
        let what = What::new(collection, "apply", name);
        let params = PatchParams { force, ..PatchParams::apply(self.field_manager) };
        let request = collection.named(name).and_then(|it| it.patch(name, &params, &Patch::Apply(object)));
        self.send(&what, request).await
    }

    /// Deletes the object with this UID, and never another one of the same name.
    pub async fn delete<V: Cached>(
        &self,
        namespace: &str,
        name: &str,
        uid: &str,
        how: Delete,
    ) -> Result<Deleted<V>, WriteError> {
        self.delete_in(&Collection::of::<V>(namespace), name, uid, how).await
    }

    /// Likewise, of a kind that is known at run time only.
    pub(crate) async fn delete_in<V: DeserializeOwned>(
        &self,
        collection: &Collection,
        name: &str,
        uid: &str,
        how: Delete,
    ) -> Result<Deleted<V>, WriteError> {
        let what = What::new(collection, "delete", name);
        let params = DeleteParams {
            grace_period_seconds: how.grace,
            propagation_policy: how.propagation,
            preconditions: Some(Preconditions { uid: Some(uid.to_owned()), resource_version: how.version }),
            ..Default::default()
        };
        self.end(&what, collection.named(name).and_then(|it| it.delete(name, &params))).await
    }

    /// Takes the finalizers off an object that is being deleted, if it still has this version.
    pub(crate) async fn release_in<V: DeserializeOwned>(
        &self,
        collection: &Collection,
        name: &str,
        version: &str,
    ) -> Result<Deleted<V>, WriteError> {
        let what = What::new(collection, "release", name);
        let params = PatchParams { field_manager: Some(self.field_manager.to_owned()), ..Default::default() };
        let patch = json!({ "metadata": { "resourceVersion": version, "finalizers": null } });
        self.end(&what, collection.named(name).and_then(|it| it.patch(name, &params, &Patch::Merge(&patch))))
            .await
    }

    /// Sends what ends an object, and tells whether it did.
    async fn end<V: DeserializeOwned>(
        &self,
        what: &What,
        request: Result<HttpRequest<Vec<u8>>, kube::core::request::Error>,
    ) -> Result<Deleted<V>, WriteError> {
        let answer: Value = match self.send(what, request).await {
            Err(error) if error.is_not_found() || error.is_other_uid() => return Ok(Deleted::Gone),
            answer => answer?,
        };
        if !is_terminating(&answer) {
            return Ok(Deleted::Gone);
        }
        let object = serde_json::from_value(answer);
        object.map(Deleted::Accepted).map_err(|error| what.failed(kube::Error::SerdeError(error)))
    }

    /// The object as the server has it now, for when a write was refused because of it. `None` where there is none.
    pub async fn get<V: Cached>(&self, namespace: &str, name: &str) -> Result<Option<V>, WriteError> {
        let collection = Collection::of::<V>(namespace);
        let what = What::new(&collection, "get", name);
        match self
            .send(&what, collection.named(name).and_then(|it| it.get(name, &GetParams::default())))
            .await
        {
            Ok(object) => Ok(Some(object)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Likewise, of a kind that is known at run time only.
    pub async fn get_kind(
        &self,
        resource: &ApiResource,
        namespace: &str,
        name: &str,
    ) -> Result<Option<DynamicObject>, WriteError> {
        let collection = Collection::of_resource::<DynamicObject>(resource, namespace);
        let what = What::new(&collection, "get", name);
        match self
            .send(&what, collection.named(name).and_then(|it| it.get(name, &GetParams::default())))
            .await
        {
            Ok(object) => Ok(Some(object)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Sends any request, in the writer's lane.
    pub async fn request<R: DeserializeOwned>(&self, request: HttpRequest<Vec<u8>>) -> kube::Result<R> {
        // Decoded here, because the client logs the whole body of an answer that it cannot decode.
        let text = self.client.request_text(self.in_its_lane(request)).await?;
        serde_json::from_str(&text).map_err(kube::Error::SerdeError)
    }

    async fn send<R: DeserializeOwned>(
        &self,
        what: &What,
        request: Result<HttpRequest<Vec<u8>>, kube::core::request::Error>,
    ) -> Result<R, WriteError> {
        match request {
            Err(error) => Err(what.unbuilt(error)),
            Ok(request) => self.request(request).await.map_err(|error| {
                let error = what.failed(error);
                self.conflicts.tell(&error);
                error
            }),
        }
    }

    fn in_its_lane(&self, mut request: HttpRequest<Vec<u8>>) -> HttpRequest<Vec<u8>> {
        if let Some(lane) = self.lane {
            request.extensions_mut().insert(lane);
        }
        request
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("field_manager", &self.field_manager).finish_non_exhaustive()
    }
}

/// All objects of a kind in a namespace.
#[derive(Clone, Debug)]
pub(crate) struct Collection {
    kind: String,
    namespace: String,
    path: String,
}

impl Collection {
    fn of<V: Cached>(namespace: &str) -> Self {
        Self::of_resource::<V>(&(), namespace)
    }

    /// Of a kind that `resource` tells apart; cluster scope has the namespace `""`.
    pub(crate) fn of_resource<V: Resource>(resource: &V::DynamicType, namespace: &str) -> Self {
        let path = V::url_path(resource, (!namespace.is_empty()).then_some(namespace));
        Self { kind: V::kind(resource).into_owned(), namespace: namespace.to_owned(), path }
    }

    fn request(&self) -> Request {
        Request::new(self.path.clone())
    }

    /// For a request about one object. Its name becomes a part of the path: it must not turn that into another one.
    fn named(&self, name: &str) -> Result<Request, kube::core::request::Error> {
        // The client refuses an empty one.
        if name.is_empty() || is_path_segment(name) {
            return Ok(self.request());
        }
        Err(kube::core::request::Error::Validation(format!("{name:?} is not the name of an object")))
    }
}

/// Whether the answer to what ends an object is one that still exists.
///
/// A server answers a finished delete with a `Status` or, for some kinds, with the object as it was last.
fn is_terminating(answer: &Value) -> bool {
    let meta = &answer["metadata"];
    let waits_for_finalizers = meta["finalizers"].as_array().is_some_and(|finalizers| !finalizers.is_empty());
    let waits_for_grace = meta["deletionGracePeriodSeconds"].as_i64().is_some_and(|seconds| seconds > 0);
    meta["deletionTimestamp"].is_string() && (waits_for_finalizers || waits_for_grace)
}

/// What a request was for, in case it fails.
struct What {
    verb: &'static str,
    kind: String,
    name: String,
}

impl What {
    fn new(collection: &Collection, verb: &'static str, name: &str) -> Self {
        let Collection { kind, namespace, .. } = collection;
        let name = if namespace.is_empty() { name.to_owned() } else { format!("{namespace}/{name}") };
        Self { verb, kind: kind.clone(), name }
    }

    fn failed(&self, error: kube::Error) -> WriteError {
        let (verb, kind, name) = (self.verb, self.kind.clone(), self.name.clone());
        WriteError { verb, kind, name, source: Box::new(error) }
    }

    fn unbuilt(&self, error: kube::core::request::Error) -> WriteError {
        self.failed(kube::Error::BuildRequest(error))
    }
}

/// The name of an object that is to be created.
#[derive(Default, Deserialize)]
struct Named {
    #[serde(default)]
    metadata: NamedMeta,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct NamedMeta {
    name: Option<String>,
    generate_name: Option<String>,
}

impl NamedMeta {
    fn name(self) -> String {
        self.name.or(self.generate_name.map(|prefix| prefix + "*")).unwrap_or_else(|| "?".to_owned())
    }
}
