//! Label selectors of pods.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

/// How a label is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operator {
    /// The value is one of those listed.
    In,
    /// It is none of them, or the label is not there.
    NotIn,
    /// The label is there.
    Exists,
    /// It is not.
    DoesNotExist,
    /// The value is a number greater than the one listed.
    Gt,
    /// Likewise, less.
    Lt,
}

impl Operator {
    /// By its name in the API.
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "In" => Self::In,
            "NotIn" => Self::NotIn,
            "Exists" => Self::Exists,
            "DoesNotExist" => Self::DoesNotExist,
            "Gt" => Self::Gt,
            "Lt" => Self::Lt,
            _ => return None,
        })
    }

    /// Whether a label with this value passes.
    pub fn holds(self, value: Option<&str>, values: &BTreeSet<String>) -> bool {
        let numbers = || {
            let [listed] = values.iter().collect::<Vec<_>>()[..] else { return None };
            Some((value?.parse::<i64>().ok()?, listed.parse::<i64>().ok()?))
        };
        match self {
            Self::In => value.is_some_and(|it| values.contains(it)),
            Self::NotIn => value.is_none_or(|it| !values.contains(it)),
            Self::Exists => value.is_some(),
            Self::DoesNotExist => value.is_none(),
            Self::Gt => numbers().is_some_and(|(own, listed)| own > listed),
            Self::Lt => numbers().is_some_and(|(own, listed)| own < listed),
        }
    }
}

/// A requirement on one label.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LabelRequirement {
    /// Key.
    pub key: String,
    /// Operator.
    pub operator: Operator,
    /// Values.
    pub values: BTreeSet<String>,
}

/// Which pods are meant.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Selector {
    /// None: a selector that is absent.
    #[default]
    Nothing,
    /// Those that meet all requirements; all pods where there are none.
    All(Vec<LabelRequirement>),
}

impl Selector {
    /// From the API; `None` where it has an operator that is not known.
    pub fn parse(selector: Option<&LabelSelector>) -> Option<Self> {
        let Some(selector) = selector else { return Some(Self::Nothing) };
        let labels = selector.match_labels.iter().flatten();
        let mut all: Vec<LabelRequirement> =
            labels.map(|(key, value)| Self::requirement(key, Operator::In, [value.clone()])).collect();
        for it in selector.match_expressions.iter().flatten() {
            let operator = Operator::parse(&it.operator)?;
            all.push(Self::requirement(&it.key, operator, it.values.clone().unwrap_or_default()));
        }
        Some(Self::All(all))
    }

    fn requirement(
        key: &str,
        operator: Operator,
        values: impl IntoIterator<Item = String>,
    ) -> LabelRequirement {
        LabelRequirement { key: key.to_owned(), operator, values: values.into_iter().collect() }
    }

    /// Also requires what the pod itself has of these labels (`matchLabelKeys`), or requires another value.
    pub fn restrict(&mut self, keys: &[String], operator: Operator, labels: &BTreeMap<String, String>) {
        let Self::All(all) = self else { return };
        for key in keys {
            if let Some(value) = labels.get(key) {
                all.push(Self::requirement(key, operator, [value.clone()]));
            }
        }
    }

    /// Whether a pod with these labels is meant.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        match self {
            Self::Nothing => false,
            Self::All(all) => {
                all.iter().all(|it| it.operator.holds(labels.get(&it.key).map(String::as_str), &it.values))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn selector(value: Value) -> Selector {
        Selector::parse(Some(&serde_json::from_value(value).unwrap())).unwrap()
    }

    #[test]
    fn operators() {
        use Operator::{DoesNotExist, Exists, Gt, In, Lt, NotIn};
        let rows: [(Operator, Option<&str>, &[&str], bool); 16] = [
            (In, Some("a"), &["a", "b"], true),
            (In, Some("c"), &["a", "b"], false),
            (In, None, &["a"], false),
            (NotIn, Some("a"), &["a"], false),
            (NotIn, Some("b"), &["a"], true),
            (NotIn, None, &["a"], true),
            (Exists, Some(""), &[], true),
            (Exists, None, &[], false),
            (DoesNotExist, None, &[], true),
            (DoesNotExist, Some("a"), &[], false),
            (Gt, Some("5"), &["4"], true),
            (Gt, Some("4"), &["4"], false),
            (Gt, Some("x"), &["4"], false),
            (Gt, None, &["4"], false),
            (Lt, Some("-1"), &["0"], true),
            (Lt, Some("1"), &[], false),
        ];
        for (operator, value, values, want) in rows {
            let values = values.iter().map(|it| (*it).to_owned()).collect();
            assert_eq!(operator.holds(value, &values), want, "{operator:?} {value:?} {values:?}");
        }
    }

    #[test]
    fn selectors() {
        let labels: BTreeMap<String, String> = [("app".to_owned(), "a".to_owned())].into();
        assert!(!Selector::parse(None).unwrap().matches(&labels));
        assert!(selector(json!({})).matches(&labels));
        assert!(selector(json!({ "matchLabels": { "app": "a" } })).matches(&labels));
        assert!(!selector(json!({ "matchLabels": { "app": "b" } })).matches(&labels));
        let both = json!({ "matchLabels": { "app": "a" }, "matchExpressions": [{ "key": "x", "operator": "Exists" }] });
        assert!(!selector(both).matches(&labels));
        let unknown = json!({ "matchExpressions": [{ "key": "x", "operator": "Like" }] });
        assert_eq!(Selector::parse(Some(&serde_json::from_value(unknown).unwrap())), None);
    }

    #[test]
    fn labels_of_the_pod_itself() {
        let own: BTreeMap<String, String> = [("hash".to_owned(), "1".to_owned())].into();
        let other: BTreeMap<String, String> = [("hash".to_owned(), "2".to_owned())].into();
        let keys = ["hash".to_owned(), "absent".to_owned()];
        let mut same = selector(json!({}));
        same.restrict(&keys, Operator::In, &own);
        assert!(same.matches(&own) && !same.matches(&other));
        let mut different = selector(json!({}));
        different.restrict(&keys, Operator::NotIn, &own);
        assert!(!different.matches(&own) && different.matches(&other));
    }
}
