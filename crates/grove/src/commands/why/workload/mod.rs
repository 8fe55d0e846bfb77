//! `grove why` about pods and workloads that are not Grove's own: their groups, whoever made them.
//!
//! `kind` and `discover` find what is meant; `read` asks for pods, owners (`belonging`), groups and events, and `gather`
//! makes `facts` of them with the eyes of the schedulers' backends. `report` is what is shown: `standing` counts, `quota`
//! holds what is requested against what is available, `cause` decides, `sentence` and `advice` put it into words; `text`
//! prints it.

mod advice;
mod belonging;
mod cause;
mod discover;
mod facts;
#[cfg(test)]
mod fixture;
mod gather;
mod kind;
pub(super) mod pages;
mod quota;
mod read;
mod report;
mod sentence;
mod standing;
mod text;

use std::io;

use grove_scheduler::Registry;
use k8s_openapi::api::core::v1::Pod;

use self::{facts::Asked, read::Place, report::Report};
use super::shown;
use crate::{cluster::Cluster, findings::Format};

/// What there is to say of a pod that no gang of Grove's has.
pub(super) async fn pod(
    cluster: &Cluster,
    namespace: &str,
    registry: &Registry,
    pod: &Pod,
    output: Format,
) -> io::Result<String> {
    let place = Place { cluster, namespace };
    let facts = place.facts(Asked::of_pod(pod), registry).await?;
    let report = Report::of(&facts);
    shown(&report, output, || text::report(&report))
}

/// A name that the user may have meant.
pub(super) async fn similar(
    cluster: &Cluster,
    namespace: &str,
    (kind, name): (&str, &str),
) -> Option<String> {
    Place { cluster, namespace }.similar(kind, name).await
}

/// What there is to say of any other object; `None` where it is not there.
pub(super) async fn object(
    cluster: &Cluster,
    namespace: &str,
    registry: &Registry,
    (kind, name): (&str, &str),
    output: Format,
) -> io::Result<Option<String>> {
    let place = Place { cluster, namespace };
    let Some(asked) = place.asked(kind, name).await? else { return Ok(None) };
    let facts = place.facts(asked, registry).await?;
    let report = Report::of(&facts);
    shown(&report, output, || text::report(&report)).map(Some)
}
