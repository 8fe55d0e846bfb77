//! Which generation the status says was observed.

/// The latest of the generation that was acted on and the one that the status has.
///
/// Both may be above the generation of the object where a backup of the cluster was restored. They were of another history then:
/// all that is known is that some generation before this one was acted on.
pub(super) fn observed(generation: Option<i64>, acted: Option<i64>, stored: Option<i64>) -> Option<i64> {
    let Some(generation) = generation else { return acted.max(stored) };
    let known = |it: Option<i64>| it.filter(|it| *it <= generation);
    let is_of_another_history = known(acted) != acted || known(stored) != stored;
    known(acted).max(known(stored)).or(is_of_another_history.then(|| generation - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_history_says_is_corrected() {
        for (generation, acted, stored, expected) in [
            (Some(3), None, None, None),
            (Some(3), Some(2), None, Some(2)),
            (Some(3), Some(2), Some(3), Some(3)),
            (Some(3), Some(3), Some(2), Some(3)),
            (Some(2), Some(2), Some(3), Some(2)),
            (Some(2), Some(1), Some(3), Some(1)),
            (Some(2), None, Some(3), Some(1)),
            (Some(2), Some(3), Some(3), Some(1)),
            (Some(2), Some(3), Some(2), Some(2)),
            (None, Some(1), Some(2), Some(2)),
        ] {
            let seen = observed(generation, acted, stored);
            assert_eq!(seen, expected, "{generation:?} {acted:?} {stored:?}");
        }
    }
}
