//! Who preempted a pod or a gang: of pods their condition says it, and when those are gone, an Event of what schedulers call their group.

use std::collections::BTreeMap;

use grove_api::wire::PodGang;
use k8s_openapi::{
    api::core::v1::{Event, Pod},
    jiff::Timestamp,
};
use kube::{Api, ResourceExt, api::ListParams};

const REASON: &str = "Preempted";
/// How schedulers begin who preempted something. kube-scheduler writes it with a capital letter.
const PREEMPTED_BY: &str = "preempted by ";

/// By namespace and name of the group: what its last Event says.
pub(in crate::commands) type Preemptions = BTreeMap<(String, String), String>;

/// Asks for Events. Who may not list them is told without.
pub(in crate::commands) async fn read(events: &Api<Event>) -> kube::Result<Preemptions> {
    let params = ListParams::default().fields(&format!("reason={REASON}"));
    match events.list(&params).await {
        Ok(list) => Ok(of_events(list.items)),
        Err(kube::Error::Api(status)) if status.code == 403 => Ok(Preemptions::new()),
        Err(error) => Err(error),
    }
}

fn of_events(mut events: Vec<Event>) -> Preemptions {
    events.sort_by_key(last_seen);
    let groups = events.into_iter().filter(|it| it.involved_object.kind.as_deref() != Some("Pod"));
    let said = groups.filter_map(|event| {
        let about = event.involved_object;
        Some(((about.namespace?, about.name?), preempted_by(&event.message?)))
    });
    said.collect()
}

fn last_seen(event: &Event) -> Option<Timestamp> {
    let series = event.series.as_ref().and_then(|it| it.last_observed_time.as_ref());
    let time = series.or(event.event_time.as_ref()).map(|it| it.0);
    time.max(event.last_timestamp.as_ref().map(|it| it.0)).max(event.creation_timestamp().map(|it| it.0))
}

/// Who preempted a gang. Its group has its name, or is that of its only PodClique.
pub(in crate::commands) fn of_gang<'a>(preemptions: &'a Preemptions, gang: &PodGang) -> Option<&'a str> {
    let namespace = gang.namespace().unwrap_or_default();
    let cliques = gang.spec.pod_groups.iter().map(|it| it.name.clone());
    let mut names = std::iter::once(gang.name_any()).chain(cliques);
    names.find_map(|it| preemptions.get(&(namespace.clone(), it))).map(String::as_str)
}

/// Who preempted a pod, where its scheduler says so.
pub(in crate::commands) fn of_pod(pod: &Pod) -> Option<String> {
    let conditions = pod.status.as_ref()?.conditions.as_ref()?;
    let target = conditions.iter().find(|it| {
        it.type_ == "DisruptionTarget"
            && it.status == "True"
            && it.reason.as_deref() == Some("PreemptionByScheduler")
    })?;
    Some(preempted_by(target.message.as_deref().unwrap_or_default()))
}

/// `preempted by default/high`, or `preempted by default-scheduler (preempting to accommodate a higher priority pod)`.
fn preempted_by(words: &str) -> String {
    let words = words.trim();
    if let Some((begin, who)) = words.split_at_checked(PREEMPTED_BY.len())
        && begin.eq_ignore_ascii_case(PREEMPTED_BY)
    {
        return format!("{PREEMPTED_BY}{who}");
    }
    // `default-scheduler: preempting to accommodate a higher priority pod`
    let (who, why) = words.split_once(": ").unwrap_or(("its scheduler", words));
    let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
    format!("{PREEMPTED_BY}{who}{why}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::commands::why::fixture::gang;

    #[test]
    fn schedulers_say_it_in_several_ways() {
        let rows = [
            ("preempted by default/high", "preempted by default/high"),
            ("Preempted by pod 1-2 on node n", "preempted by pod 1-2 on node n"),
            (
                "default-scheduler: preempting to accommodate a higher priority pod",
                "preempted by default-scheduler (preempting to accommodate a higher priority pod)",
            ),
            ("made room", "preempted by its scheduler (made room)"),
            ("", "preempted by its scheduler"),
        ];
        for (words, want) in rows {
            assert_eq!(preempted_by(words), want, "{words}");
        }
    }

    #[test]
    fn the_last_event_of_a_gangs_group_counts() {
        let event = |kind: &str, name: &str, by: &str, second: u8| {
            let event = json!({
                "metadata": { "name": format!("{name}.{second}"), "namespace": "default" },
                "involvedObject": { "kind": kind, "namespace": "default", "name": name },
                "reason": "Preempted", "message": format!("preempted by default/{by}"),
                "eventTime": format!("2027-01-01T00:00:{second:02}.000000Z"),
            });
            serde_json::from_value(event).unwrap()
        };
        let preemptions = of_events(vec![
            event("CompositePodGroup", "chat-0", "later", 9),
            event("CompositePodGroup", "chat-0", "first", 1),
            event("PodGroup", "chat-1-a", "high", 1),
            event("Pod", "chat-2", "high", 1),
        ]);
        let mut one_role = gang("chat-1", &[]);
        one_role.spec.pod_groups = serde_json::from_value(json!([
            { "name": "chat-1-a", "podReferences": [], "minReplicas": 1 }
        ]))
        .unwrap();
        assert_eq!(of_gang(&preemptions, &gang("chat-0", &[])), Some("preempted by default/later"));
        assert_eq!(of_gang(&preemptions, &one_role), Some("preempted by default/high"));
        assert_eq!(of_gang(&preemptions, &gang("chat-2", &[])), None, "it is a pod's");
    }
}
