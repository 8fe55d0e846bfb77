//! The pod grouper in the chart: as the operator, with switches of its own.

use std::{collections::BTreeSet, io};

use grove_api::constants::schedulers;
use grove_podgrouper::{Hub, rights::pod_marks};
use grove_scheduler::{Registry, SchedulerBackend, workload::PodMarks};
use serde_json::Value;

use super::{
    super::{
        group_policy,
        pod_grouper::{PodGrouper, Schedulers},
        pod_options::PodOptions,
    },
    print::Words,
    rules,
    tree::{Child, Tree, join},
};

const REPLICAS: i32 = 1_900_000_003;
const MARKS: PodMarks = PodMarks { labels: &["@labels@"], annotations: &["@annotations@"] };

/// Texts of the pod grouper's objects, and what they stand for. Some are lists in an expression of CEL, quotes and all.
const TEXTS: &[(&str, &str)] = &[
    ("'@labels@'", r#"include "grove.podGrouper.labels" ."#),
    ("'@annotations@'", r#"include "grove.podGrouper.annotations" ."#),
    ("'@schedulers@'", r#"include "grove.podGrouper.schedulers" ."#),
    ("@namespace@", ".Release.Namespace"),
    ("@image@", r#"include "grove.image" (list . .Values.image)"#),
    (
        "--namespace-label-selector=@selector@",
        r#"printf "--namespace-label-selector=%s" .Values.podGrouper.namespaceLabelSelector"#,
    ),
    ("@defaultsNamespace@", ".Values.podGrouper.defaultPrioritiesConfigMap.namespace"),
    ("@defaultsName@", ".Values.podGrouper.defaultPrioritiesConfigMap.name"),
];

/// What is on.
#[derive(Clone)]
pub(super) struct Parts {
    /// For each backend, in the order of the registry.
    pub(super) backends: Vec<bool>,
    /// Whether a scheduler is called as the stock scheduler is.
    stock: bool,
    selector: bool,
    defaults: bool,
    policy: bool,
}

impl Parts {
    pub(super) fn all(registry: &Registry) -> Self {
        let backends = vec![true; registry.all().len()];
        Self { backends, stock: true, selector: true, defaults: true, policy: true }
    }

    /// Turns a switch; those of the backends come first.
    pub(super) fn turn(&mut self, switch: usize) {
        let others = [&mut self.stock, &mut self.selector, &mut self.defaults, &mut self.policy];
        if let Some(it) = self.backends.iter_mut().chain(others).nth(switch) {
            *it = !*it;
        }
    }

    pub(super) fn count(&self) -> usize {
        self.backends.len() + 4
    }

    pub(super) fn objects(&self, registry: &Registry, hub: &Hub) -> io::Result<Value> {
        let chosen = registry.all().iter().zip(&self.backends).filter(|it| *it.1);
        let scheduler = "@schedulers@".to_owned();
        let grouper = PodGrouper {
            namespace: "@namespace@",
            image: "@image@",
            replicas: Some(REPLICAS),
            schedulers: Schedulers {
                backends: chosen.map(|it| it.0.as_ref()).collect(),
                arguments: vec![scheduler.clone()],
                names: vec![scheduler],
                marks: vec![MARKS],
            },
            namespace_labels: self.selector.then_some("@selector@"),
            kind_defaults: self.defaults.then_some(("@defaultsNamespace@", "@defaultsName@")),
            pods: PodOptions::default(),
            pod_policy: self.policy,
        };
        let mut objects = grouper.objects(hub)?;
        if self.stock {
            objects.extend(group_policy::objects()?);
        }
        Ok(objects.into_iter().map(|it| it.value).collect())
    }
}

/// What the switches of [`Parts`] are for.
fn conditions(registry: &Registry) -> Vec<String> {
    let mut all: Vec<String> = registry.all().iter().map(|it| uses(it.as_ref())).collect();
    all.push(format!("has {:?} .Values.podGrouper.schedulerNames", schedulers::DEFAULT));
    all.extend(
        [
            ".Values.podGrouper.namespaceLabelSelector",
            ".Values.podGrouper.defaultPrioritiesConfigMap.name",
            ".Values.podPolicy.enabled",
        ]
        .map(str::to_owned),
    );
    all
}

/// Whether it works for a scheduler of this backend.
fn uses(backend: &dyn SchedulerBackend) -> String {
    format!(r#"include "grove.podGrouper.uses" (list . {:?})"#, backend.name())
}

pub(super) fn trees(registry: &Registry, hub: &Hub) -> io::Result<Vec<Child>> {
    let all = Parts::all(registry);
    let turned = (0..all.count()).map(|switch| {
        let mut parts = all.clone();
        parts.turn(switch);
        parts.objects(registry, hub)
    });
    let turned = turned.collect::<io::Result<Vec<_>>>()?;
    match join(&all.objects(registry, hub)?, &turned, &vec![true; all.count()])? {
        Tree::List(objects) => Ok(objects),
        _ => Err(io::Error::other("the objects are not a list")),
    }
}

/// Its template, and the helpers that say which marks pods get for which scheduler.
pub(super) fn templates(registry: &Registry, hub: &Hub) -> io::Result<(String, String)> {
    let mut objects = trees(registry, hub)?;
    rules::apply(&mut objects)?;
    let conditions = conditions(registry);
    let words = Words {
        switches: conditions.iter().map(String::as_str).collect(),
        texts: TEXTS.iter().map(|(text, it)| ((*text).to_owned(), *it)).collect(),
        numbers: vec![(REPLICAS.into(), "int .Values.podGrouper.replicaCount")],
    };
    let documents: String = objects.iter().map(|it| words.document(it)).collect();
    let template = format!("{{{{- if .Values.podGrouper.enabled }}}}\n{documents}{{{{- end }}}}\n");
    let helpers = [
        helper_of_backends(registry),
        helper(registry, "labels", |it| it.labels),
        helper(registry, "annotations", |it| it.annotations),
    ];
    Ok((template, helpers.concat()))
}

/// A helper that says whether one of the schedulers is of a backend: as the pod grouper reads its arguments, in which `NAME=BACKEND` names one,
/// and other names that no backend has are KAI's.
fn helper_of_backends(registry: &Registry) -> String {
    let known: Vec<String> = registry.all().iter().map(|it| format!("{:?}", it.name())).collect();
    let (known, other) = (known.join(" "), schedulers::KAI);
    format!(
        r#"{{{{- define "grove.podGrouper.uses" -}}}}
{{{{- $wanted := index . 1 -}}}}
{{{{- $uses := false -}}}}
{{{{- range (index . 0).Values.podGrouper.schedulerNames -}}}}
{{{{- $backend := splitList "=" . | last -}}}}
{{{{- if not (or (contains "=" .) (has $backend (list {known}))) -}}}}{{{{- $backend = "{other}" -}}}}{{{{- end -}}}}
{{{{- if eq $backend $wanted -}}}}{{{{- $uses = true -}}}}{{{{- end -}}}}
{{{{- end -}}}}
{{{{- if $uses -}}}}true{{{{- end -}}}}
{{{{- end -}}}}
"#
    )
}

/// A helper that lists the keys of all backends in use, as CEL writes texts.
fn helper(registry: &Registry, what: &str, keys: fn(&PodMarks) -> &'static [&'static str]) -> String {
    let mut lines =
        vec![format!("{{{{- define \"grove.podGrouper.{what}\" -}}}}"), "{{- $keys := list -}}".to_owned()];
    for backend in registry.all() {
        let marks = pod_marks(&[backend.as_ref()]);
        let all: BTreeSet<&str> = marks.iter().flat_map(|it| keys(it).iter().copied()).collect();
        if !all.is_empty() {
            let quoted: Vec<String> = all.iter().map(|it| format!("{it:?}")).collect();
            lines.push(format!(
                "{{{{- if {} }}}}{{{{- $keys = concat $keys (list {}) }}}}{{{{- end -}}}}",
                uses(backend.as_ref()),
                quoted.join(" ")
            ));
        }
    }
    let list = "{{- range $index, $key := $keys | uniq | sortAlpha }}{{ if $index }}, {{ end }}'{{ $key }}'{{ end -}}";
    lines.extend([list, "{{- end -}}", ""].map(str::to_owned));
    lines.join("\n")
}
