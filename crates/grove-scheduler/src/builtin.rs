//! The schedulers that Grove brings along.

use crate::{kai::KaiBackend, kube::KubeBackend, registry::Registry, volcano::VolcanoBackend};

/// All of them, the stock scheduler first: it is the default of last resort.
pub fn builtin() -> Registry {
    let mut registry = Registry::default();
    // Their names differ, which a test sees to.
    let _ = registry.register(KubeBackend);
    let _ = registry.register(KaiBackend);
    let _ = registry.register(VolcanoBackend);
    registry
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_one_is_there() {
        let names: Vec<&str> = builtin().all().iter().map(|it| it.name()).collect();
        assert_eq!(names, ["default-scheduler", "kai-scheduler", "volcano"]);
    }
}
