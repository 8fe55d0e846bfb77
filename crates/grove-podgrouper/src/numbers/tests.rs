use serde_json::json;

use super::*;

const PATH: &[&str] = &["spec", "replicas"];

#[test]
fn only_whole_numbers_of_json_are_numbers() {
    let cases = [
        (json!({ "spec": { "replicas": 3 } }), Ok(Some(3))),
        (json!({ "spec": { "replicas": 0 } }), Ok(Some(0))),
        (json!({ "spec": { "replicas": 2_147_483_647 } }), Ok(Some(2_147_483_647))),
        (json!({ "spec": { "replicas": null } }), Ok(None)),
        (json!({ "spec": {} }), Ok(None)),
        (json!({ "spec": null }), Ok(None)),
        (json!({}), Ok(None)),
        (json!({ "spec": { "replicas": "3" } }), Err("spec.replicas: must be a whole number")),
        (json!({ "spec": { "replicas": 3.0 } }), Err("spec.replicas: must be a whole number")),
        (json!({ "spec": { "replicas": true } }), Err("spec.replicas: must be a whole number")),
        (json!({ "spec": { "replicas": -1 } }), Err("spec.replicas: must be from 0 to 2147483647")),
        (
            json!({ "spec": { "replicas": 2_147_483_648_u32 } }),
            Err("spec.replicas: must be from 0 to 2147483647"),
        ),
        (json!({ "spec": { "replicas": u64::MAX } }), Err("spec.replicas: must be a whole number")),
        (json!({ "spec": [1] }), Err("spec: must be an object")),
    ];
    for (object, expected) in cases {
        let expected = expected.map_err(|it| Refused(it.to_owned()));
        assert_eq!(count(&object, PATH), expected, "{object}");
    }
}
