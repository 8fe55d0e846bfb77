//! Services and what belongs to them.

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use super::text::{NONE, age, labels, list, number, or, selector, some, text};
use super::{AGE, NAME, Printer, string, wide};
use crate::object::Object;

pub(super) const SERVICE: Printer = Printer {
    columns: &[
        NAME,
        string("Type"),
        string("Cluster-IP"),
        string("External-IP"),
        string("Port(s)"),
        AGE,
        wide("Selector"),
    ],
    cells: service,
};
pub(super) const ENDPOINT_SLICE: Printer = Printer {
    columns: &[NAME, string("AddressType"), string("Ports"), string("Endpoints"), AGE],
    cells: endpoint_slice,
};
pub(super) const POLICY: Printer = Printer { columns: &[NAME, string("Pod-Selector"), AGE], cells: policy };

/// As many ports and endpoints of a slice as are shown.
const SHOWN: usize = 3;

fn service(object: &Object, now: Timestamp) -> Vec<Value> {
    let service = object.value();
    let ports: Vec<String> = list(service, "/spec/ports").iter().map(port).collect();
    let address = list(service, "/spec/clusterIPs").first().and_then(Value::as_str);
    vec![
        object.name().into(),
        text(service, "/spec/type").into(),
        or(address.unwrap_or_default(), or(text(service, "/spec/clusterIP"), NONE)).into(),
        external(service).into(),
        or(&ports.join(","), NONE).into(),
        age(object, now),
        labels(service.pointer("/spec/selector")).into(),
    ]
}

fn port(port: &Value) -> String {
    let (number_, protocol) = (number(port, "/port"), or(text(port, "/protocol"), "TCP"));
    match number(port, "/nodePort") {
        0 => format!("{number_}/{protocol}"),
        node_port => format!("{number_}:{node_port}/{protocol}"),
    }
}

fn external(service: &Value) -> String {
    let texts =
        |pointer: &str| -> Vec<&str> { list(service, pointer).iter().filter_map(Value::as_str).collect() };
    let mut addresses = texts("/spec/externalIPs");
    match or(text(service, "/spec/type"), "ClusterIP") {
        "ExternalName" => return text(service, "/spec/externalName").to_owned(),
        "LoadBalancer" => {
            let ingress = list(service, "/status/loadBalancer/ingress");
            let mut found: Vec<&str> =
                ingress.iter().map(|it| or(text(it, "/ip"), text(it, "/hostname"))).collect();
            found.sort_unstable();
            found.append(&mut addresses);
            return or(&found.join(","), "<pending>").to_owned();
        }
        _ => {}
    }
    or(&addresses.join(","), NONE).to_owned()
}

fn endpoint_slice(object: &Object, now: Timestamp) -> Vec<Value> {
    let slice = object.value();
    let port = |it: &Value| match it["port"].as_i64() {
        Some(port) => port.to_string(),
        None => or(text(it, "/name"), "*").to_owned(),
    };
    let ports: Vec<String> = list(slice, "/ports").iter().map(port).collect();
    let addresses: Vec<String> = list(slice, "/endpoints")
        .iter()
        .flat_map(|it| list(it, "/addresses"))
        .filter_map(|it| it.as_str().map(str::to_owned))
        .collect();
    vec![
        object.name().into(),
        text(slice, "/addressType").into(),
        some(&ports, SHOWN).into(),
        some(&addresses, SHOWN).into(),
        age(object, now),
    ]
}

fn policy(object: &Object, now: Timestamp) -> Vec<Value> {
    vec![object.name().into(), selector(object.field("/spec/podSelector")).into(), age(object, now)]
}

#[cfg(test)]
#[allow(clippy::needless_pass_by_value, reason = "`json!` reads better without borrowing it")]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(spec: Value, status: Value) -> Vec<Value> {
        service(
            &Object::new(json!({"spec": spec, "status": status})),
            "2026-01-02T12:00:00Z".parse().unwrap(),
        )
    }

    #[test]
    fn services() {
        let ports =
            json!([{"port": 80, "protocol": "TCP"}, {"port": 53, "protocol": "UDP", "nodePort": 30053}]);
        let plain = row(
            json!({"type": "ClusterIP", "clusterIPs": ["None"], "ports": ports, "selector": {"a": "1"}}),
            json!({}),
        );
        assert_eq!(plain[1..5], ["ClusterIP", "None", "<none>", "80/TCP,53:30053/UDP"]);
        assert_eq!(plain[6], "a=1");
        for (spec, status, expected) in [
            (json!({"externalIPs": ["1.2.3.4"]}), json!({}), "1.2.3.4"),
            (json!({"type": "LoadBalancer"}), json!({}), "<pending>"),
            (
                json!({"type": "LoadBalancer"}),
                json!({"loadBalancer": {"ingress": [{"hostname": "x"}, {"ip": "1.1.1.1"}]}}),
                "1.1.1.1,x",
            ),
            (json!({"type": "ExternalName", "externalName": "example.com"}), json!({}), "example.com"),
        ] {
            assert_eq!(row(spec, status)[3], expected);
        }
    }
}
