//! Deletes what there was at a moment that is known, and nothing that came later.

use http::{Request, uri::InvalidUri};
use kube::{
    api::{ApiResource, DeleteParams, DynamicObject, ListParams},
    core::{ObjectList, request},
};

use super::{Collection, What, WriteError, Writer};
use crate::cache::Cached;

/// Without a body the server takes the revision also for a precondition that every object has to meet.
const OPTIONS: &[u8] = b"{}";

/// A moment in the life of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision(String);

impl Revision {
    /// Has a request look at this revision: the client does not say so in the deletion of a collection.
    fn pin(&self, request: Request<Vec<u8>>) -> Result<Request<Vec<u8>>, request::Error> {
        let (mut parts, _) = request.into_parts();
        let pinned = format!("{}&resourceVersion={}&resourceVersionMatch=Exact", parts.uri, self.0);
        parts.uri =
            pinned.parse().map_err(|it: InvalidUri| request::Error::BuildRequest(http::Error::from(it)))?;
        Ok(Request::from_parts(parts, OPTIONS.to_vec()))
    }
}

impl Writer {
    /// The object as the server has it, and when that was. `None` where there is none.
    ///
    /// This is a list of one: only the answer to a list says at which revision something is absent, or unchanged.
    pub async fn get_at(
        &self,
        resource: &ApiResource,
        namespace: &str,
        name: &str,
    ) -> Result<(Option<DynamicObject>, Revision), WriteError> {
        let collection = Collection::of_resource::<DynamicObject>(resource, namespace);
        let what = What::new(&collection, "get", name);
        let params = ListParams::default().fields(&format!("metadata.name={name}"));
        let request = collection.named(name).and_then(|it| it.list(&params));
        let list: ObjectList<DynamicObject> = self.send(&what, request).await?;
        let revision = Revision(list.metadata.resource_version.unwrap_or_default());
        Ok((list.items.into_iter().next(), revision))
    }

    /// Deletes all objects of the kind that `label_selector` selected in `namespace` at `revision`.
    ///
    /// The server looks the names up at that revision and then deletes by name, so an object that came later is safe unless
    /// it has the name of one that was there.
    pub async fn delete_collection<V: Cached>(
        &self,
        namespace: &str,
        label_selector: &str,
        revision: &Revision,
    ) -> Result<(), WriteError> {
        let collection = Collection::of::<V>(namespace);
        let what = What::new(&collection, "delete collection of", label_selector);
        let params = ListParams::default().labels(label_selector);
        let request = collection.request().delete_collection(&DeleteParams::default(), &params);
        let request = request.and_then(|it| revision.pin(it)).map_err(|error| what.unbuilt(error))?;
        // The answer lists everything that was deleted, which may be megabytes: it is not fetched.
        self.client
            .request_stream(self.in_its_lane(request))
            .await
            .map(drop)
            .map_err(|error| what.failed(error))
    }
}
