//! The Secret and the webhook configurations, over the in-memory API with virtual time.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use grove_apiserver::{Action, ApiServer, DeleteOptions, Fault, PatchBody, Resources, WriteRequest};
use grove_operator::certificates::{Content, Facts, Keeper, Lifetimes, Names, Served};
use k8s_openapi::{ByteString, api::core::v1::Secret, jiff::Timestamp};
use kube::Client;
use serde_json::{Value, json};
use tokio::{task::JoinHandle, time::sleep};
use tokio_util::sync::CancellationToken;

pub(crate) const NAMESPACE: &str = "grove-system";
const SECRET: &str = "grove-webhook-server-cert";
const SECRETS: &str = "secrets";
pub(crate) const MUTATING: &str = "mutatingwebhookconfigurations.admissionregistration.k8s.io";
const VALIDATING: &str = "validatingwebhookconfigurations.admissionregistration.k8s.io";

/// A cluster with webhook configurations, as they are installed: nobody is trusted yet.
pub(crate) struct Cluster {
    pub(crate) server: ApiServer,
}

fn fixed() -> Timestamp {
    Timestamp::from_second(1_800_000_000).unwrap()
}

impl Cluster {
    pub(crate) fn new(clock: fn() -> Timestamp) -> Self {
        let mut resources = Resources::kubernetes();
        for (kind, plural) in [
            ("MutatingWebhookConfiguration", "mutatingwebhookconfigurations"),
            ("ValidatingWebhookConfiguration", "validatingwebhookconfigurations"),
        ] {
            let definition = json!({ "spec": {
                "group": "admissionregistration.k8s.io",
                "scope": "Cluster",
                "names": { "kind": kind, "plural": plural },
                "versions": [{ "name": "v1", "served": true, "storage": true }],
            } });
            resources = resources.with_crd(&definition).unwrap();
        }
        let cluster = Self { server: ApiServer::new(resources, clock, 1) };
        let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": NAMESPACE } });
        cluster.write("namespaces", "", Action::Create(namespace));
        cluster
    }

    /// Installs the webhook configurations.
    pub(crate) fn install(&self) {
        for (resource, kind, name, webhook) in [
            (
                MUTATING,
                "MutatingWebhookConfiguration",
                "podcliqueset-defaulting-webhook",
                "pcs.defaulting.webhooks.grove.io",
            ),
            (
                VALIDATING,
                "ValidatingWebhookConfiguration",
                "podcliqueset-validating-webhook",
                "pcs.validating.webhooks.grove.io",
            ),
        ] {
            let entry = |name: &str| {
                json!({
                    "name": name, "admissionReviewVersions": ["v1"], "sideEffects": "None",
                    "clientConfig": { "url": "https://127.0.0.1:1/" }, "unknownToUs": { "stays": true },
                })
            };
            let object = json!({
                "apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": { "name": name },
                "webhooks": [entry("somebody.else.example.com"), entry(webhook)],
            });
            self.write(resource, "", Action::Create(object));
        }
    }

    fn write(&self, resource: &str, name: &str, action: Action) {
        let namespace = if resource == SECRETS { NAMESPACE } else { "" };
        let resource = Arc::clone(self.server.resources().by_id(resource).expect("a known resource"));
        let request = WriteRequest {
            resource,
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            subresource: None,
            manager: "world".to_owned(),
            dry_run: false,
            action,
        };
        self.server.write(request).unwrap();
    }

    fn start(&self, served: &Arc<Served>) -> JoinHandle<()> {
        self.start_with(served, fixed, Lifetimes::default())
    }

    pub(crate) fn start_with(
        &self,
        served: &Arc<Served>,
        clock: fn() -> Timestamp,
        lifetimes: Lifetimes,
    ) -> JoinHandle<()> {
        let keeper = Keeper {
            namespace: NAMESPACE.to_owned(),
            secret: SECRET.to_owned(),
            names: Names::new(NAMESPACE, "127.0.0.1"),
            lifetimes,
            authorizer: false,
            clock,
        };
        let client = Client::new(self.server.service(), NAMESPACE);
        tokio::spawn(keeper.run(client, Arc::clone(served), CancellationToken::new()))
    }

    pub(crate) fn content(&self) -> Content {
        let Some(secret) = self.server.store().get(SECRETS, NAMESPACE, SECRET) else {
            return Content::default();
        };
        let secret: Secret = serde_json::from_value(secret.value().clone()).unwrap();
        Content::of(&secret)
    }

    /// Whom our webhook, and the other one beside it, trust.
    pub(crate) fn trusted(&self, resource: &str) -> [Option<Vec<u8>>; 2] {
        let object = self.server.store().list(resource, None).remove(0);
        [1, 0].map(|at| {
            let bundle = object.field(&format!("/webhooks/{at}/clientConfig/caBundle"))?;
            Some(serde_json::from_value::<ByteString>(bundle.clone()).unwrap().0)
        })
    }

    fn patch(&self, resource: &str, name: &str, patch: Value) {
        self.write(resource, name, Action::Patch(PatchBody::Merge(patch)));
    }

    /// Waits until nothing is written any more.
    async fn settle(&self) {
        let mut quiet = 0;
        while quiet < 30 {
            let before = self.server.store().revision();
            sleep(Duration::from_secs(1)).await;
            quiet = if self.server.store().revision() == before { quiet + 1 } else { 0 };
        }
    }
}

