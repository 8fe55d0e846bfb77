//! Replicas, minimum sizes, autoscaler bounds, delays.

use regex_lite::Regex;

use super::{Subject, Verdict, template_path};
use crate::{
    field::{Error, Errors, Path},
    limits::{MAX_CLIQUE_REPLICAS, MAX_CLIQUES, MAX_GROUP_REPLICAS, MAX_GROUPS, MAX_SET_REPLICAS},
    messages,
    schema::DURATION,
    wire::{AutoScalingConfig, GoDuration},
};

pub(super) fn check(subject: &Subject<'_>, verdict: &mut Verdict) {
    let errors = &mut verdict.errors;
    let template = subject.template();
    let replicas = subject.set.spec.replicas;
    let path = Path::of(&["spec", "replicas"]);
    if replicas < 0 {
        errors.push(Error::invalid(path, replicas, "must be greater than or equal to 0"));
    } else if replicas > MAX_SET_REPLICAS {
        errors.push(Error::invalid(path, replicas, at_most(MAX_SET_REPLICAS)));
    }

    let cliques = template_path().child("cliques");
    if template.cliques.is_empty() {
        errors.push(Error::required(cliques, "must have at least 1 item"));
    } else if template.cliques.len() > MAX_CLIQUES {
        errors.push(Error::too_many(cliques, template.cliques.len(), MAX_CLIQUES));
    }
    if template.scaling_groups.len() > MAX_GROUPS {
        let path = template_path().child("podCliqueScalingGroups");
        errors.push(Error::too_many(path, template.scaling_groups.len(), MAX_GROUPS));
    }
    if template.startup_type.is_none() {
        errors.push(Error::required(template_path().child("cliqueStartupType"), ""));
    }
    termination_delay(subject, errors);
    progress_deadline(subject, errors);

    for (path, clique) in subject.cliques() {
        let spec = &clique.spec;
        let path = path.child("spec");
        let size =
            Size { replicas: spec.replicas, min_available: spec.min_available, max: MAX_CLIQUE_REPLICAS };
        size.check(&path, errors);
        if let Some(config) = &spec.auto_scaling_config {
            size.check_autoscaler(config, &path.child("autoScalingConfig"), errors);
        }
    }
    for (path, group) in subject.groups() {
        let size =
            Size { replicas: group.replicas, min_available: group.min_available, max: MAX_GROUP_REPLICAS };
        size.check(&path, errors);
        if let Some(config) = &group.scale_config {
            size.check_autoscaler(config, &path.child("scaleConfig"), errors);
        }
    }
}

fn termination_delay(subject: &Subject<'_>, errors: &mut Errors) {
    let path = template_path().child("terminationDelay");
    match &subject.template().termination_delay {
        None => errors.push(Error::required(path, "")),
        Some(delay) if !is_positive(delay) => {
            errors.push(Error::invalid(path, delay, messages::DELAY_NOT_POSITIVE));
        }
        Some(_) => {}
    }
}

fn progress_deadline(subject: &Subject<'_>, errors: &mut Errors) {
    let strategy = subject.set.spec.update_strategy.as_ref();
    if let Some(deadline) = strategy.and_then(|it| it.progress_deadline.as_ref())
        && !is_positive(deadline)
    {
        let path = Path::of(&["spec", "updateStrategy", "progressDeadline"]);
        errors.push(Error::invalid(path, deadline, messages::DELAY_NOT_POSITIVE));
    }
}

/// The CRD's own rule takes fewer spellings than Go does; what it refuses is refused here too.
pub(super) fn is_positive(duration: &GoDuration) -> bool {
    duration.nanos().is_ok_and(|it| it > 0)
        && Regex::new(DURATION).is_ok_and(|it| it.is_match(duration.as_str()))
}

/// Size of a clique or of a scaling group.
#[derive(Clone, Copy)]
struct Size {
    replicas: Option<i32>,
    min_available: Option<i32>,
    max: i32,
}

impl Size {
    fn check(self, path: &Path, errors: &mut Errors) {
        let replicas = self.replicas.unwrap_or(0);
        if replicas < 0 {
            let detail = "must be greater than or equal to 0";
            errors.push(Error::invalid(path.child("replicas"), replicas, detail));
        } else if replicas > self.max {
            errors.push(Error::invalid(path.child("replicas"), replicas, at_most(self.max)));
        }
        let path = path.child("minAvailable");
        match self.min_available {
            None => errors.push(Error::required(path, "")),
            Some(min) if min <= 0 => {
                errors.push(Error::invalid(path, min, "must be greater than or equal to 1"));
            }
            // Scaled to zero, a minimum is that of the pods to come.
            Some(min) if min > replicas && replicas != 0 => {
                errors.push(Error::invalid(path, min, format!("{} ({replicas})", messages::ABOVE_REPLICAS)));
            }
            Some(_) => {}
        }
    }

    fn check_autoscaler(self, config: &AutoScalingConfig, path: &Path, errors: &mut Errors) {
        let (replicas, max) = (self.replicas.unwrap_or(0), config.max_replicas);
        let min_path = path.child("minReplicas");
        match (config.min_replicas, self.min_available) {
            (None, _) => errors.push(Error::required(min_path, "")),
            (Some(low), Some(needed)) if low < needed => {
                let detail = format!("{} ({needed})", messages::BELOW_MIN_AVAILABLE);
                errors.push(Error::invalid(min_path, low, detail));
            }
            _ => {}
        }
        let max_path = path.child("maxReplicas");
        if max > self.max {
            errors.push(Error::invalid(max_path, max, at_most(self.max)));
        } else if let Some(low) = config.min_replicas.filter(|low| max < *low) {
            errors.push(Error::invalid(max_path, max, format!("{} ({low})", messages::MAX_BELOW_MIN)));
        } else if max < replicas {
            errors.push(Error::invalid(
                max_path,
                max,
                format!("{} ({replicas})", messages::MAX_BELOW_REPLICAS),
            ));
        }
    }
}

pub(super) fn at_most(max: i32) -> String {
    format!("must be less than or equal to {max}")
}
