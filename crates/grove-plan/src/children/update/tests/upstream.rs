//! Cliques that newer versions of upstream Grove made.

use super::*;

/// The first member of a group, whose container has one more variable.
fn member(set: &PodCliqueSet, variable: Option<Value>) -> PodClique {
    let config = &set.spec.template.scaling_groups[0];
    let clique = layout::members(set, 0, config, 0).next().unwrap();
    let mut made = value(&objects::clique(context(set), &clique, None));
    let variables = made["spec"]["podSpec"]["containers"][0]["env"].as_array_mut().unwrap();
    variables.extend(variable);
    serde_json::from_value(made).unwrap()
}

/// They give members of groups a variable that we do not have. A template is not changed by it, and no pod is replaced.
#[test]
fn variable_of_newer_upstream_is_no_change_of_the_template() {
    let set = set("fe=2/1 | g=2/1:fe");
    let from_label = |label: &str| {
        let path = format!("metadata.labels['{label}']");
        json!({ "name": "GROVE_PCSG_POD_INDEX", "valueFrom": { "fieldRef": { "fieldPath": path } } })
    };
    let theirs = from_label("grove.io/podcliquescalinggroup-pod-index");
    assert!(same_template(&member(&set, Some(theirs.clone())), &member(&set, None)));
    assert!(
        !clique_patch(&member(&set, Some(theirs)), &member(&set, None))
            .is_some_and(|it| changes_template(&it))
    );
    // A user's variable of that name is another matter.
    for users in [from_label("index"), json!({ "name": "GROVE_PCSG_POD_INDEX", "value": "1" })] {
        assert!(!same_template(&member(&set, Some(users)), &member(&set, None)));
    }
}