#[tokio::test(start_paused = true)]
async fn replicas_agree_on_one_certificate_and_have_it_trusted() {
    let cluster = Cluster::new(fixed);
    cluster.install();
    let served: [Arc<Served>; 3] = Default::default();
    assert!(served[0].ready(fixed()).unwrap_err().contains("no certificate yet"));
    let _tasks: Vec<_> = served.iter().map(|it| cluster.start(it)).collect();
    cluster.settle().await;
    let content = cluster.content();
    Facts::of(&content).unwrap();
    for it in &served {
        it.ready(fixed()).unwrap();
        assert_eq!(format!("{it:?}"), format!("{:?}", served[0]), "replicas serve different certificates");
    }
    for resource in [MUTATING, VALIDATING] {
        assert_eq!(cluster.trusted(resource), [Some(content.authorities.clone()), None]);
        let object = cluster.server.store().list(resource, None).remove(0);
        assert_eq!(object.field("/webhooks/1/unknownToUs/stays"), Some(&json!(true)));
    }
    // A fourth finds all as it should be, and writes nothing.
    let (before, late) = (cluster.server.store().revision(), Arc::new(Served::default()));
    let _task = cluster.start(&late);
    cluster.settle().await;
    late.ready(fixed()).unwrap();
    assert_eq!(cluster.server.store().revision(), before, "something was written");
}

#[tokio::test(start_paused = true)]
async fn who_writes_the_same_field_is_not_fought_as_fast_as_possible() {
    let (cluster, served) = (Cluster::new(fixed), Arc::new(Served::default()));
    cluster.install();
    let _task = cluster.start(&served);
    cluster.settle().await;
    let ours = Some(cluster.content().authorities);
    let mut theirs = cluster.server.store().list(MUTATING, None).remove(0).value().clone();
    theirs["webhooks"][1]["clientConfig"]["caBundle"] = "dGhlaXJz".into();
    let (mut times, step) = (0, Duration::from_millis(100));
    for _ in 0..3000 {
        if cluster.trusted(MUTATING)[0] == ours {
            times += 1;
            let patch = json!({ "webhooks": theirs["webhooks"] });
            cluster.patch(MUTATING, "podcliqueset-defaulting-webhook", patch);
        }
        sleep(step).await;
    }
    // Five minutes: five times at once, and then twice a minute.
    assert!((10..=20).contains(&times), "written {times} times");
}

#[tokio::test(start_paused = true)]
async fn what_somebody_spoils_is_put_right() {
    let (cluster, served) = (Cluster::new(fixed), Arc::new(Served::default()));
    cluster.install();
    let _task = cluster.start(&served);
    cluster.settle().await;
    let content = cluster.content();

    // A pipeline that applies an empty Secret, or one with a certificate of its own.
    let empty = json!({ "data": { "tls.crt": "", "tls.key": "", "ca.crt": "", "ca.key": null } });
    let foreign = json!({ "data": { "tls.crt": "Zm9yZWlnbg==", "other": "a2VwdA==" } });
    for spoilt in [empty, foreign] {
        cluster.patch(SECRETS, SECRET, spoilt);
        cluster.settle().await;
        assert_eq!(cluster.content(), content);
    }
    let secret = cluster.server.store().get(SECRETS, NAMESPACE, SECRET).unwrap();
    assert_eq!(secret.field("/data/other"), Some(&json!("a2VwdA==")), "what is not ours stays");

    // An upgrade that sets the webhook configuration back.
    let reset = json!({ "webhooks": [{ "name": "first.example.com", "clientConfig": {} }, {
        "name": "pcs.validating.webhooks.grove.io", "clientConfig": { "caBundle": "b2xk" },
        "admissionReviewVersions": ["v1"], "sideEffects": "None",
    }] });
    let mut reset = reset;
    reset["webhooks"][0]["admissionReviewVersions"] = json!(["v1"]);
    reset["webhooks"][0]["sideEffects"] = json!("None");
    cluster.patch(VALIDATING, "podcliqueset-validating-webhook", reset);
    cluster.settle().await;
    assert_eq!(cluster.trusted(VALIDATING), [Some(content.authorities.clone()), None]);

    // Who deletes the Secret wants another one.
    cluster.write(SECRETS, SECRET, Action::Delete(DeleteOptions::default()));
    cluster.settle().await;
    let new = cluster.content();
    Facts::of(&new).unwrap();
    assert_ne!(new.authorities, content.authorities);
    assert_eq!(cluster.trusted(VALIDATING), [Some(new.authorities), None]);
}

#[tokio::test(start_paused = true)]
async fn without_webhook_configurations_it_is_ready_all_the_same() {
    let (cluster, served) = (Cluster::new(fixed), Arc::new(Served::default()));
    let _task = cluster.start(&served);
    cluster.settle().await;
    served.ready(fixed()).unwrap();
    // They are installed later.
    cluster.install();
    cluster.settle().await;
    assert_eq!(cluster.trusted(MUTATING)[0], Some(cluster.content().authorities));
}

/// An API server would not believe us: whoever waits for readiness must not meet that.
#[tokio::test(start_paused = true)]
async fn it_is_not_ready_before_it_is_trusted() {
    let (cluster, served) = (Cluster::new(fixed), Arc::new(Served::default()));
    cluster.install();
    let broken = Arc::new(AtomicBool::new(true));
    let is_broken = Arc::clone(&broken);
    cluster.server.before_write(move |request| {
        let cut = request.resource.id() == MUTATING && is_broken.load(Ordering::Relaxed);
        if cut { Fault::Cut } else { Fault::None }
    });
    let _task = cluster.start(&served);
    cluster.settle().await;
    Facts::of(&cluster.content()).unwrap();
    assert!(served.ready(fixed()).unwrap_err().contains("do not trust the certificate yet"));
    broken.store(false, Ordering::Relaxed);
    cluster.settle().await;
    cluster.settle().await;
    served.ready(fixed()).unwrap();
    assert_eq!(cluster.trusted(MUTATING)[0], Some(cluster.content().authorities));
}
