//! Asks an API server which kinds it serves.

use std::io;

use grove_api::field::closest;
use grove_runtime::object_name::is_api_version;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::APIResourceList;
use kube::{
    Client,
    core::gvk::{GroupVersion, ParseGroupVersionError},
};

use super::kind::{Reading, Served};
use crate::{
    cluster::{Cluster, causes},
    commands::kinds,
};

/// The kind that a user means: of several, that of the group which the API server names first, as kubectl does.
pub(super) async fn meant(cluster: &Cluster, text: &str) -> io::Result<Served> {
    let readings = Reading::all(text);
    let (mut silent, mut known) = (Vec::new(), kinds::Kind::all_names());
    for (group, version) in versions(cluster).await? {
        let wanted: Vec<&Reading<'_>> = readings.iter().filter(|it| it.may_be_in(&group, &version)).collect();
        if wanted.is_empty() {
            continue;
        }
        match rows(&cluster.client, &group, &version).await {
            Ok(list) => {
                let is_meant = |it: &&_| wanted.iter().any(|reading| reading.means(it));
                if let Some(row) = list.resources.iter().find(is_meant) {
                    return Ok(Served::of(row, &group, &version));
                }
                known.extend(list.resources.iter().map(|it| it.singular_name.clone()));
            }
            // A group that another server is to answer for, and that one is away.
            Err(kube::Error::Api(_)) => silent.push(format!("{group}/{version}")),
            Err(error) => return Err(unreachable(cluster, &error)),
        }
    }
    let but = match silent.as_slice() {
        [] => String::new(),
        some => format!("; {} did not answer", some.join(", ")),
    };
    let meant = closest(text, known.iter().filter(|it| !it.is_empty()).map(String::as_str));
    let hint = match meant {
        Some(meant) => format!("did you mean {meant:?}?"),
        None => "`kubectl api-resources` lists what there is".to_owned(),
    };
    Err(io::Error::other(format!("the cluster serves no kind {text:?}{but}; {hint}")))
}

/// The kind that an owner reference names; `None` where it is not served.
pub(super) async fn named(client: &Client, api_version: &str, kind: &str) -> Option<Served> {
    // Every user who may create a pod can choose it, and it becomes a part of a path.
    if !is_api_version(api_version) {
        return None;
    }
    let parsed: Result<GroupVersion, ParseGroupVersionError> = api_version.parse();
    let GroupVersion { group, version } = parsed.ok()?;
    let list = rows(client, &group, &version).await.ok()?;
    let row = list.resources.iter().find(|it| it.kind == kind && !it.name.contains('/'))?;
    Some(Served::of(row, &group, &version))
}

/// Groups and versions: the core first, and of each group the preferred version first.
async fn versions(cluster: &Cluster) -> io::Result<Vec<(String, String)>> {
    let groups = cluster.client.list_api_groups().await.map_err(|it| unreachable(cluster, &it))?;
    let mut all = vec![(String::new(), "v1".to_owned())];
    for group in groups.groups {
        let preferred = group.preferred_version.map(|it| it.version);
        let rest =
            group.versions.into_iter().map(|it| it.version).filter(|it| preferred.as_ref() != Some(it));
        let versions: Vec<String> = preferred.iter().cloned().chain(rest).collect();
        all.extend(versions.into_iter().map(|version| (group.name.clone(), version)));
    }
    Ok(all)
}

async fn rows(client: &Client, group: &str, version: &str) -> kube::Result<APIResourceList> {
    match group {
        "" => client.list_core_api_resources(version).await,
        _ => client.list_api_group_resources(&format!("{group}/{version}")).await,
    }
}

fn unreachable(cluster: &Cluster, error: &kube::Error) -> io::Error {
    let server = &cluster.server;
    io::Error::other(match error {
        kube::Error::Api(status) => format!("{server}: {}", status.message),
        other => format!("cannot reach {server}: {}", causes(other)),
    })
}
