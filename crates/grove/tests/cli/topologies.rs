//! Topologies and grouping rules among the files of `grove validate`.

use super::*;

#[test]
fn topologies_among_the_files_are_used() {
    let set = |domain: &str| {
        format!(
            "\
apiVersion: grove.io/v1alpha1
kind: ClusterTopologyBinding
metadata: {{ name: t }}
spec: {{ levels: [{{ domain: rack, key: example.com/rack }}] }}
---
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {{ name: s }}
spec:
  template:
    topologyConstraint: {{ topologyName: t, pack: {{ required: {domain} }} }}
    cliques: [{{ name: a, spec: {{ podSpec: {{ containers: [{{ name: c, image: i }}] }} }} }}]
"
        )
    };
    assert_eq!(grove_with(&["validate", "-f", "-"], &set("rack")).status.code(), Some(0));
    let output = grove_with(&["validate", "-f", "-"], &set("row"));
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stdout(&output).contains("not a level of topology \"t\", which has: rack"),
        "{}",
        stdout(&output)
    );
}

#[test]
fn grouping_rules_that_would_not_be_used_are_warned_about() {
    let rule = |name: &str, kind: &str| {
        format!(
            "---\napiVersion: scheduler.grove.io/v1alpha1\nkind: GroupingRule\nmetadata: {{ name: {name} }}\n\
             spec: {{ match: {kind} }}\n"
        )
    };
    let run = "{ group: example.com, version: v1, kind: Run }";
    let job = "{ group: batch, version: v1, kind: Job }";
    let text = [rule("b", run), rule("a", run), rule("c", job)].concat();
    let output = grove_with(&["validate", "-f", "-"], &text);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    for said in [
        "<stdin>:5: warning: spec.match: not used: rule a is for the same kind and goes first",
        "<stdin>:15: warning: spec.match: not used: Job is grouped by a built-in plugin",
    ] {
        assert!(stdout(&output).contains(said), "{}", stdout(&output));
    }
}

/// A Topology of Kueue, and a set with this policy.
fn in_hall(policy: &str) -> String {
    format!(
        "\
apiVersion: kueue.x-k8s.io/v1beta1
kind: Topology
metadata: {{ name: hall }}
spec: {{ levels: [{{ nodeLabel: example.com/block }}, {{ nodeLabel: kubernetes.io/hostname }}] }}
---
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {{ name: s }}
spec:
  template:
    schedulingPolicyConfig: {policy}
    cliques: [{{ name: a, spec: {{ podSpec: {{ containers: [{{ name: c, image: i }}] }} }} }}]
"
    )
}

#[test]
fn topologies_of_kueue_among_the_files_are_used() {
    let policy = |key: &str| {
        format!("{{ topologyName: hall, groupingConstraints: {{ required: {{ topologyKey: {key} }} }} }}")
    };
    let output = grove_with(&["validate", "-f", "-"], &in_hall(&policy("example.com/block")));
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    assert!(!stdout(&output).contains("is not among the files"), "{}", stdout(&output));
    let output = grove_with(&["validate", "-f", "-"], &in_hall(&policy("example.com/rack")));
    assert_eq!(output.status.code(), Some(1));
    let said = "not a level of topology \"hall\", which has: example.com/block, kubernetes.io/hostname";
    assert!(stdout(&output).contains(said), "{}", stdout(&output));
}

#[test]
fn the_default_topology_of_a_configuration_is_filled_in() {
    let configuration = |name: &str| {
        let path = std::env::temp_dir().join(format!("grove-default-{name}-{}.yaml", std::process::id()));
        let text = format!(
            "apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\n\
             topologyAwareScheduling: {{ defaultTopologyName: {name} }}\n"
        );
        std::fs::write(&path, text).unwrap();
        path
    };
    let without_a_name = "{ groupingConstraints: { required: { topologyKey: example.com/block } } }";
    let set = in_hall(without_a_name);
    assert_eq!(grove_with(&["validate", "-f", "-"], &set).status.code(), Some(1), "the name is missing");
    for (name, said) in [("hall", None), ("moon", Some("topology \"moon\" is not among the files"))] {
        let path = configuration(name);
        let output = grove_with(&["validate", "-f", "-", "--config", path.to_str().unwrap()], &set);
        std::fs::remove_file(path).unwrap();
        assert_eq!(output.status.code(), Some(0), "{name}: {}", stdout(&output));
        assert_eq!(stdout(&output).contains("is not among the files"), said.is_some(), "{}", stdout(&output));
        assert!(said.is_none_or(|it| stdout(&output).contains(it)), "{}", stdout(&output));
    }
}
