//! Objects of another namespace that name an owner by its UID, and objects that name it as another kind.

use super::*;

/// As the owner's own would be, but for what `change` does.
fn object(name: &str, change: impl FnOnce(&mut Value)) -> Value {
    let mut object = json!({
        "apiVersion": "example.com/v1", "kind": "Group", "spec": {},
        "metadata": {
            "name": name, "namespace": "ns", "uid": format!("{name}-uid"), "resourceVersion": "1",
            "ownerReferences": [owner().reference()],
        },
    });
    change(&mut object["metadata"]);
    object
}

fn elsewhere(name: &str) -> Value {
    object(name, |metadata| metadata["namespace"] = "evil".into())
}

fn of_another_kind(name: &str) -> Value {
    object(name, |metadata| metadata["ownerReferences"][0]["kind"] = "X".into())
}

#[tokio::test]
async fn what_is_in_another_namespace_is_neither_counted_nor_deleted_nor_in_the_way() {
    let mut desk = Desk::new();
    desk.there(elsewhere("a"));
    desk.there(elsewhere("too-much"));
    desk.there(of_another_kind("of-another-kind"));
    assert!(desk.applier.of_owner(&owner().key()).is_empty());
    assert!(desk.applier.values_of_owner(&owner().key()).is_empty());
    let requests = desk.takes(vec![group("a", &json!({}))]).await;
    assert_eq!(lines(&requests), ["PATCH /apis/example.com/v1/namespaces/ns/groups/a"]);
    assert_eq!(desk.applier.of_owner(&owner().key()).len(), 1);
}

#[tokio::test]
async fn what_names_the_owner_as_another_kind_is_not_taken_over() {
    let mut desk = Desk::new();
    desk.there(of_another_kind("a"));
    let (applied, requests) = desk.apply(vec![group("a", &json!({}))], |_| {}).await;
    assert_eq!(applied.unwrap_err().to_string(), "Group \"a\" exists and has another owner");
    assert!(requests.is_empty());
}

/// Otherwise anybody could have a gang looked at as often as they like.
#[tokio::test]
async fn changes_in_another_namespace_do_not_tell_of_the_owner() {
    let desk = Desk::new();
    let told: Arc<Mutex<Vec<OwnerKey>>> = Arc::default();
    let mine = Arc::clone(&told);
    desk.applier.on_change(move |owner, _| mine.lock().push(owner.clone()));
    desk.there(elsewhere("a"));
    desk.there(of_another_kind("b"));
    assert_eq!(told.lock().len(), 2);
    assert!(!told.lock().contains(&owner().key()));
    desk.there(object("c", |_| {}));
    assert!(told.lock().contains(&owner().key()));
}
