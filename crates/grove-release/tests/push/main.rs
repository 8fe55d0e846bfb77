//! Pushing, against a registry in memory that takes nothing wrong.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, also in its functions")]

mod registry;

use grove_release::{
    architecture::Architecture,
    image::{self, Details, Files, Payload, read},
    push::{Pushed, credentials::Credentials, push, reference::Reference},
};

use registry::{Access, Registry};

fn made(program: &str, architectures: &[Architecture]) -> Files {
    let details = Details {
        program: "grove",
        title: "Grove",
        description: "An operator",
        version: "1.2.3".to_owned(),
        revision: "0123abc".to_owned(),
        seconds: 0,
        created: "1970-01-01T00:00:00Z".to_owned(),
    };
    let payload =
        |it: &Architecture| Payload { architecture: *it, program: format!("{program} {it:?}").into_bytes() };
    image::layout(&details, b"licence", &architectures.iter().map(payload).collect::<Vec<_>>()).unwrap()
}

fn password(password: &str) -> Credentials {
    Credentials::Password { user: "pusher".to_owned(), password: password.to_owned() }
}

async fn error_of(registry: &Registry, credentials: Option<Credentials>) -> String {
    let files = made("one", &[Architecture::Amd64]);
    format!("{:#}", push(&files, &registry.target("1.0"), credentials).await.unwrap_err())
}

#[tokio::test]
async fn an_image_arrives_whole() {
    let registry = Registry::start(Access::Open).await;
    let files = made("one", &[Architecture::Amd64]);
    let pushed = push(&files, &registry.target("1.0"), None).await.unwrap();
    let root = read::contents(&files).unwrap().root;
    assert_eq!(pushed, Pushed { digest: root.digest().to_string(), sent: 2, skipped: 0 });
    assert_eq!(registry.manifest("1.0"), read::blob(&files, &root).unwrap());
    assert_eq!(registry.complaints(), Vec::<String>::new());
}

#[tokio::test]
async fn what_is_there_is_not_sent_again() {
    let registry = Registry::start(Access::Open).await;
    let files = made("one", &[Architecture::Amd64]);
    push(&files, &registry.target("1.0"), None).await.unwrap();
    let again = push(&files, &registry.target("1.1"), None).await.unwrap();
    assert_eq!((again.sent, again.skipped), (0, 2));
    assert_eq!(registry.uploads(), 2, "only the first time");
    assert_eq!(registry.manifest("1.1"), registry.manifest("1.0"));
}

#[tokio::test]
async fn an_index_comes_after_its_manifests() {
    let registry = Registry::start(Access::Open).await;
    let files = made("one", &[Architecture::Amd64, Architecture::Arm64]);
    let pushed = push(&files, &registry.target("1.0"), None).await.unwrap();
    assert_eq!((pushed.sent, pushed.skipped), (4, 0));
    assert_eq!(registry.manifest_type("1.0"), "application/vnd.oci.image.index.v1+json");
    // The registry refuses a manifest whose parts it does not have.
    assert_eq!(registry.complaints(), Vec::<String>::new());
}

#[tokio::test]
async fn a_token_is_got_and_used() {
    let registry = Registry::start(Access::Token { password: "s3cret" }).await;
    let files = made("one", &[Architecture::Amd64]);
    push(&files, &registry.target("1.0"), Some(password("s3cret"))).await.unwrap();
    assert_eq!(registry.tokens(), ["repository:team/grove:pull,push"], "once, for all of the push");
}

#[tokio::test]
async fn an_identity_token_is_exchanged() {
    let registry = Registry::start(Access::Token { password: "s3cret" }).await;
    let files = made("one", &[Architecture::Amd64]);
    let identity = Some(Credentials::Identity("s3cret".to_owned()));
    push(&files, &registry.target("1.0"), identity).await.unwrap();
    assert_eq!(registry.tokens(), ["repository:team/grove:pull,push"]);
}

#[tokio::test]
async fn a_password_is_shown_where_it_is_asked_for() {
    let registry = Registry::start(Access::Basic { password: "s3cret" }).await;
    let files = made("one", &[Architecture::Amd64]);
    push(&files, &registry.target("1.0"), Some(password("s3cret"))).await.unwrap();
    let error = error_of(&registry, None).await;
    assert!(
        error.contains("wants a user and a password: 401 Unauthorized: UNAUTHORIZED who are you"),
        "{error}"
    );
    assert!(error.contains("REGISTRY_USERNAME and REGISTRY_PASSWORD"), "{error}");
}

/// What the registry said is in the error, what we said to it is not.
#[tokio::test]
async fn errors_name_the_answer_and_no_secret() {
    let wrong = "wr0ng-password";
    let encoded = "cHVzaGVyOndyMG5nLXBhc3N3b3Jk"; // pusher:wr0ng-password
    let rows = [
        (Access::Token { password: "s3cret" }, "gets no token from", "DENIED wrong password"),
        (Access::Basic { password: "s3cret" }, "does not accept the credentials", "UNAUTHORIZED who are you"),
        (Access::ReadOnly, "does not take uploads", "403 Forbidden: DENIED this registry is read only"),
        (Access::Broken, "does not answer", "503 Service Unavailable: it said nothing more"),
        (Access::Forgetful, "does not take the manifest", "MANIFEST_BLOB_UNKNOWN blob unknown to registry"),
    ];
    for (access, what, answer) in rows {
        let registry = Registry::start(access).await;
        let error = error_of(&registry, Some(password(wrong))).await;
        assert!(error.contains(what) && error.contains(answer), "{error}");
        assert!(!error.contains(wrong) && !error.contains(encoded), "{error}");
    }
}

#[tokio::test]
async fn a_registry_that_is_not_there_is_named() {
    let target = Reference::parse("127.0.0.1:1/team/grove:1.0").unwrap();
    let error = push(&made("one", &[Architecture::Amd64]), &target, None).await.unwrap_err();
    assert!(format!("{error:#}").starts_with("GET 127.0.0.1/v2/: "), "{error:#}");
}

/// Where blobs go is for the registry to say; what we show it, is for itself alone.
#[tokio::test]
async fn other_hosts_see_no_credentials() {
    let elsewhere = Registry::start(Access::Open).await;
    let registry = Registry::start(Access::Elsewhere { password: "s3cret", host: elsewhere.address() }).await;
    let error = error_of(&registry, Some(password("s3cret"))).await;
    // The other host stores them, so that only the manifest is refused.
    assert!(error.contains("MANIFEST_BLOB_UNKNOWN"), "{error}");
    assert_eq!(elsewhere.uploads(), 2);
    assert_eq!(elsewhere.seen_authorizations(), 0);
    assert!(registry.seen_authorizations() > 0);
}
