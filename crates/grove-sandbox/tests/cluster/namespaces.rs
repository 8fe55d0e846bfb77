//! Namespaces that are deleted.

use k8s_openapi::api::core::v1::Namespace;
use kube::api::DeleteParams;
use serde_json::{Value, json};

use crate::world::World;

async fn create_and_fill(world: &World) {
    world.create(
        "namespaces",
        json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "team" } }),
    );
    world.pass(1.0).await;
}

async fn delete(world: &World) {
    let api: kube::Api<Namespace> = kube::Api::all(world.client.clone());
    drop(api.delete("team", &DeleteParams::default()).await.unwrap());
}

fn condition(world: &World, type_: &str) -> Value {
    let namespace = world.get_in("namespaces", "", "team").unwrap();
    let conditions = namespace["status"]["conditions"].as_array().cloned().unwrap_or_default();
    conditions.into_iter().find(|it| it["type"] == type_).unwrap_or_default()
}

#[tokio::test(start_paused = true)]
async fn everything_in_it_goes_and_the_conditions_say_what_is_left() {
    let world = World::of("hosts=1").await;
    create_and_fill(&world).await;
    let named = |kind: &str, api_version: &str, more: Value| {
        let mut metadata = json!({ "name": "x", "namespace": "team" });
        for (key, value) in more.as_object().into_iter().flatten() {
            metadata[key] = value.clone();
        }
        json!({ "apiVersion": api_version, "kind": kind, "metadata": metadata })
    };
    world.create("configmaps", named("ConfigMap", "v1", json!({})));
    world.create(
        "things.example.com",
        named("Thing", "example.com/v1", json!({ "finalizers": ["example.com/hold"] })),
    );
    let annotations =
        json!({ "annotations": { "e2e.grove.io/terminate-after": "20s" }, "namespace": "team" });
    world.pod_with("slow", "node-0", annotations, json!({}));
    world.pass(1.0).await;
    delete(&world).await;
    world.pass(2.0).await;
    assert!(world.get_in("configmaps", "team", "x").is_none());
    assert!(world.get_in("serviceaccounts", "team", "default").is_none(), "it does not come back, either");
    let remaining = condition(&world, "NamespaceContentRemaining");
    assert_eq!(remaining["status"], "True");
    assert_eq!(remaining["reason"], "SomeResourcesRemain");
    assert_eq!(
        remaining["message"],
        "Some resources are remaining: pods has 1 resource instances, things.example.com has 1 resource instances"
    );
    let finalizers = condition(&world, "NamespaceFinalizersRemaining");
    assert_eq!(
        finalizers["message"],
        "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances"
    );
    assert_eq!(condition(&world, "NamespaceDeletionContentFailure")["status"], "False");

    world.pass(60.0).await;
    assert!(world.get_in("pods", "team", "slow").is_none());
    let message = condition(&world, "NamespaceContentRemaining")["message"].clone();
    assert_eq!(message, "Some resources are remaining: things.example.com has 1 resource instances");
    let before = world.writes();
    world.pass(3_600.0).await;
    assert_eq!(world.writes(), before, "waiting writes nothing");

    let api: kube::Api<kube::api::DynamicObject> = kube::Api::namespaced_with(
        world.client.clone(),
        "team",
        &kube::api::ApiResource::from_gvk_with_plural(
            &kube::api::GroupVersionKind::gvk("example.com", "v1", "Thing"),
            "things",
        ),
    );
    let free = kube::api::Patch::Merge(json!({ "metadata": { "finalizers": null } }));
    api.patch("x", &kube::api::PatchParams::default(), &free).await.unwrap();
    world.pass(75.0).await;
    assert!(world.get_in("namespaces", "", "team").is_none());
}

#[tokio::test(start_paused = true)]
async fn pods_that_end_wake_it_at_once() {
    let world = World::of("hosts=1").await;
    create_and_fill(&world).await;
    let annotations =
        json!({ "annotations": { "e2e.grove.io/terminate-after": "29s" }, "namespace": "team" });
    world.pod_with("slow", "node-0", annotations, json!({}));
    world.pass(1.0).await;
    delete(&world).await;
    world.pass(28.0).await;
    assert!(world.get_in("namespaces", "", "team").is_some());
    world.pass(1.5).await;
    assert!(world.get_in("namespaces", "", "team").is_none());
}

#[tokio::test(start_paused = true)]
async fn an_empty_one_takes_one_write() {
    let world = World::of("hosts=1").await;
    world.sandbox.parts().stop("service-accounts").await;
    create_and_fill(&world).await;
    let before = world.writes();
    delete(&world).await;
    world.pass(1.0).await;
    assert!(world.get_in("namespaces", "", "team").is_none());
    assert_eq!(world.writes() - before, 2, "the deletion, and the end");
}
