use std::collections::BTreeMap;

use serde_json::json;

use super::*;

/// A cluster: objects by kind and name, and those that may not be read.
#[derive(Default)]
struct Cluster {
    objects: BTreeMap<(String, String), Value>,
    forbidden: Vec<&'static str>,
    asked: Vec<String>,
}

impl Cluster {
    fn with(mut self, kind: &str, name: &str, uid: &str, owners: &[(&str, &str, &str)]) -> Self {
        let object = json!({
            "apiVersion": "example.com/v1", "kind": kind,
            "metadata": { "name": name, "namespace": "ns", "uid": uid, "labels": { "of": name }, "ownerReferences": references(owners) },
            "spec": { "kept": true },
        });
        self.objects.insert((kind.to_owned(), name.to_owned()), object);
        self
    }

    fn forbid(mut self, kind: &'static str) -> Self {
        self.forbidden.push(kind);
        self
    }

    fn read(&mut self, key: &ObjectKey) -> Result<Arc<DynamicObject>, NotRead> {
        assert_eq!(key.namespace, "ns");
        self.asked.push(key.name.clone());
        if self.forbidden.contains(&key.kind.kind.as_str()) {
            return Err(NotRead::Forbidden);
        }
        let object = self.objects.get(&(key.kind.kind.clone(), key.name.clone())).ok_or(NotRead::Absent)?;
        Ok(Arc::new(serde_json::from_value(object.clone()).unwrap()))
    }

    /// Names of the owners of a pod, or why they are not known.
    async fn owners(&mut self, owners: &[(&str, &str, &str)]) -> Result<Vec<String>, String> {
        let metadata =
            json!({ "name": "p", "namespace": "ns", "uid": "pod", "ownerReferences": references(owners) });
        let pod: PodView = serde_json::from_value(json!({ "metadata": metadata })).unwrap();
        let chain =
            owners_of(&pod, |key, _| std::future::ready(self.read(&key))).await.map_err(|it| it.why)?;
        let top = chain.top.as_ref().map(|it| it["metadata"]["name"].as_str().unwrap().to_owned());
        assert_eq!(top.as_ref(), chain.owners.last().map(|it| &it.object.name));
        Ok(chain.owners.into_iter().map(|it| it.object.name).collect())
    }
}

fn references(owners: &[(&str, &str, &str)]) -> Value {
    owners
        .iter()
        .map(|(kind, name, uid)| json!({ "apiVersion": "example.com/v1", "kind": kind, "name": name, "uid": uid }))
        .collect()
}

#[tokio::test]
async fn a_pod_without_owners_is_its_own() {
    let mut cluster = Cluster::default();
    assert_eq!(cluster.owners(&[]).await, Ok(vec![]));
    assert!(cluster.asked.is_empty());
}

#[tokio::test]
async fn owners_are_followed_to_the_top() {
    let mut cluster = Cluster::default().with("A", "a", "1", &[("B", "b", "2")]).with("B", "b", "2", &[]);
    // Further owners of a pod do not count.
    let owners = cluster.owners(&[("A", "a", "1"), ("C", "c", "3")]).await;
    assert_eq!(owners, Ok(vec!["a".to_owned(), "b".to_owned()]));
    assert_eq!(cluster.asked, ["a", "b"]);
}

#[tokio::test]
async fn what_may_not_be_read_is_not_the_top() {
    let chain = || Cluster::default().with("A", "a", "1", &[("B", "b", "2")]).with("B", "b", "2", &[]);
    assert_eq!(chain().forbid("B").owners(&[("A", "a", "1")]).await, Ok(vec!["a".to_owned()]));
    assert_eq!(chain().forbid("A").owners(&[("A", "a", "1")]).await, Ok(vec![]));
}

#[tokio::test]
async fn owners_that_cannot_be_are_refused() {
    let key = |kind: &str, name: &str| format!("{kind} ns/{name} (example.com/v1)");
    let cases = [
        (Cluster::default(), format!("the owner {} with UID 1 does not exist", key("A", "a"))),
        (
            Cluster::default().with("A", "a", "9", &[]),
            format!("the owner {} with UID 1 is gone: the one of this name has UID 9", key("A", "a")),
        ),
        (
            Cluster::default().with("A", "a", "1", &[("B", "b", "2"), ("B", "c", "3")]),
            format!("{} has 2 owners, so its workload is ambiguous: keep one", key("A", "a")),
        ),
        (
            Cluster::default().with("A", "a", "1", &[("B", "b", "2")]).with(
                "B",
                "b",
                "2",
                &[("A", "a", "1")],
            ),
            format!("the owners of the pod go round in a circle: {} owns itself", key("A", "a")),
        ),
        (
            Cluster::default().with("A", "a", "1", &[("Pod", "p", "pod")]),
            format!("the owners of the pod go round in a circle: {} owns itself", key("Pod", "p")),
        ),
    ];
    for (mut cluster, expected) in cases {
        assert_eq!(cluster.owners(&[("A", "a", "1")]).await, Err(expected));
    }
}

#[tokio::test]
async fn no_chain_is_endless() {
    let mut cluster = Cluster::default();
    for number in 0..100 {
        let (name, above) = (format!("o{number}"), format!("o{}", number + 1));
        cluster = cluster.with("A", &name, &name, &[("A", &above, &above)]);
    }
    let why = cluster.owners(&[("A", "o0", "o0")]).await.unwrap_err();
    assert_eq!(
        why,
        "the pod has more than 32 owners above one another, the last is A ns/o32 (example.com/v1)"
    );
}
