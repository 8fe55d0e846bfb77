//! The row of an event, of the core API or of `events.k8s.io`.

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use super::text::{number, or, text};
use super::{NAME, Printer, age, string, wide};
use crate::object::Object;

pub(super) const PRINTER: Printer = Printer {
    columns: &[
        string("Last Seen"),
        string("Type"),
        string("Reason"),
        string("Object"),
        wide("Subobject"),
        wide("Source"),
        string("Message"),
        wide("First Seen"),
        wide("Count"),
        super::Column { priority: 1, ..NAME },
    ],
    cells,
};

fn cells(object: &Object, now: Timestamp) -> Vec<Value> {
    let event = object.value();
    // The same in the words of two groups.
    let either = |one: &str, other: &str| or(text(event, one), text(event, other)).to_owned();
    let since = |field: &str| {
        let time = text(event, field);
        (!time.is_empty()).then(|| age::since(Some(&time.into()), now))
    };
    let first = since("/firstTimestamp")
        .or_else(|| since("/deprecatedFirstTimestamp"))
        .or_else(|| since("/eventTime"))
        .unwrap_or_else(|| age::since(None, now));
    let mut last = since("/lastTimestamp").or_else(|| since("/deprecatedLastTimestamp"));
    let mut count = number(event, "/count").max(number(event, "/deprecatedCount")).max(1);
    if event.get("series").is_some_and(Value::is_object) {
        last = since("/series/lastObservedTime");
        count = number(event, "/series/count");
    }
    let kind = either("/involvedObject/kind", "/regarding/kind").to_lowercase();
    let about = match either("/involvedObject/name", "/regarding/name") {
        name if name.is_empty() => kind,
        name => format!("{kind}/{name}"),
    };
    vec![
        last.unwrap_or_else(|| first.clone()).into(),
        text(event, "/type").into(),
        text(event, "/reason").into(),
        about.into(),
        either("/involvedObject/fieldPath", "/regarding/fieldPath").into(),
        source(event).into(),
        either("/message", "/note").trim().into(),
        first.into(),
        count.into(),
        object.name().into(),
    ]
}

fn source(event: &Value) -> String {
    let first = |fields: &[&str]| {
        fields.iter().map(|it| text(event, it)).find(|it| !it.is_empty()).unwrap_or_default().to_owned()
    };
    let component = first(&[
        "/source/component",
        "/deprecatedSource/component",
        "/reportingComponent",
        "/reportingController",
    ]);
    match first(&["/source/host", "/deprecatedSource/host", "/reportingInstance"]) {
        instance if instance.is_empty() => component,
        instance => format!("{component}, {instance}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(event: Value) -> Vec<Value> {
        cells(&Object::new(event), "2026-01-02T12:00:00Z".parse().unwrap())
    }

    #[test]
    fn of_the_core_api() {
        let event = json!({
            "metadata": {"name": "e"}, "type": "Warning", "reason": "Failed", "message": " no room\n", "count": 3,
            "involvedObject": {"kind": "Pod", "name": "a", "fieldPath": "spec"},
            "source": {"component": "kubelet", "host": "n"},
            "firstTimestamp": "2026-01-02T11:00:00Z", "lastTimestamp": "2026-01-02T11:59:55Z",
        });
        assert_eq!(
            row(event),
            json!(["5s", "Warning", "Failed", "pod/a", "spec", "kubelet, n", "no room", "60m", 3, "e"])
                .as_array()
                .unwrap()
                .clone()
        );
    }

    #[test]
    fn of_the_new_api() {
        let event = json!({
            "metadata": {"name": "e"}, "type": "Normal", "reason": "Scaled", "note": "up", "regarding": {"kind": "PodClique", "name": "c"},
            "reportingController": "grove.io/x", "eventTime": "2026-01-02T11:59:00.5Z",
            "series": {"count": 7, "lastObservedTime": "2026-01-02T11:59:58Z"},
        });
        assert_eq!(
            row(event),
            json!(["2s", "Normal", "Scaled", "podclique/c", "", "grove.io/x", "up", "60s", 7, "e"])
                .as_array()
                .unwrap()
                .clone()
        );
    }
}
