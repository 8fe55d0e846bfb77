//! `grove tour` from beginning to end.

use grove::tour::steps;

use crate::{Folder, command, text};

/// Without line breaks and indentation.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The parts of a text between what is filled in.
fn fixed_parts(text: &str) -> Vec<String> {
    let parts = text.split('{').map(|it| it.split_once('}').map_or(it, |(_, rest)| rest));
    parts.map(words).filter(|it| !it.is_empty()).collect()
}

#[test]
fn every_step_comes_to_its_outcome() {
    let state = Folder::new("tour");
    // Nobody reads along.
    let tour = command(&["tour", "--pause", "100ms"]).env("XDG_STATE_HOME", &state.0).output().unwrap();
    let printed = text(&tour);
    assert_eq!(tour.status.code(), Some(0), "{printed}");

    let said = words(&String::from_utf8_lossy(&tour.stdout));
    let (steps, mut rest) = (steps(), said.as_str());
    assert_eq!(steps.len(), 6);
    for (number, step) in steps.iter().enumerate() {
        let mut parts = vec![format!("[{}/{}] {}", number + 1, steps.len(), step.title), words(step.intro)];
        parts.extend(fixed_parts(step.outcome));
        for part in parts {
            let after = rest.split_once(&part).map(|(_, after)| after);
            rest = after.unwrap_or_else(|| panic!("{part:?} is not printed, or not there:\n{printed}"));
        }
    }
    let why =
        said.split_once("The scheduler says: ").and_then(|(_, rest)| rest.split_once("[3/6]")).unwrap().0;
    // A leader and a worker of eight each. Which pod the words are about depends on which was looked at last.
    assert!(why.contains("needs 16 nvidia.com/gpu in one rack"), "{why}");
    assert!(said.contains("The tour is complete."), "{printed}");
    let left = state.0.join("grove/tour/kubeconfig");
    assert!(!left.exists(), "{} is still there", left.display());
}
