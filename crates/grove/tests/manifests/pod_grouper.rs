//! `grove manifests --pod-grouper`.

use serde_json::{Value, json};

use super::{kinds, objects};

#[test]
fn a_policy_names_the_groups_of_pods_that_ask_for_it() {
    let added = objects(&[
        "--pod-grouper",
        "--scheduler-name",
        "default-scheduler",
        "--only",
        "MutatingAdmissionPolicy,MutatingAdmissionPolicyBinding",
    ]);
    let binding = "MutatingAdmissionPolicyBinding";
    assert_eq!(kinds(&added), ["MutatingAdmissionPolicy", binding, binding]);
    let policy = &added[0];
    assert_eq!(policy["apiVersion"], "admissionregistration.k8s.io/v1");
    assert_eq!(policy["metadata"]["name"], "grove-pod-grouper");
    // A pod asks for it, or it says nothing and its namespace does.
    let enabled = json!({ "matchLabels": { "grove.io/pod-grouper": "enabled" } });
    let silent =
        json!({ "matchExpressions": [{ "key": "grove.io/pod-grouper", "operator": "DoesNotExist" }] });
    let of_pods = json!({ "objectSelector": enabled });
    let of_namespaces = json!({ "namespaceSelector": enabled, "objectSelector": silent });
    for (binding, resources) in added[1..].iter().zip([of_pods, of_namespaces]) {
        let expected = json!({ "policyName": "grove-pod-grouper", "matchResources": resources });
        assert_eq!(binding["spec"], expected);
    }
    let spec = &policy["spec"];
    // A pod is never refused because of it.
    assert_eq!(spec["failurePolicy"], "Ignore");
    let rules = json!([{ "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"] }]);
    assert_eq!(spec["matchConstraints"], json!({ "resourceRules": rules }));
    let conditions = spec["matchConditions"].as_array().unwrap();
    let conditions: Vec<_> = conditions.iter().map(|it| it["expression"].as_str().unwrap()).collect();
    assert_eq!(
        conditions,
        [
            "object.spec.?schedulerName.orValue('') in ['', 'default-scheduler']",
            "!has(object.spec.schedulingGroup)",
            "object.metadata.?annotations[?'kai.scheduler/skip-podgrouper'].orValue('') != 'true'",
            "!object.spec.?priorityClassName.orValue('').startsWith('system-')",
            "object.metadata.?ownerReferences.orValue([]).exists(it, it.?controller.orValue(false) \
             && !(it.kind in ['DaemonSet', 'Node']) && !it.apiVersion.startsWith('grove.io/') \
             && size(it.name) + size(it.uid) <= 249)",
        ]
    );
    let mutation = "Object{metadata: Object.metadata{labels: {'grove.io/pod-grouper': 'enabled'}}, \
        spec: Object.spec{schedulingGroup: Object.spec.schedulingGroup{\
        podGroupName: 'pg-' + variables.owner.name + '-' + variables.owner.uid}}}";
    let expected =
        json!([{ "patchType": "ApplyConfiguration", "applyConfiguration": { "expression": mutation } }]);
    assert_eq!(spec["mutations"], expected);
    let owner = "object.metadata.ownerReferences.filter(it, it.?controller.orValue(false))[0]";
    assert_eq!(spec["variables"], json!([{ "name": "owner", "expression": owner }]));

    let without = objects(&[]);
    assert!(!kinds(&without).contains(&"MutatingAdmissionPolicy"));
}

/// What the rules of a role allow: group, resources, names and verbs of each.
fn allowed(role: &Value) -> Vec<String> {
    let words = |it: &Value| -> String {
        let all = it.as_array().into_iter().flatten();
        all.filter_map(Value::as_str).collect::<Vec<_>>().join(",")
    };
    let row = |it: &Value| {
        format!(
            "{} {} [{}] {}",
            words(&it["apiGroups"]),
            words(&it["resources"]),
            words(&it["resourceNames"]),
            words(&it["verbs"])
        )
    };
    role["rules"].as_array().unwrap().iter().map(row).collect()
}

#[test]
fn the_pod_grouper_has_no_more_rights_than_its_flags_need() {
    let small = objects(&["--pod-grouper"]);
    assert_eq!(
        kinds(&small),
        [
            "Namespace",
            "CustomResourceDefinition",
            "ServiceAccount",
            "ClusterRole",
            "ClusterRoleBinding",
            "Role",
            "RoleBinding",
            "Deployment",
            "ValidatingAdmissionPolicy",
            "ValidatingAdmissionPolicyBinding"
        ]
    );
    let role = allowed(&small[3]);
    for right in [
        " pods [] get,list,watch,patch",
        "scheduling.run.ai podgroups [] get,list,watch,create,patch",
        "apiextensions.k8s.io customresourcedefinitions [podgroups.scheduling.run.ai] get",
        "batch cronjobs,jobs [] get,list,watch",
    ] {
        assert!(role.contains(&right.to_owned()), "{right} is not in {role:#?}");
    }
    let of_others =
        ["namespaces", "configmaps", "secrets", "hypernodes", "delete", "scheduling.k8s.io podgroups"];
    for word in of_others {
        assert!(!role.iter().any(|it| it.contains(word)), "{word} is in {role:#?}");
    }
    let large = objects(&[
        "--pod-grouper",
        "--scheduler-name=volcano",
        "--scheduler-name=default-scheduler",
        "--namespace-label-selector=team=a",
        "--default-priorities-configmap=kai/defaults",
        "--only=ClusterRole,Role,Deployment",
    ]);
    let role = allowed(&large[0]);
    for right in [
        " namespaces [] list,watch",
        "topology.volcano.sh hypernodes [] list",
        "scheduling.volcano.sh podgroups [] get,list,watch,create,patch",
        "scheduling.k8s.io podgroups [] get,list,watch,create,patch",
    ] {
        assert!(role.contains(&right.to_owned()), "{right} is not in {role:#?}");
    }
    let roles: Vec<_> = large.iter().filter(|it| it["kind"] == "Role").collect();
    let places: Vec<_> = roles.iter().map(|it| it["metadata"]["namespace"].as_str().unwrap()).collect();
    assert_eq!(places, ["grove-system", "kai"]);
    assert_ne!(roles[0]["metadata"]["name"], roles[1]["metadata"]["name"]);
    assert_eq!(allowed(roles[1]), [" configmaps [defaults] list,watch"]);
    let deployment = large.last().unwrap();
    assert_eq!(
        deployment["spec"]["template"]["spec"]["containers"][0]["args"],
        json!([
            "podgrouper",
            "--leader-elect",
            "--scheduler-name=volcano",
            "--scheduler-name=default-scheduler",
            "--namespace-label-selector=team=a",
            "--default-priorities-configmap-namespace=kai",
            "--default-priorities-configmap-name=defaults",
        ])
    );
}
