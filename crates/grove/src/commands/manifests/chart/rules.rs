//! Where values of the chart stand that are whole blocks of YAML: labels, resources, tolerations.

use std::io;

use grove_api::constants::webhooks::SET_VALIDATING;

use super::{
    super::monitoring::DASHBOARD_NAME,
    switches::MANUAL,
    tree::{Child, Template, Tree},
};

/// A template at a place of an object.
struct Rule {
    /// Kind, and the name of the object: none for all, `begin*` for those whose names begin so.
    object: (&'static str, &'static str),
    /// Keys and positions of list items, as in a JSON pointer. The last one may be new.
    place: &'static str,
    text: Text,
}

enum Text {
    /// The value of an expression.
    With(&'static str),
    /// Likewise, of a scalar.
    Scalar(&'static str),
    /// The labels that are there, and those of a value, which win.
    Labels(&'static str),
    /// Likewise, and those that are there win: they are selected by.
    Selected(&'static str),
    /// What is there, and what a value adds or replaces.
    Overwritten(&'static str),
    Lines(&'static str),
}

const fn rule(object: (&'static str, &'static str), place: &'static str, text: Text) -> Rule {
    Rule { object, place, text }
}

/// Named for its content.
const CONFIG: (&str, &str) = ("ConfigMap", "grove-operator-cm-*");
const DEPLOYMENT: (&str, &str) = ("Deployment", "grove-operator");
const GROUPER: (&str, &str) = ("Deployment", "grove-podgrouper");

/// Webhook configurations, and their values.
const WEBHOOKS: &[(&str, &str, &str)] = &[
    ("MutatingWebhookConfiguration", "podcliqueset-defaulting-webhook", "podCliqueSetDefaultingWebhook"),
    ("ValidatingWebhookConfiguration", "podcliqueset-validating-webhook", "podCliqueSetValidationWebhook"),
    (
        "ValidatingWebhookConfiguration",
        "clustertopology-validating-webhook",
        "clusterTopologyValidationWebhook",
    ),
    ("ValidatingWebhookConfiguration", "podclique-validating-webhook", "podCliqueValidationWebhook"),
    (
        "ValidatingWebhookConfiguration",
        "podcliquescalinggroup-validating-webhook",
        "podCliqueScalingGroupValidationWebhook",
    ),
    ("ValidatingWebhookConfiguration", "authorizer-webhook", "authorizerWebhook"),
];

const RULES: &[Rule] = &[
    rule(
        ("ServiceAccount", "@serviceAccount@"),
        "metadata/labels",
        Text::Labels(".Values.serviceAccount.labels"),
    ),
    rule(
        ("ServiceAccount", "@serviceAccount@"),
        "automountServiceAccountToken",
        Text::Lines("automountServiceAccountToken: {{ .Values.serviceAccount.automount }}"),
    ),
    rule(("ClusterRole", "@clusterRole@"), "metadata/labels", Text::Labels(".Values.clusterRole.labels")),
    rule(
        ("ClusterRoleBinding", "@clusterRoleBinding@"),
        "metadata/labels",
        Text::Labels(".Values.clusterRoleBinding.labels"),
    ),
    rule(("Role", "@leaseRole@"), "metadata/labels", Text::Labels(".Values.leaseRole.labels")),
    rule(
        ("RoleBinding", "@leaseRoleBinding@"),
        "metadata/labels",
        Text::Labels(".Values.leaseRoleBinding.labels"),
    ),
    rule(CONFIG, "metadata/labels", Text::Labels(".Values.configMap.labels")),
    rule(
        CONFIG,
        "data/config.yaml",
        Text::Lines("config.yaml: |\n  {{- include \"grove.config\" . | nindent 4 }}"),
    ),
    rule(("Service", ""), "metadata/labels", Text::Labels(".Values.service.labels")),
    rule(("Service", ""), "metadata/annotations", Text::With(".Values.service.annotations")),
    rule(("Service", ""), "spec/type", Text::Scalar(".Values.service.type")),
    rule(("ServiceMonitor", ""), "metadata/labels", Text::Labels(".Values.metrics.serviceMonitor.labels")),
    rule(("PrometheusRule", ""), "metadata/labels", Text::Labels(".Values.metrics.prometheusRule.labels")),
    rule(("ConfigMap", DASHBOARD_NAME), "metadata/labels", Text::Labels(".Values.metrics.dashboards.labels")),
    rule(DEPLOYMENT, "metadata/labels", Text::Selected(".Values.deployment.labels")),
    rule(DEPLOYMENT, "spec/template/metadata/labels", Text::Selected(".Values.deployment.labels")),
    rule(DEPLOYMENT, "spec/template/metadata/annotations", Text::With(".Values.podAnnotations")),
    rule(DEPLOYMENT, "spec/template/spec/nodeSelector", Text::With(".Values.nodeSelector")),
    rule(DEPLOYMENT, "spec/template/spec/tolerations", Text::With(".Values.tolerations")),
    rule(DEPLOYMENT, "spec/template/spec/imagePullSecrets", Text::With(".Values.imagePullSecrets")),
    rule(DEPLOYMENT, "spec/template/spec/securityContext", Text::Overwritten(".Values.podSecurityContext")),
    rule(DEPLOYMENT, "spec/template/spec/containers/0/resources", Text::With(".Values.resources")),
    rule(
        DEPLOYMENT,
        "spec/template/spec/containers/0/securityContext",
        Text::Overwritten(".Values.securityContext"),
    ),
    rule(
        DEPLOYMENT,
        "spec/template/spec/containers/0/imagePullPolicy",
        Text::Scalar(".Values.image.pullPolicy"),
    ),
    // Who gives the image in `deployment.env`, as upstream's chart has it, does not get it twice.
    rule(
        DEPLOYMENT,
        "spec/template/spec/containers/0/env/1",
        Text::Lines(
            "{{- if not (include \"grove.initImageInEnv\" .) }}\n\
             - name: GROVE_INIT_CONTAINER_IMAGE\n  value: {{ include \"grove.image\" (list . .Values.initImage) | quote }}\n\
             {{- end }}\n\
             {{- with .Values.deployment.env }}\n{{- toYaml . | nindent 8 }}\n{{- end }}",
        ),
    ),
    rule(
        ("NetworkPolicy", ""),
        "spec/egress/0/to/0",
        Text::Lines(
            "{{- range .Values.networkPolicy.apiServerCIDRs }}\n- ipBlock:\n    cidr: {{ . | quote }}\n{{- end }}",
        ),
    ),
    rule(GROUPER, "spec/template/spec/nodeSelector", Text::With(".Values.podGrouper.nodeSelector")),
    rule(GROUPER, "spec/template/spec/tolerations", Text::With(".Values.podGrouper.tolerations")),
    rule(GROUPER, "spec/template/spec/imagePullSecrets", Text::With(".Values.imagePullSecrets")),
    rule(GROUPER, "spec/template/spec/containers/0/resources", Text::With(".Values.podGrouper.resources")),
    rule(
        GROUPER,
        "spec/template/spec/containers/0/imagePullPolicy",
        Text::Scalar(".Values.image.pullPolicy"),
    ),
    rule(
        GROUPER,
        "spec/template/spec/containers/0/args/2",
        Text::Lines(
            "{{- range .Values.podGrouper.schedulerNames }}\n- {{ printf \"--scheduler-name=%s\" . | quote }}\n{{- end }}",
        ),
    ),
];

/// Puts all templates into place. Those of another set of objects have no object here.
pub(super) fn apply(objects: &mut [Child]) -> io::Result<()> {
    let mut applied = 0;
    for Rule { object, place, text } in RULES {
        for found in find(objects, *object) {
            put(&mut found.tree, place, |old| text.template(old))?;
            applied += 1;
        }
    }
    for &(kind, name, value) in WEBHOOKS {
        for found in find(objects, (kind, name)) {
            let value = format!(".Values.webhooks.{value}");
            let labels = format!("{value}.labels");
            put(&mut found.tree, "metadata/labels", |old| merged("mergeOverwrite", old, &labels))?;
            let with = |expression, is_scalar| Template::With { expression, is_scalar };
            let annotations = format!("(and ({MANUAL}) {value}.annotations)");
            put(&mut found.tree, "metadata/annotations", |_| with(annotations, false))?;
            let authority = format!("(and ({MANUAL}) .Values.webhooks.caBundle)");
            let beside: &[&str] = if name == SET_VALIDATING.configuration {
                &["webhooks/0/clientConfig/caBundle", "webhooks/1/clientConfig/caBundle"]
            } else {
                &["webhooks/0/clientConfig/caBundle"]
            };
            for place in beside {
                put(&mut found.tree, place, |_| with(authority.clone(), true))?;
            }
            applied += 1;
        }
    }
    if applied == 0 { Err(io::Error::other("no rule of the chart found its object")) } else { Ok(()) }
}

fn find<'a>(objects: &'a mut [Child], (kind, name): (&str, &str)) -> impl Iterator<Item = &'a mut Child> {
    objects.iter_mut().filter(move |it| {
        let full = it.tree.text(&["metadata", "name"]);
        // A name that is a stand-in is compared as a whole: one of them begins another.
        let begins = name.strip_suffix('*').is_some_and(|begin| full.starts_with(begin));
        let is_named = name.is_empty() || full == name || begins;
        it.tree.text(&["kind"]) == kind && is_named
    })
}

/// Puts a template where a place says.
fn put(tree: &mut Tree, place: &str, template: impl FnOnce(&Tree) -> Template) -> io::Result<()> {
    let wrong = || io::Error::other(format!("{place}: the chart has a rule for a place that is not there"));
    let (step, rest) = place.split_once('/').unwrap_or((place, ""));
    let is_list = matches!(tree, Tree::List(_));
    let children = tree.children_mut().ok_or_else(wrong)?;
    let found = if is_list {
        step.parse().ok().filter(|it| *it < children.len())
    } else {
        children.iter().position(|it| it.key == step)
    };
    match found {
        Some(index) if rest.is_empty() => {
            children[index].tree = Tree::Template(template(&children[index].tree));
            Ok(())
        }
        Some(index) => put(&mut children[index].tree, rest, template),
        None if rest.is_empty() && !is_list => {
            let tree = Tree::Template(template(&Tree::Map(Vec::new())));
            children.push(Child { key: step.to_owned(), when: Vec::new(), tree });
            Ok(())
        }
        None => Err(wrong()),
    }
}

impl Text {
    fn template(&self, old: &Tree) -> Template {
        let with =
            |expression: &str, is_scalar| Template::With { expression: expression.to_owned(), is_scalar };
        match self {
            Self::With(expression) => with(expression, false),
            Self::Scalar(expression) => with(expression, true),
            Self::Labels(value) | Self::Overwritten(value) => merged("mergeOverwrite", old, value),
            Self::Selected(value) => merged("merge", old, value),
            Self::Lines(lines) => Template::Lines((*lines).to_owned()),
        }
    }
}

/// What is there, joined with a value.
fn merged(function: &str, old: &Tree, value: &str) -> Template {
    let mut json = old.unconditional().to_string();
    // Two braces would end the action, at least for people.
    while json.contains("}}") {
        json = json.replace("}}", "} }");
    }
    let expression = format!("({function} (fromJson `{json}`) (default dict {value}))");
    Template::With { expression, is_scalar: false }
}
