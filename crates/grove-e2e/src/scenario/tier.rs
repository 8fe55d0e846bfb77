//! Where scenarios run. What `make e2e` leaves to `make e2e-full` is in `e2e/full-only.txt`, one line each: cluster, scenario, reason.
//! What does not run on simulated clusters is in `e2e/real-only.txt`: scenario, or the beginning of several and a `*`, and the reason.

use super::Scenario;
use crate::cluster::{Gates, Scheduler};

/// The checked-in list.
const LIST: &str = include_str!("../../../../e2e/full-only.txt");

/// Whether `scenario` on the cluster called `cluster` is run by `make e2e-full` alone.
pub(super) fn is_full_only(cluster: &str, scenario: &str) -> bool {
    parse(LIST).any(|it| it == (cluster, scenario))
}

/// What needs a real control plane.
const REAL_ONLY: &str = include_str!("../../../../e2e/real-only.txt");

/// What simulated clusters are like.
pub(super) const SIMULATED: (Scheduler, Gates) = (Scheduler::Kube, Gates::All);

/// Whether `scenario` runs on simulated clusters, too.
pub fn runs_on_sandbox(scenario: &Scenario) -> bool {
    scenario.on.contains(&SIMULATED) && !needs_real(scenario.name)
}

fn needs_real(scenario: &str) -> bool {
    parse(REAL_ONLY).any(|(name, _)| match name.strip_suffix('*') {
        Some(prefix) => scenario.starts_with(prefix),
        None => scenario == name,
    })
}

fn parse(list: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = list.lines().filter(|it| !it.trim().is_empty() && !it.starts_with('#'));
    lines.filter_map(|line| {
        let mut words = line.split_whitespace();
        Some((words.next()?, words.next()?))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{
        scenario::{artefacts, run::label},
        scenarios,
    };

    /// Cluster, scenario, and whether `make e2e` runs it.
    fn runs() -> Vec<(String, &'static str, bool)> {
        let scenarios = scenarios::ALL.iter().flat_map(|it| it.iter());
        scenarios
            .flat_map(|scenario| {
                scenario.on.iter().map(|(scheduler, gates)| {
                    let cluster = label(*scheduler, *gates);
                    let quick = !scenario.full_only && !is_full_only(&cluster, scenario.name);
                    (cluster, scenario.name, quick)
                })
            })
            .collect()
    }

    #[test]
    fn lines_name_scenarios_that_would_run_otherwise() {
        let runs = runs();
        for (cluster, scenario) in parse(LIST) {
            let known = runs.iter().any(|it| it.0 == cluster && it.1 == scenario);
            assert!(known, "e2e/full-only.txt: there is no {scenario} on {cluster}");
        }
        let lines: Vec<_> = parse(LIST).collect();
        assert_eq!(lines.len(), lines.iter().collect::<BTreeSet<_>>().len(), "a line is there twice");
    }

    /// A line that names nothing would hide that a scenario was renamed.
    #[test]
    fn what_needs_a_real_control_plane_exists() {
        let runs = runs();
        for (name, _) in parse(REAL_ONLY) {
            let prefix = name.trim_end_matches('*');
            let known =
                runs.iter().any(|it| if prefix == name { it.1 == name } else { it.1.starts_with(prefix) });
            assert!(known, "e2e/real-only.txt: there is no {name}");
        }
        assert!(needs_real("rig_lost_node") && !needs_real("updates_ru7"));
    }

    /// The quick tier misses nothing but variants: each area runs on every scheduler for which it has a scenario. What only compares
    /// the sandbox with Kubernetes says nothing new of either, and what is shipped takes longer to build than all the rest to run.
    #[test]
    fn every_area_and_every_scheduler_is_in_the_quick_tier() {
        let areas = |only_quick: bool| -> BTreeSet<(String, String)> {
            let area = |name: &str| name.split('_').next().unwrap_or_default().to_owned();
            let scheduler = |cluster: &str| cluster.split('-').next().unwrap_or_default().to_owned();
            let runs = runs().into_iter().filter(|it| it.2 || !only_quick);
            let runs = runs.filter(|it| !it.1.starts_with("sandbox_") && !it.1.starts_with(artefacts::AREA));
            runs.map(|(cluster, name, _)| (area(name), scheduler(&cluster))).collect()
        };
        let missing: Vec<_> = areas(false).difference(&areas(true)).cloned().collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
