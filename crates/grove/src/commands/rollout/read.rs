//! Asks a cluster for a set and the templates that it has had.

use std::io;

use grove_api::wire::PodCliqueSet;
use grove_plan::objects::kept_template;
use k8s_openapi::api::apps::v1::ControllerRevision;
use kube::{
    Api,
    api::{ApiResource, DynamicObject, ListParams},
};

use super::history;
use crate::{cluster::failure, commands::status::read::Question};

/// A set and what is kept of it.
pub(super) struct Read {
    pub(super) set: PodCliqueSet,
    /// The same, with whatever we do not know.
    pub(super) raw: DynamicObject,
    /// By number; `data` is the template itself, or null where it cannot be read.
    pub(super) revisions: Vec<ControllerRevision>,
}

/// Asks once; `None` where there is no such set.
pub(super) async fn read(question: &Question) -> io::Result<Option<Read>> {
    let failed = |error| failure(&question.server, &error);
    let name = question.set.as_deref().unwrap_or_default();
    let Some(raw) = sets(question).get_opt(name).await.map_err(failed)? else {
        // No such set, or no such kind: only the list tells.
        sets(question).list(&ListParams::default().limit(1)).await.map_err(failed)?;
        return Ok(None);
    };
    let set: PodCliqueSet = raw.clone().try_parse().map_err(io::Error::other)?;
    let params = ListParams::default().labels(&question.selector());
    let list = question.api::<ControllerRevision>().list(&params).await.map_err(failed)?;
    let mut revisions = history::of_set(&set, list.items);
    for revision in &mut revisions {
        revision.data.0 = kept_template(revision).unwrap_or_default();
    }
    Ok(Some(Read { set, raw, revisions }))
}

/// Sets as they are, field by field.
pub(super) fn sets(question: &Question) -> Api<DynamicObject> {
    let namespace = question.namespace.as_deref().unwrap_or_default();
    Api::namespaced_with(question.client.clone(), namespace, &ApiResource::erase::<PodCliqueSet>(&()))
}
