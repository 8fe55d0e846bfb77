//! The scheduler backends as a plan uses them: initialised without writing anything.

use std::{collections::BTreeMap, io, path::Path, sync::Arc};

use grove_api::{config::Loaded, constants::schedulers, field::closest, validation::Environment};
use grove_scheduler::{Probe, Registry, Scheduler};
use kube::core::GroupVersionResource;
use serde_json::{Value, json};

use crate::{
    cluster::{Cluster, failure},
    commands::{config::load_configuration, validate},
    findings, input,
};

/// The backends, and what is known of the cluster that they would find.
pub(super) struct Schedulers<'a> {
    registry: &'a Registry,
    loaded: Option<Loaded>,
    /// For pods that name none.
    default: String,
    /// Whether a resource is served, where a cluster was asked.
    served: Option<BTreeMap<String, bool>>,
    ready: BTreeMap<String, Ready>,
}

/// An initialised backend.
#[derive(Clone, Debug)]
pub(super) struct Ready {
    pub(super) name: String,
    pub(super) scheduler: Arc<dyn Scheduler>,
    /// Which of the clusters that its backend knows was assumed.
    pub(super) assumed: &'static str,
}

impl<'a> Schedulers<'a> {
    /// `None` where the configuration is wrong; `problems` says what.
    pub(super) fn new(
        registry: &'a Registry,
        config: Option<&Path>,
        problems: &mut findings::Report,
    ) -> io::Result<Option<Self>> {
        let mut loaded = None;
        if let Some(path) = config {
            loaded = load_configuration(&input::read_file(path)?, registry, problems);
            if loaded.is_none() {
                return Ok(None);
            }
        }
        let default = loaded.as_ref().map_or(schedulers::DEFAULT, |it| it.profiles.default_name()).to_owned();
        Ok(Some(Self { registry, loaded, default, served: None, ready: BTreeMap::new() }))
    }

    /// What validation may know of the operator.
    pub(super) fn environment(&self) -> Environment {
        self.loaded.as_ref().map(validate::environment).unwrap_or_default()
    }

    /// The scheduler of pods that name none.
    pub(super) fn default(&self) -> &str {
        &self.default
    }

    pub(super) fn registry(&self) -> &'a Registry {
        self.registry
    }

    /// The topology that a new set gets which names none.
    pub(super) fn default_topology(&self) -> Option<&str> {
        self.loaded.as_ref()?.config.default_topology()
    }

    pub(super) fn set_default(&mut self, name: &str) -> io::Result<()> {
        name.clone_into(&mut self.default);
        let ready = self.get(name).map_err(|it| io::Error::new(io::ErrorKind::InvalidInput, it))?;
        self.default = ready.name;
        Ok(())
    }

    /// Asks a cluster which of the backends' resources it serves. Dry runs, which a backend may want too, need the right to
    /// create: their outcome is assumed.
    pub(super) async fn look_at(&mut self, cluster: &Cluster) -> io::Result<()> {
        let mut served = BTreeMap::new();
        for backend in self.registry.all() {
            for probe in backend.probes(&self.config_of(backend.name())) {
                if let Probe::Served(resource) = probe {
                    let is_served = is_served(cluster, &resource).await?;
                    served.insert(key(&resource), is_served);
                }
            }
        }
        self.served = Some(served);
        Ok(())
    }

    /// The scheduler of this name, by which its configuration knows it too.
    pub(super) fn get(&mut self, name: &str) -> Result<Ready, String> {
        if let Some(ready) = self.ready.get(name) {
            return Ok(ready.clone());
        }
        let mut all = self.registry.all().iter();
        let Some(backend) = all.find(|it| it.name() == name || it.synonyms().contains(&name)) else {
            return Err(self.unknown(name));
        };
        let config = self.config_of(backend.name());
        let examples = backend.examples();
        let probes = backend.probes(&config);
        let is_like = |it: &&grove_scheduler::backend::Example| {
            let Some(served) = &self.served else { return true };
            probes.iter().all(|probe| match probe {
                Probe::Served(resource) => served.get(&key(resource)) == Some(&it.cluster.serves(resource)),
                _ => true,
            })
        };
        let example = examples.iter().find(is_like).or(examples.first());
        let (assumed, cluster) = example.map(|it| (it.title, it.cluster.clone())).unwrap_or_default();
        let scheduler =
            backend.init(&config, &cluster).map_err(|why| format!("{}: {why}", backend.name()))?;
        let ready = Ready { name: backend.name().to_owned(), scheduler, assumed };
        self.ready.insert(name.to_owned(), ready.clone());
        Ok(ready)
    }

    fn unknown(&self, name: &str) -> String {
        let names: Vec<&str> = self.registry.all().iter().map(|it| it.name()).collect();
        let meant = closest(name, names.iter().copied());
        let hint = meant
            .map_or_else(|| format!("known: {}", names.join(", ")), |it| format!("did you mean {it:?}?"));
        format!("no scheduler backend {name:?}; {hint}")
    }

    /// The settings of a backend's profile.
    fn config_of(&self, name: &str) -> Value {
        let profiles = self.loaded.as_ref().map(|it| it.profiles.active()).unwrap_or_default();
        let profile = profiles.iter().find(|it| it.name == name);
        profile.map_or_else(|| json!({}), |it| it.config.clone())
    }
}

fn key(resource: &GroupVersionResource) -> String {
    format!("{}/{}/{}", resource.group, resource.version, resource.resource)
}

async fn is_served(cluster: &Cluster, resource: &GroupVersionResource) -> io::Result<bool> {
    let group_version = format!("{}/{}", resource.group, resource.version);
    match cluster.client.list_api_group_resources(&group_version).await {
        Ok(list) => Ok(list.resources.iter().any(|it| it.name == resource.resource)),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(false),
        Err(error) => Err(failure(&cluster.server, &error)),
    }
}
