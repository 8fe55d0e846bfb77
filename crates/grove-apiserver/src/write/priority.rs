//! What the real server's admission plugins put into new pods: service account, priority, tolerations. Pod groups have a
//! priority, too.

use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::metadata::{map_mut, text};
use crate::object::Object;
use crate::resource::Resource;
use crate::store::{Key, Transaction};

pub(super) const CLASSES: &str = "priorityclasses.scheduling.k8s.io";
const PREEMPTS: &str = "PreemptLowerPriority";

/// The classes that every cluster has.
pub(super) const SYSTEM: [(&str, i64); 2] =
    [("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)];

/// For how long a pod stays on a node that is lost, if it says nothing of it.
const TOLERATION_SECONDS: i64 = 300;

/// Fills in what a new object says nothing about.
pub(super) fn fill(tx: &Transaction<'_>, resource: &Resource, object: &mut Value) -> Result<(), Failure> {
    match resource.id() {
        "pods" => {
            service_account(object);
            tolerations(object);
            priority(tx, resource, object)
        }
        "podgroups.scheduling.k8s.io" | "compositepodgroups.scheduling.k8s.io" => {
            priority(tx, resource, object)
        }
        _ => Ok(()),
    }
}

fn spec(object: &mut Value) -> &mut Map<String, Value> {
    map_mut(map_mut(object).entry("spec").or_insert(Value::Null))
}

fn service_account(pod: &mut Value) {
    let spec = spec(pod);
    let named = ["serviceAccountName", "serviceAccount"].iter().find_map(|it| spec.get(*it)?.as_str());
    let name = named.filter(|it| !it.is_empty()).unwrap_or("default").to_owned();
    spec.insert("serviceAccountName".to_owned(), name.as_str().into());
    spec.insert("serviceAccount".to_owned(), name.into());
}

fn tolerations(pod: &mut Value) {
    let list = spec(pod).entry("tolerations").or_insert_with(|| json!([]));
    let Value::Array(list) = list else { return };
    for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        let is_tolerated = |it: &Value| {
            let says = |field: &str| it[field].as_str().unwrap_or_default();
            (says("key") == key || says("key").is_empty()) && matches!(says("effect"), "" | "NoExecute")
        };
        if !list.iter().any(is_tolerated) {
            list.push(json!({
                "key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": TOLERATION_SECONDS,
            }));
        }
    }
}

/// The number of the class that is named, or of the class that is the default.
fn priority(tx: &Transaction<'_>, resource: &Resource, object: &mut Value) -> Result<(), Failure> {
    let is_pod = resource.is("pods");
    let name = text(object, "name").unwrap_or_default().to_owned();
    let refuse = |why: String| Err(Failure::forbidden(resource, &name, &why));
    let spec = spec(object);
    let class_name = spec.get("priorityClassName").and_then(Value::as_str).unwrap_or_default().to_owned();
    let class = if class_name.is_empty() {
        default_class(tx)
    } else {
        let Some(class) = tx.get(&Key::new(CLASSES, "", &class_name)) else {
            return refuse(format!("no PriorityClass with name {class_name} was found"));
        };
        Some(class)
    };
    let field = |name: &str| class.as_ref().and_then(|it| it.field(name));
    let value = field("/value").and_then(Value::as_i64).unwrap_or_default();
    let policy = field("/preemptionPolicy").and_then(Value::as_str).unwrap_or(PREEMPTS);
    if let Some(said) = spec.get("priority").and_then(Value::as_i64).filter(|it| *it != value) {
        return refuse(if is_pod {
            format!(
                "the integer value of priority ({said}) must not be provided in pod spec; priority admission controller computed {value} from the given PriorityClass name"
            )
        } else {
            format!(
                "priority set in the pod group ({said}) must match the priority computed ({value}) based on the priority class set in the spec"
            )
        });
    }
    if let Some(said) = spec.get("preemptionPolicy").and_then(Value::as_str).filter(|it| *it != policy) {
        let whose = if is_pod { "pod spec" } else { "pod group spec" };
        return refuse(format!(
            "the string value of PreemptionPolicy ({said}) must not be provided in {whose}; priority admission controller computed {policy} from the given PriorityClass name"
        ));
    }
    if let Some(class) = &class {
        spec.insert("priorityClassName".to_owned(), class.name().into());
    }
    spec.insert("priority".to_owned(), value.into());
    spec.insert("preemptionPolicy".to_owned(), policy.into());
    Ok(())
}

/// The class of who names none. Of several, which cannot be, the one with the lowest value.
fn default_class(tx: &Transaction<'_>) -> Option<std::sync::Arc<Object>> {
    let classes = tx.list(CLASSES, None).into_iter().map(|(_, class)| class);
    let defaults = classes.filter(|it| it.field("/globalDefault") == Some(&Value::Bool(true)));
    defaults.min_by_key(|it| it.field("/value").and_then(Value::as_i64))
}
