//! Which group a pod is in, and why.

use grove_api::field::Path;
use grove_podgrouper::{Choice, Found, Group, GroupOwner, How, Hub, Refused, Settings, Workload};
use serde_json::Value;

use super::{
    objects::{Object, Objects},
    origin,
    owners::{Chain, Lost},
    shown::{Explained, Part, Place, Reference, Shown},
};
use crate::findings::{Finding, Report, Severity, source_line};

/// Times that a plugin is asked what else it needs.
const MOST_ROUNDS: usize = 10;

/// Explains all pods. What is wrong is a finding.
pub(super) fn explain(
    objects: &Objects<'_>,
    hub: &Hub,
    settings: &Settings,
    report: &mut Report,
) -> Vec<Explained> {
    let mut explained = Vec::new();
    for pod in objects.all().filter(|it| it.is_pod()) {
        let chain = match Chain::of(pod, objects) {
            Ok(chain) => chain,
            Err(Lost { object, error }) => {
                if let Some((source, document)) = &object.place {
                    report.errors(source, document, vec![error]);
                }
                continue;
            }
        };
        let it = of_pod(pod, &chain, &Question { objects, hub, settings });
        if let Some(why) = &it.refused {
            refused(why, &it, pod, &chain, report);
        }
        explained.push(it);
    }
    explained
}

struct Question<'q, 'a> {
    objects: &'q Objects<'a>,
    hub: &'q Hub,
    settings: &'q Settings,
}

fn of_pod(pod: &Object<'_>, chain: &Chain<'_, '_>, question: &Question<'_, '_>) -> Explained {
    let owners = chain.metadata();
    let workload = Workload { pod: &chain.pod, top: chain.top(), owners: &owners };
    let mut explained = Explained {
        namespace: pod.namespace().to_owned(),
        pod: pod.name().to_owned(),
        imagined: pod.place.is_none(),
        owners: owners.iter().map(|it| Reference::of(&it.object)).collect(),
        skipped: Vec::new(),
        plugin: question.hub.plugin_name(workload.top, question.settings),
        reason: String::new(),
        group: None,
        refused: None,
    };
    let (found, refused) = answer(workload, pod.namespace(), question);
    let answer = question.hub.choice(workload, &found, question.settings).and_then(|choice| {
        explained.skipped = choice.skipped.iter().map(Reference::of).collect();
        explained.plugin.clone_from(&choice.plugin);
        explained.reason = reason(&choice);
        let group = || question.hub.group(workload, &found, question.settings);
        Ok((refused.map_or_else(group, Err)?, choice))
    });
    match answer {
        Ok((Some(group), choice)) => {
            let voices = voices(&group, &choice, chain, question.objects);
            explained.group = Some(shown(group, &voices, &explained.plugin, pod.name(), question.settings));
        }
        Ok((None, _)) => {}
        Err(Refused(why)) => explained.refused = Some(why),
    }
    explained
}

/// What the plugin needs, until it has all of it, or refuses.
fn answer(workload: Workload<'_>, namespace: &str, question: &Question<'_, '_>) -> (Found, Option<Refused>) {
    let mut found = Found::default();
    for _ in 0..MOST_ROUNDS {
        let needs = match question.hub.needs(workload, &found, question.settings) {
            Ok(needs) => needs,
            Err(refused) => return (found, Some(refused)),
        };
        let open: Vec<_> = needs.into_iter().filter(|it| found.get(it).is_none()).collect();
        if open.is_empty() {
            break;
        }
        for need in open {
            let objects = question.objects.answer(namespace, &need);
            found.put(need, objects);
        }
    }
    (found, None)
}

fn reason(choice: &Choice) -> String {
    let GroupOwner { api_version, kind, .. } = &choice.owner;
    match choice.how {
        How::Kind => format!("built-in plugin for {kind} in {api_version}"),
        How::AnyVersion => format!("built-in plugin for {kind} in any version"),
        How::Rule => format!("GroupingRule for {kind} in {api_version}"),
        How::Default => format!("no plugin or GroupingRule for {kind} in {api_version}"),
    }
}

/// Objects that may say something of a group, the strongest first, the pod last.
fn voices<'o>(
    group: &Group,
    choice: &Choice,
    chain: &'o Chain<'_, '_>,
    objects: &'o Objects<'_>,
) -> Vec<&'o Value> {
    let owner = &group.owner;
    let of_group = objects.find(&group.namespace, &owner.api_version, &owner.kind, &owner.name);
    let mut all: Vec<&Value> = of_group.filter(|it| !it.is_pod()).map(|it| &it.value).into_iter().collect();
    // From the owner that was chosen for upwards, then those below it.
    let chosen = chain.owners.len().saturating_sub(choice.skipped.len() + 1);
    let (below, above) = chain.owners.split_at(chosen.min(chain.owners.len()));
    all.extend(above.iter().chain(below).map(|it| &it.value));
    all.push(&chain.pod);
    all
}

fn shown(group: Group, voices: &[&Value], plugin: &str, pod: &str, settings: &Settings) -> Shown {
    let mut remarks = group.remarks.clone();
    remarks.extend(origin::unknown_classes(voices, settings));
    Shown {
        queue: origin::queue(&group, voices, settings),
        priority_class: origin::priority_class(&group, voices, plugin),
        sub_group: group.sub_group_of(pod).map(|it| it.name.clone()),
        owner: Reference::of(&group.owner),
        preemptibility: group.preemptibility.map(grove_podgrouper::Preemptibility::as_str),
        min_members: group.min_sub_groups.is_none().then_some(group.min_members),
        min_sub_groups: group.min_sub_groups,
        topology: group.topology.map(Place::of),
        sub_groups: group.sub_groups.into_iter().map(Part::of).collect(),
        name: group.name,
        remarks,
    }
}

/// A pod that cannot be grouped, at the line of the field that the sentence begins with, if it is one of an owner.
fn refused(why: &str, of: &Explained, pod: &Object<'_>, chain: &Chain<'_, '_>, report: &mut Report) {
    let path = Path::parse(why.split(' ').next().unwrap_or_default());
    let is_field = ["spec.", "metadata.", "status."].iter().any(|it| why.starts_with(it));
    let asked = chain.owners.iter().rev().skip(of.skipped.len()).copied().chain([pod]);
    // What is imagined is made of what is above it.
    let mut all = asked.chain(chain.owners.iter().copied());
    let place = all.find_map(|it| it.place.as_ref());
    let Some((source, document)) = place else { return };
    let line = if is_field { document.line_of(&path) } else { document.line };
    let finding = Finding {
        file: source.name.clone(),
        line,
        severity: Severity::Error,
        path: String::new(),
        kind: None,
        message: why.to_owned(),
        source: source_line(&source.text, line),
    };
    // The pods of a workload mostly have one fault.
    if !report.findings.iter().any(|it| it.line == line && it.file == finding.file && it.message == why) {
        report.findings.push(finding);
    }
}
