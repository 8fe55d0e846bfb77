//! The restart policy of a set.

use super::{
    Subject, Verdict,
    sizes::{at_most, is_positive},
    template_path,
};
use crate::{
    field::{Error, Errors, Path},
    limits::MAX_RESTARTS,
    messages,
    wire::{GoDuration, RestartBackoff},
};

pub(super) fn check(subject: &Subject<'_>, verdict: &mut Verdict) {
    let Some(policy) = &subject.template().restart_policy else { return };
    let errors = &mut verdict.errors;
    let path = template_path().child("restartPolicy");
    match policy.max_restarts {
        Some(max) if max < 0 => {
            errors.push(Error::invalid(path.child("maxRestarts"), max, "must be greater than or equal to 0"));
        }
        Some(max) if max > MAX_RESTARTS => {
            errors.push(Error::invalid(path.child("maxRestarts"), max, at_most(MAX_RESTARTS)));
        }
        _ => {}
    }
    positive(policy.window.as_ref(), path.child("window"), errors);
    if let Some(backoff) = &policy.backoff {
        check_backoff(backoff, &path.child("backoff"), errors);
    }
}

fn check_backoff(backoff: &RestartBackoff, path: &Path, errors: &mut Errors) {
    let (initial, max) = (backoff.initial.as_ref(), backoff.max.as_ref());
    let initial_is = positive(initial, path.child("initial"), errors);
    let max_is = positive(max, path.child("max"), errors);
    if let (Some(initial), Some(max), true, true) = (initial, max, initial_is, max_is)
        && initial.nanos().ok() > max.nanos().ok()
    {
        errors.push(Error::invalid(path.child("initial"), initial, messages::BACKOFF_UPSIDE_DOWN));
    }
}

/// Whether it is, or is not said.
fn positive(duration: Option<&GoDuration>, path: Path, errors: &mut Errors) -> bool {
    match duration {
        Some(duration) if !is_positive(duration) => {
            errors.push(Error::invalid(path, duration, messages::DELAY_NOT_POSITIVE));
            false
        }
        _ => true,
    }
}
