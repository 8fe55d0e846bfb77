//! A backend for an imaginary scheduler, complete and small enough to copy from.
//!
//! The scheduler is called `herd-scheduler`. It places a `Herd` (`herds.herd.example.com`) all or none: its folds are groups
//! of pods that are alike, of each of which at least so many have to be placed.
//!
//! ```yaml
//! apiVersion: herd.example.com/v1
//! kind: Herd
//! metadata: { name: inf-0 }
//! spec:
//!   patienceSeconds: 300
//!   importance: high
//!   within: topology.kubernetes.io/zone
//!   folds:
//!     - { name: inf-0-prefill, least: 2, within: topology.example.com/rack }
//!     - { name: inf-0-decode, least: 4 }
//! ```
//!
//! A pod belongs to a herd by the annotation `herd.example.com/herd`, and to a fold by the label `herd.example.com/fold`.
//! Older releases do not have `within` in their folds.
//!
//! `docs/backends/writing-a-backend.md` walks through this crate. The one line that it takes elsewhere is where the binary
//! is put together: `registry.register(HerdBackend)?`.

mod capabilities;
mod herd;
mod scheduler;

use std::sync::Arc;

use grove_api::{
    config::{Key, Shape, check_keys},
    field::{Errors, Path},
};
use grove_scheduler::{Example, Probe, Probed, ResourceUse, Scheduler, SchedulerBackend, Uses};
use serde_json::Value;

use self::scheduler::Herder;

/// What is known without a cluster: names, settings, and the API that is used.
#[derive(Clone, Copy, Debug, Default)]
pub struct HerdBackend;

/// The one setting: how long the scheduler waits for a whole herd.
const PATIENCE: &str = "patienceSeconds";
const DEFAULT_PATIENCE: u64 = 300;

/// Name of the definition of herds.
const DEFINITION: &str = "herds.herd.example.com";

impl SchedulerBackend for HerdBackend {
    fn name(&self) -> &'static str {
        "herd-scheduler"
    }

    fn check_config(&self, config: &Value, path: &Path) -> Errors {
        const KEYS: &[Key] = &[Key::optional(PATIENCE, Shape::Integer { min: 1, max: 3600 })];
        check_keys(config, path, KEYS)
    }

    fn resources(&self, _config: &Value) -> Vec<ResourceUse> {
        vec![ResourceUse {
            resource: herd::resource(),
            uses: Uses::Writes,
            reason: "gangs, as the herd scheduler knows them",
        }]
    }

    fn probes(&self, _config: &Value) -> Vec<Probe> {
        vec![Probe::Definition(DEFINITION.to_owned())]
    }

    fn init(&self, config: &Value, cluster: &Probed) -> Result<Arc<dyn Scheduler>, String> {
        if cluster.schema(DEFINITION, herd::VERSION).is_none() {
            return Err(format!("{DEFINITION} does not serve {}: install the herd scheduler", herd::VERSION));
        }
        Ok(Arc::new(Herder {
            patience: config.get(PATIENCE).and_then(Value::as_u64).unwrap_or(DEFAULT_PATIENCE),
            fold_levels: cluster.has_field(DEFINITION, herd::VERSION, &["spec", "folds", "[]", "within"]),
        }))
    }

    fn examples(&self) -> Vec<Example> {
        let release = |fields: &[&str]| Probed::default().with_fields(DEFINITION, herd::VERSION, fields);
        vec![
            Example { title: "2 or newer", cluster: release(&["spec.folds[].within"]) },
            Example { title: "1", cluster: release(&["spec.folds[].least"]) },
        ]
    }
}
