//! Everything that is stored in a cluster, by name, to find what an installation leaves behind.

use std::collections::BTreeSet;

use anyhow::Result;
use kube::{
    Api, Client, Discovery, ResourceExt,
    api::ListParams,
    core::DynamicObject,
    discovery::{ApiGroup, verbs},
};

/// What comes and goes by itself: Events, heartbeats of nodes, addresses, and how groups of CRDs are served.
const ALIVE: [&str; 4] = ["Event", "EndpointSlice", "Endpoints", "APIService"];
/// Namespace of the heartbeats of nodes.
const HEARTBEATS: &str = "kube-node-lease";

/// `Kind namespace/name` of all objects.
pub(super) async fn take(client: &Client) -> Result<BTreeSet<String>> {
    let mut all = BTreeSet::new();
    let discovery = Discovery::new(client.clone()).run().await?;
    for (resource, capabilities) in discovery.groups().flat_map(ApiGroup::recommended_resources) {
        if !capabilities.supports_operation(verbs::LIST) || ALIVE.contains(&resource.kind.as_str()) {
            continue;
        }
        let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
        let list = match api.list_metadata(&ListParams::default()).await {
            // Some kinds are named and cannot be listed, and a CRD may just have gone.
            Err(kube::Error::Api(status)) if [404, 405, 406].contains(&status.code) => continue,
            answer => answer?,
        };
        let kept = list.items.iter().filter(|it| it.namespace().as_deref() != Some(HEARTBEATS));
        all.extend(kept.map(|it| {
            let place = it.namespace().map(|it| format!("{it}/")).unwrap_or_default();
            format!("{} {place}{}", resource.kind, it.name_any())
        }));
    }
    Ok(all)
}
