//! The schedulers that this operator knows, and the names under which they are found.

use std::sync::Arc;

use grove_api::config::{KnownBackend, SchedulerProfiles};
use grove_api::field::{Errors, Path};
use serde_json::Value;

use crate::backend::SchedulerBackend;

/// Why a backend cannot be registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// Two backends would answer to one name.
    #[error("scheduler backend {0:?} is registered already")]
    Duplicate(String),
}

/// All backends that were compiled in, in the order of registration.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    backends: Vec<Arc<dyn SchedulerBackend>>,
}

type Check = Box<dyn Fn(&Value, &Path) -> Errors + Send + Sync>;

impl Registry {
    /// Adds a backend: this one line is all that the rest of Grove has to know of it.
    pub fn register(&mut self, backend: impl SchedulerBackend + 'static) -> Result<(), RegistryError> {
        let names = std::iter::once(backend.name()).chain(backend.synonyms().iter().copied());
        for name in names {
            if self.backends.iter().any(|it| is_called(it.as_ref(), name)) {
                return Err(RegistryError::Duplicate(name.to_owned()));
            }
        }
        self.backends.push(Arc::new(backend));
        Ok(())
    }

    /// The backend whose pods carry this `schedulerName`.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn SchedulerBackend>> {
        self.backends.iter().find(|it| it.name() == name)
    }

    /// All of them.
    pub fn all(&self) -> &[Arc<dyn SchedulerBackend>] {
        &self.backends
    }

    /// Those that the configuration asks for, or that are always active, with their settings.
    pub fn active<'a>(
        &'a self,
        profiles: &'a SchedulerProfiles,
    ) -> impl Iterator<Item = (&'a Arc<dyn SchedulerBackend>, &'a Value)> {
        profiles.active().iter().filter_map(|profile| Some((self.get(&profile.name)?, &profile.config)))
    }

    /// Calls `read` with the backends as the configuration needs to know them.
    pub fn with_known<R>(&self, read: impl FnOnce(&[KnownBackend<'_>]) -> R) -> R {
        let check = |backend: &Arc<dyn SchedulerBackend>| -> Check {
            let backend = Arc::clone(backend);
            Box::new(move |config, path| backend.check_config(config, path))
        };
        let checks: Vec<Check> = self.backends.iter().map(check).collect();
        let known: Vec<KnownBackend<'_>> = self
            .backends
            .iter()
            .zip(&checks)
            .map(|(backend, check)| backend.known().with_check(check.as_ref()))
            .collect();
        read(&known)
    }
}

fn is_called(backend: &dyn SchedulerBackend, name: &str) -> bool {
    backend.name() == name || backend.synonyms().contains(&name)
}
