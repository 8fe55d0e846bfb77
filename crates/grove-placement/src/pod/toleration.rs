//! Tolerations of taints.

use k8s_openapi::api::core::v1 as core;

use crate::cluster::Taint;

/// A toleration.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Toleration {
    /// Key; empty for every key.
    pub key: String,
    /// Value; `None` for every value.
    pub value: Option<String>,
    /// Effect; empty for every effect.
    pub effect: String,
}

impl Toleration {
    /// From the API; `None` for operators that tolerate nothing that is known here.
    pub fn parse(toleration: &core::Toleration) -> Option<Self> {
        let key = toleration.key.clone().unwrap_or_default();
        let value = match toleration.operator.as_deref().unwrap_or_default() {
            "Exists" => None,
            // Without a key there is nothing to compare.
            "" | "Equal" if !key.is_empty() => Some(toleration.value.clone().unwrap_or_default()),
            _ => return None,
        };
        Some(Self { key, value, effect: toleration.effect.clone().unwrap_or_default() })
    }

    /// Whether it tolerates a taint.
    pub fn covers(&self, taint: &Taint) -> bool {
        (self.effect.is_empty() || self.effect == taint.effect)
            && (self.key.is_empty() || self.key == taint.key)
            && self.value.as_ref().is_none_or(|it| *it == taint.value)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tolerations_cover_taints() {
        let taint = Taint { key: "gpu".into(), value: "true".into(), effect: "NoSchedule".into() };
        let rows = [
            (json!({ "operator": "Exists" }), true),
            (json!({ "key": "gpu", "operator": "Exists" }), true),
            (json!({ "key": "gpu", "operator": "Exists", "effect": "NoExecute" }), false),
            (json!({ "key": "gpu", "value": "true" }), true),
            (json!({ "key": "gpu", "operator": "Equal", "value": "true", "effect": "NoSchedule" }), true),
            (json!({ "key": "gpu", "value": "false" }), false),
            (json!({ "key": "gpu" }), false),
            (json!({ "key": "other", "operator": "Exists" }), false),
            (json!({ "key": "gpu", "operator": "Gt", "value": "1" }), false),
            (json!({ "value": "true" }), false),
        ];
        for (row, want) in rows {
            let toleration = Toleration::parse(&serde_json::from_value(row.clone()).unwrap());
            assert_eq!(toleration.is_some_and(|it| it.covers(&taint)), want, "{row}");
        }
    }
}
