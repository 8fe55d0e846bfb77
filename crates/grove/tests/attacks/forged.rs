//! AdmissionReviews that no API server sends. The callers of webhooks are not known, so an answer gives them nothing, and nothing in
//! the cluster changes.

use std::{
    collections::{BTreeMap, BTreeSet},
    convert::Infallible,
    sync::Mutex,
    time::Duration,
};

use futures::future::join_all;
use grove_api::constants::webhooks::SET_VALIDATING;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::{
    client::{Kind, attacker},
    forged_reviews::table,
    honest::review,
    program::{PATIENCE, Program, TENANT, set},
};

/// How often a review is sent again that was not judged in time.
const TRIES: usize = 2;
/// Bytes of reviews of which that is no failure.
const LONG: usize = 64 << 10;

/// Each object's identity and generation. Statuses may change meanwhile.
fn objects(program: &Program) -> BTreeMap<String, (Value, Value)> {
    let objects = program.server.store().objects().into_iter();
    let objects = objects.filter(|(key, _)| !format!("{key:?}").contains("event"));
    let field = |object: &grove_apiserver::Object, path| object.field(path).cloned().unwrap_or_default();
    objects
        .map(|(key, it)| {
            (format!("{key:?}"), (field(&it, "/metadata/uid"), field(&it, "/metadata/generation")))
        })
        .collect()
}

/// Waits until the gate of the victim's pod is removed, the last step of its creation, and nothing is written any more.
async fn settle(program: &Program) {
    let is_ungated = || {
        let pods = program.server.store().list("pods", Some(TENANT));
        let gates =
            |pod: &grove_apiserver::Object| pod.field("/spec/schedulingGates").cloned().unwrap_or_default();
        !pods.is_empty() && pods.iter().all(|it| gates(it).as_array().is_none_or(Vec::is_empty))
    };
    let settling = async {
        let (mut before, mut quiet) = (u64::MAX, 0);
        while quiet < 25 || !is_ungated() {
            sleep(Duration::from_millis(20)).await;
            let writes = program.server.store().write_count();
            quiet = if writes == before { quiet + 1 } else { 0 };
            before = writes;
        }
    };
    timeout(PATIENCE, settling).await.expect("the victim's pod keeps its gate");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forged_reviews_are_answered_and_change_nothing() {
    let mut program = Program::operator("operator-forged").await;
    settle(&program).await;
    let before = objects(&program);
    assert!(before.len() > 5, "{before:?}");
    for row in table() {
        let port = program.port(Kind::Admission);
        let mut answer =
            port.attacked(row.name, port.post_text(attacker(0), row.path, &row.text)).await.unwrap();
        for _ in 0..TRIES {
            if answer.code != 504 {
                break;
            }
            answer = port.post_text(attacker(0), row.path, &row.text).await.unwrap();
        }
        if answer.code == 504 && row.text.len() > LONG {
            // On a machine that is busy with something else; the honest client was answered all the same.
            eprintln!("{}: not judged in time", row.name);
            program.assert_unharmed();
            continue;
        }
        let body = &answer.body[..answer.body.len().min(1_000)];
        assert_eq!(answer.code, row.code, "{}: {body}", row.name);
        assert!(answer.body.contains(row.words), "{}: {body}", row.name);
        assert!(answer.body.len() < 1 << 20, "{}: the answer has {} bytes", row.name, answer.body.len());
        let said: Value = serde_json::from_str(&answer.body).unwrap_or_default();
        assert_eq!(said["response"]["allowed"].as_bool(), row.allowed, "{}: {body}", row.name);
        if row.allowed.is_some() {
            assert_eq!(said["response"]["uid"], "0000-1111", "{}", row.name);
        }
        program.assert_unharmed();
    }
    assert_eq!(objects(&program), before, "a forged review changed something");
}

/// An update of a set with so many variables of environment, which are short: what is parsed is 40 times as large as the text.
fn heavy(variables: usize) -> String {
    let mut heavy = set("heavy", "default");
    let variables = vec![json!({ "name": "" }); variables];
    heavy["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"] =
        json!([{ "name": "a", "image": "b", "env": variables }]);
    review("UPDATE", &heavy, &heavy).to_string()
}

/// Reviews of which one is judged at a time, from each address again and again; and the heaviest of all.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_heavy_reviews_fills_no_memory() {
    let mut program = Program::operator("operator-heavy").await;
    let port = program.port(Kind::Admission).clone();
    let attack = async |number, text: &str| {
        // One that is given up in the middle has no code.
        port.post_text(attacker(number), SET_VALIDATING.path, text).await.ok().map(|it| it.code)
    };
    // Without optimisation it is not judged in time.
    let heaviest = port.attacked("the heaviest review", attack(0, &heavy(65_000))).await;
    assert!(heaviest.is_none_or(|it| [200, 504].contains(&it)), "{heaviest:?}");
    let (text, codes) = (heavy(8_000), Mutex::new(BTreeSet::new()));
    let endless = async |number| -> Infallible {
        loop {
            let code = attack(number, &text).await;
            codes.lock().unwrap().extend(code);
        }
    };
    let has_begun = || !codes.lock().unwrap().is_empty();
    port.served_during("heavy reviews", join_all((0..8).map(endless)), has_begun).await;
    let codes = codes.into_inner().unwrap();
    assert!(codes.iter().all(|it| [200, 408, 504].contains(it)), "{codes:?}");
    program.assert_unharmed();
}
