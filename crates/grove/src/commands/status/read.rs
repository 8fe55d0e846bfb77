//! Asks a cluster.

use std::{fmt::Debug, io};

use grove_api::constants::labels;
use kube::{Api, Client, Resource, api::ListParams, core::NamespaceResourceScope};
use serde::de::DeserializeOwned;

use super::seen::{Objects, Seen, key};
use crate::{cluster::failure, commands::preemptions};

/// What is asked, and whom.
#[derive(Clone)]
pub(in crate::commands) struct Question {
    pub(in crate::commands) client: Client,
    /// Address of the API server, for errors.
    pub(in crate::commands) server: String,
    /// `None`: all.
    pub(in crate::commands) namespace: Option<String>,
    /// `None`: all.
    pub(in crate::commands) set: Option<String>,
}

/// A kind that is asked for.
pub(in crate::commands) trait Kind:
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
    pub(in crate::commands) fn api<K: Kind>(&self) -> Api<K> {
        match &self.namespace {
            Some(namespace) => Api::namespaced(self.client.clone(), namespace),
            None => Api::all(self.client.clone()),
        }
    }

    /// Selects what belongs to the set, or to any.
    pub(in crate::commands) fn selector(&self) -> String {
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

/// Asks once. A set that is not there is not in the answer.
pub(in crate::commands) async fn once(question: &Question) -> io::Result<Seen> {
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
    let preemptions = preemptions::read(&question.api()).await;
    seen.preemptions = preemptions.map_err(|it| failure(&question.server, &it))?;
    Ok(seen)
}
