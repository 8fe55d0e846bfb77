//! What Go writes even where an object does not say it: structs that are no pointers, and values that are not left out when they
//! are empty. Clients of the real server see `source: {}` and `lastProbeTime: null`.

use serde_json::{Map, Value};

use super::{Definition, Type, by_name};

/// Puts into an object what is always there. Its metadata is another's business.
pub(crate) fn complete(definition: &'static Definition, object: &mut Value) {
    if let Value::Object(fields) = object {
        fill(definition, fields, true);
    }
}

fn fill(definition: &'static Definition, fields: &mut Map<String, Value>, is_whole: bool) {
    for (name, field) in &definition.fields {
        if is_whole && *name == "metadata" {
            continue;
        }
        if field.always && fields.get(*name).is_none_or(Value::is_null) {
            fields.insert((*name).to_owned(), nothing(&field.holds));
        }
        if let Some(value) = fields.get_mut(*name) {
            inside(&field.holds, value);
        }
    }
}

fn inside(of: &Type, value: &mut Value) {
    match (of, value) {
        (Type::Object(name), Value::Object(fields)) => {
            if let Some(definition) = by_name(name) {
                fill(definition, fields, false);
            }
        }
        (Type::List(item), Value::Array(list)) => list.iter_mut().for_each(|it| inside(item, it)),
        (Type::Map(item), Value::Object(map)) => map.values_mut().for_each(|it| inside(item, it)),
        _ => {}
    }
}

/// A value of a type with nothing in it.
fn nothing(of: &Type) -> Value {
    match of {
        Type::Text => "".into(),
        Type::Integer | Type::Number => 0.into(),
        Type::Boolean => false.into(),
        Type::Object(_) => Map::new().into(),
        // Lists and maps that are not there are null, and so are times.
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::kinds::of_kind;

    fn completed(group: &str, version: &str, kind: &str, mut object: Value) -> Value {
        let definition = of_kind(group, version, kind).unwrap();
        complete(definition, &mut object);
        let once = object.clone();
        complete(definition, &mut object);
        assert_eq!(once, object, "a second time changes nothing");
        object
    }

    #[test]
    fn what_go_cannot_leave_out() {
        let event = completed("", "v1", "Event", json!({"metadata": {}, "source": {"component": "c"}}));
        let expected = json!({
            "metadata": {}, "source": {"component": "c"}, "involvedObject": {}, "eventTime": null,
            "firstTimestamp": null, "lastTimestamp": null, "reportingComponent": "", "reportingInstance": "",
        });
        assert_eq!(event, expected);
        let budget = completed("policy", "v1", "PodDisruptionBudget", json!({"spec": {}}));
        let none =
            json!({"currentHealthy": 0, "desiredHealthy": 0, "disruptionsAllowed": 0, "expectedPods": 0});
        assert_eq!(budget["status"], none);
        let condition = json!({"type": "Ready", "status": "True"});
        let pod = completed(
            "",
            "v1",
            "Pod",
            json!({"spec": {"containers": []}, "status": {"conditions": [condition]}}),
        );
        let expected =
            json!({"type": "Ready", "status": "True", "lastProbeTime": null, "lastTransitionTime": null});
        assert_eq!(pod["status"]["conditions"][0], expected);
        assert_eq!(completed("", "v1", "ConfigMap", json!({"metadata": {}})), json!({"metadata": {}}));
    }
}
