//! Which template to put back, and what that changes: pure functions.
//!
//! What is put back is what makes pods: labels, annotations and pods of the cliques. All else (replicas, bounds of
//! autoscalers, delays) stays as it is now: a revision is not about that, and what it says of it is of another day.

use grove_api::{
    defaulting::default_pod_clique_set,
    wire::{PodCliqueSet, SetTemplate},
};
use grove_plan::hash;
use k8s_openapi::api::apps::v1::ControllerRevision;
use kube::ResourceExt;
use serde_json::{Map, Value, json};

use super::history::number;

/// The template that a revision makes of the present one.
#[derive(Debug, PartialEq)]
pub(super) struct Back {
    pub(super) revision: i64,
    /// `None` where it is that already.
    pub(super) template: Option<Value>,
}

/// What to put back; `Err` says why nothing can be.
pub(super) fn choose(
    template: &Value,
    revisions: &[ControllerRevision],
    wanted: Option<i64>,
) -> Result<Back, String> {
    if let Some(wanted) = wanted {
        let Some(found) = revisions.iter().find(|it| number(it) == wanted) else {
            let known: Vec<String> = revisions.iter().map(|it| number(it).to_string()).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(format!("no revision {wanted}; available: {known}"));
        };
        return back(template, found);
    }
    // One that is paused may say something that was never in use: then the one in use is the last that differs.
    for revision in revisions.iter().rev() {
        let back = back(template, revision)?;
        if back.template.is_some() {
            return Ok(back);
        }
    }
    Err("there is no earlier revision to roll back to".to_owned())
}

fn back(template: &Value, revision: &ControllerRevision) -> Result<Back, String> {
    let number = number(revision);
    if revision.data.0.is_null() {
        return Err(format!("revision {number} ({}) has no readable template", revision.name_any()));
    }
    let then = put_back(template, &revision.data.0).ok_or_else(|| {
        format!("revision {number} has different cliques; cliques cannot be added or removed")
    })?;
    let same = meaning(template)? == meaning(&then)?;
    Ok(Back { revision: number, template: (!same).then_some(then) })
}

/// `now` with the pods of `then`; `None` where they have not the same cliques.
fn put_back(now: &Value, then: &Value) -> Option<Value> {
    let mut template = now.clone();
    let before = then["cliques"].as_array()?;
    let cliques = template["cliques"].as_array_mut()?;
    if cliques.len() != before.len() {
        return None;
    }
    for clique in cliques {
        let old = before.iter().find(|it| it["name"] == clique["name"])?;
        for part in ["labels", "annotations"] {
            replace(clique.as_object_mut()?, part, &old[part]);
        }
        replace(clique["spec"].as_object_mut()?, "podSpec", &old["spec"]["podSpec"]);
    }
    Some(template)
}

fn replace(map: &mut Map<String, Value>, key: &str, value: &Value) {
    if value.is_null() {
        map.remove(key);
    } else {
        map.insert(key.to_owned(), value.clone());
    }
}

/// What the operator makes of a template: lists in another order, or a default that is written out, are no difference.
fn meaning(template: &Value) -> Result<String, String> {
    let template: SetTemplate = serde_json::from_value(template.clone())
        .map_err(|error| format!("the template cannot be read: {error}"))?;
    let mut set = PodCliqueSet::default();
    set.spec.template = template;
    default_pod_clique_set(&mut set, None);
    Ok(hash::generation(&set))
}

