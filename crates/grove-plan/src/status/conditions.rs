//! Keeping a list of conditions: others' stay, and a time of transition moves only with the status.

use grove_api::{
    constants::conditions::SCALED_TO_ZERO,
    wire::{Condition, Time},
};
use k8s_openapi::jiff::Timestamp;

/// Longest message that the API server's schema admits.
const MAX_MESSAGE: usize = 32_768;

/// A condition as it is now.
#[derive(Clone, Debug)]
pub struct Now<'a> {
    /// Its type.
    pub type_: &'a str,
    /// `None` means Unknown.
    pub status: Option<bool>,
    /// Its reason.
    pub reason: &'a str,
    /// For people; cut where it is longer than the API server admits.
    pub message: String,
}

/// Puts `now` into the list.
pub fn put(conditions: &mut Vec<Condition>, condition: Now<'_>, generation: Option<i64>, now: Timestamp) {
    let status = match condition.status {
        Some(true) => "True",
        Some(false) => "False",
        None => "Unknown",
    };
    let mut message = condition.message;
    if message.len() > MAX_MESSAGE {
        message.truncate(message.floor_char_boundary(MAX_MESSAGE));
    }
    match conditions.iter_mut().find(|it| it.type_ == condition.type_) {
        Some(old) => {
            if old.status != status {
                status.clone_into(&mut old.status);
                old.last_transition_time = Time(now);
            }
            condition.reason.clone_into(&mut old.reason);
            old.message = message;
            old.observed_generation = generation;
        }
        None => conditions.push(Condition {
            type_: condition.type_.to_owned(),
            status: status.to_owned(),
            reason: condition.reason.to_owned(),
            message,
            observed_generation: generation,
            last_transition_time: Time(now),
        }),
    }
}

/// Likewise; what nobody has said yet has been so since `since`.
pub(super) fn put_since(
    conditions: &mut Vec<Condition>,
    condition: Now<'_>,
    since: Option<Timestamp>,
    now: Timestamp,
) {
    let is_new = !conditions.iter().any(|it| it.type_ == condition.type_);
    put(conditions, condition, None, since.filter(|_| is_new).unwrap_or(now));
}

/// Forgets what was said while the object was scaled to zero: what comes now is judged like a new one, so that nothing is
/// taken for lost that was never there.
pub(super) fn forget_zero(conditions: &mut Vec<Condition>) {
    conditions.retain(|it| it.reason != SCALED_TO_ZERO);
}

/// A condition of the list.
pub(crate) fn find<'a>(conditions: &'a [Condition], type_: &str) -> Option<&'a Condition> {
    conditions.iter().find(|it| it.type_ == type_)
}

/// Whether the list says that `type_` is True.
pub(super) fn is_true(conditions: &[Condition], type_: &str) -> bool {
    find(conditions, type_).is_some_and(|it| it.status == "True")
}

/// Removes a condition that has nothing to say any more.
pub(super) fn remove(conditions: &mut Vec<Condition>, type_: &str) {
    conditions.retain(|it| it.type_ != type_);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn ready(status: bool, reason: &'static str) -> Now<'static> {
        Now { type_: "Ready", status: Some(status), reason, message: "m".to_owned() }
    }

    #[test]
    fn time_moves_only_with_the_status_and_others_stay() {
        let mut list = Vec::new();
        put(
            &mut list,
            Now { type_: "Other", status: None, reason: "X", message: String::new() },
            None,
            at(1),
        );
        put(&mut list, ready(false, "A"), Some(1), at(2));
        put(&mut list, ready(false, "B"), Some(2), at(3));
        assert_eq!((list[1].reason.as_str(), list[1].last_transition_time.0), ("B", at(2)));
        put(&mut list, ready(true, "C"), Some(2), at(4));
        assert_eq!(list[1].last_transition_time.0, at(4));
        assert!(is_true(&list, "Ready") && !is_true(&list, "Other"));
        assert_eq!(list[0].status, "Unknown");
        remove(&mut list, "Other");
        assert_eq!(list.len(), 1);
    }

    #[test]
    fn a_long_message_is_cut_between_characters() {
        let mut list = Vec::new();
        let message = "ü".repeat(MAX_MESSAGE);
        put(&mut list, Now { type_: "T", status: None, reason: "R", message }, None, at(0));
        assert_eq!(list[0].message.len(), MAX_MESSAGE);
    }
}
