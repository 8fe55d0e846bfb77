//! Who the pods run as: Pod Security "restricted" and OpenShift's `restricted-v2` admit them.

use serde_json::{Value, json};

use crate::{objects, of_kind};

/// `restricted-v2` chooses user, group of volumes and SELinux level itself, and refuses a pod that names others.
#[test]
fn pods_name_no_user() {
    for arguments in [&["--no-crds"][..], &["--no-crds", "--pod-grouper", "--image", "grove:1"]] {
        let all = objects(arguments);
        let pod = &of_kind(&all, "Deployment")["spec"]["template"]["spec"];
        let of_pod = &pod["securityContext"];
        assert_eq!(*of_pod, json!({ "runAsNonRoot": true, "seccompProfile": { "type": "RuntimeDefault" } }));
        let containers = pod["containers"].as_array().unwrap();
        assert!(!containers.is_empty() && pod["initContainers"] == Value::Null);
        for container in containers {
            let want = json!({
                "allowPrivilegeEscalation": false,
                "capabilities": { "drop": ["ALL"] },
                "readOnlyRootFilesystem": true,
            });
            assert_eq!(container["securityContext"], want);
        }
    }
}