/// The change of a set of this version that makes `template` its template.
pub(super) fn patch(version: &str, template: &Value) -> Value {
    json!({
        "metadata": { "resourceVersion": version },
        "spec": { "template": { "cliques": template["cliques"] } },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(image: &str, replicas: i32) -> Value {
        json!({
            "cliques": [
                { "name": "a", "spec": { "roleName": "a", "replicas": replicas, "minAvailable": 1,
                    "podSpec": { "containers": [{ "name": "main", "image": image }] } } },
                { "name": "b", "spec": { "roleName": "b", "replicas": 1, "podSpec": { "containers": [{ "name": "main", "image": "b:1" }] } } },
            ],
            "podCliqueScalingGroups": [{ "name": "g", "cliqueNames": ["b"], "replicas": replicas }],
        })
    }

    fn revision(number: i64, template: &Value) -> ControllerRevision {
        serde_json::from_value(json!({ "metadata": { "name": "r" }, "revision": number, "data": template }))
            .unwrap()
    }

    #[test]
    fn pods_come_back_and_replicas_stay() {
        let mut then = template("x:1", 2);
        then["cliques"][0]["labels"] = json!({ "team": "a" });
        then["priorityClassName"] = json!("high");
        then["cliques"].as_array_mut().unwrap().reverse();
        let mut now = template("x:2", 5);
        now["cliques"][0]["annotations"] = json!({ "note": "new" });
        now["cliques"][0]["spec"]["autoScalingConfig"] = json!({ "maxReplicas": 9 });
        let got = choose(&now, &[revision(1, &then)], None).unwrap().template.unwrap();
        let mut want = template("x:1", 5);
        want["cliques"][0]["labels"] = json!({ "team": "a" });
        want["cliques"][0]["spec"]["autoScalingConfig"] = json!({ "maxReplicas": 9 });
        assert_eq!(got, want);
    }

    #[test]
    fn without_a_number_the_last_that_differs_is_taken() {
        let all = [
            revision(2, &template("x:1", 1)),
            revision(3, &template("x:2", 1)),
            revision(4, &template("x:3", 1)),
        ];
        let chosen = |now: &str| choose(&template(now, 7), &all, None).unwrap().revision;
        assert_eq!(chosen("x:3"), 3);
        // It was put back by hand, and is not in use yet.
        assert_eq!(chosen("x:1"), 4);
        // It is paused: the newest was never in use.
        assert_eq!(chosen("x:4"), 4);
    }

    #[test]
    fn defaults_and_order_are_no_difference() {
        let mut written = template("x:1", 1);
        written["cliques"][0]["spec"]["podSpec"]["terminationGracePeriodSeconds"] = json!(30);
        written["cliques"][0]["spec"]["podSpec"]["restartPolicy"] = json!("Always");
        let all = [revision(1, &written)];
        assert_eq!(
            choose(&template("x:1", 1), &all, None),
            Err("there is no earlier revision to roll back to".to_owned())
        );
        assert_eq!(choose(&template("x:1", 1), &all, Some(1)), Ok(Back { revision: 1, template: None }));
    }

    #[test]
    fn a_number_is_taken_at_its_word() {
        let all = [revision(1, &template("x:1", 1)), revision(3, &template("x:2", 1))];
        let got = choose(&template("x:2", 1), &all, Some(1)).unwrap();
        assert_eq!((got.revision, got.template), (1, Some(template("x:1", 1))));
        let no = |wanted| choose(&template("x:2", 1), &all, Some(wanted)).unwrap_err();
        assert_eq!(no(2), "no revision 2; available: 1, 3");
        assert_eq!(choose(&template("x:2", 1), &[], Some(2)).unwrap_err(), "no revision 2; available: none");
    }

    #[test]
    fn other_cliques_are_refused() {
        let mut other = template("x:1", 1);
        other["cliques"][1]["name"] = json!("c");
        let why = "revision 1 has different cliques; cliques cannot be added or removed";
        assert_eq!(choose(&template("x:1", 1), &[revision(1, &other)], None), Err(why.to_owned()));
    }

    #[test]
    fn a_revision_that_cannot_be_read_is_named() {
        let why = "revision 1 (r) has no readable template";
        assert_eq!(choose(&template("x:1", 1), &[revision(1, &Value::Null)], None), Err(why.to_owned()));
    }

    #[test]
    fn the_patch_carries_the_version_and_touches_nothing_but_the_cliques() {
        let patch = patch("7", &template("x:1", 1));
        assert_eq!(patch["metadata"], json!({ "resourceVersion": "7" }));
        assert_eq!(patch["spec"], json!({ "template": { "cliques": template("x:1", 1)["cliques"] } }));
    }
}
