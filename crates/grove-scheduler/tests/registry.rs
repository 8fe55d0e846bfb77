//! Registration of backends, and the registry in the hands of many.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, also in its functions")]

use std::{
    sync::{Arc, Barrier},
    thread,
};

use grove_api::field::{Errors, Path};
use grove_scheduler::{Probe, Probed, Registry, RegistryError, ResourceUse, Scheduler, SchedulerBackend};
use serde_json::{Value, json};

/// Threads that read at once.
const READERS: usize = 16;

/// A backend with a name and nothing else.
#[derive(Debug)]
struct Named(&'static str, &'static [&'static str]);

impl SchedulerBackend for Named {
    fn name(&self) -> &'static str {
        self.0
    }

    fn synonyms(&self) -> &'static [&'static str] {
        self.1
    }

    fn check_config(&self, config: &Value, path: &Path) -> Errors {
        grove_api::config::check_keys(config, path, &[])
    }

    fn resources(&self, _: &Value) -> Vec<ResourceUse> {
        Vec::new()
    }

    fn probes(&self, _: &Value) -> Vec<Probe> {
        Vec::new()
    }

    fn init(&self, _: &Value, _: &Probed) -> Result<Arc<dyn Scheduler>, String> {
        Err("not in this cluster".to_owned())
    }
}

#[test]
fn backends_are_found_by_their_name_and_no_two_have_one() {
    let mut registry = Registry::default();
    registry.register(Named("a", &["alpha"])).unwrap();
    registry.register(Named("b", &[])).unwrap();
    assert_eq!(registry.all().iter().map(|it| it.name()).collect::<Vec<_>>(), ["a", "b"]);
    assert!(registry.get("a").is_some());
    // A synonym is for the configuration only; pods carry the name.
    assert!(registry.get("alpha").is_none());
    assert!(registry.get("c").is_none());
    for taken in [Named("a", &[]), Named("alpha", &[]), Named("c", &["b"])] {
        let name = taken.1.first().copied().unwrap_or(taken.0);
        let name = if registry.get(taken.0).is_some() { taken.0 } else { name };
        assert_eq!(registry.register(taken), Err(RegistryError::Duplicate(name.to_owned())));
    }
    assert_eq!(registry.all().len(), 2);
}

#[test]
fn a_registered_backend_is_known_to_the_configuration() {
    let mut registry = Registry::default();
    registry.register(Named("a", &["alpha"])).unwrap();
    registry.with_known(|known| {
        assert_eq!((known[0].name, known[0].synonyms), ("a", &["alpha"][..]));
        let errors = (known[0].check_config)(&json!({ "x": 1 }), &Path::of(&["config"]));
        assert_eq!(errors.len(), 1, "{errors:?}");
    });
}

/// Controllers, admission and the status server read one registry from many threads.
#[test]
fn many_threads_read_one_registry() {
    let mut registry = Registry::default();
    for backend in [Named("a", &[]), Named("b", &["bee"]), Named("c", &[])] {
        registry.register(backend).unwrap();
    }
    let registry = Arc::new(registry);
    let start = Arc::new(Barrier::new(READERS));
    let read = |_| {
        let (registry, start) = (Arc::clone(&registry), Arc::clone(&start));
        thread::spawn(move || {
            start.wait();
            for _ in 0..1_000 {
                let names: Vec<&str> = registry.all().iter().map(|it| it.name()).collect();
                assert_eq!(names, ["a", "b", "c"]);
                for (place, name) in names.iter().enumerate() {
                    let found = registry.get(name).unwrap();
                    assert!(Arc::ptr_eq(found, &registry.all()[place]), "{name} is another one");
                }
                assert!(registry.get("bee").is_none(), "pods do not carry synonyms");
                registry.with_known(|known| assert!(known.iter().map(|it| it.name).eq(names)));
            }
        })
    };
    let readers: Vec<_> = (0..READERS).map(read).collect();
    for reader in readers {
        reader.join().unwrap();
    }
    // Each reader has given back what it held: nothing was copied for it.
    assert_eq!(Arc::strong_count(&registry), 1);
    assert!(registry.all().iter().all(|it| Arc::strong_count(it) == 1));
}
