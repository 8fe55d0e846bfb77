//! The honest client: what it asks of each port, and that it is answered while an attack lasts.

use std::{io, net::Ipv4Addr};

use grove_api::constants::webhooks::SET_VALIDATING;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::{
    client::{Answer, Kind, Port, exchange, head},
    program::{PATIENCE, set},
};

/// Bytes above which reviews have to take turns.
const LARGE: usize = 300 << 10;
/// Answers to an honest client, during an attack without an end.
const ANSWERS: usize = 2;

impl Port {
    /// Asks as an honest client does, over a new connection.
    pub(crate) async fn ask(&self, from: Ipv4Addr) -> io::Result<()> {
        match self.kind {
            Kind::Admission => {
                self.ask_admission(from, 0).await?;
                self.ask_admission(from, LARGE).await
            }
            Kind::Health => self.expect(from, "/readyz", 200, "ok").await,
            Kind::Metrics => self.expect(from, "/metrics", 200, "# EOF").await,
            // Whatever is no profile is answered at once.
            Kind::Profiles => {
                self.expect(from, "/debug/pprof/profile?seconds=0", 400, "must be a whole number").await
            }
        }
    }

    /// Likewise, up to three times: on a machine that is busy with something else, a handshake may take longer than the five seconds
    /// that the operator gives to it.
    async fn ask_again(&self, from: Ipv4Addr) -> io::Result<()> {
        for _ in 0..2 {
            if self.ask(from).await.is_ok() {
                return Ok(());
            }
        }
        self.ask(from).await
    }

    async fn expect(&self, from: Ipv4Addr, path: &str, code: u16, words: &str) -> io::Result<()> {
        let mut stream = self.connect(from).await?;
        let answer = exchange(&mut *stream, head("GET", path, "Accept: */*").as_bytes()).await?;
        let is_expected = answer.code == code && answer.body.contains(words);
        if is_expected { Ok(()) } else { Err(io::Error::other(format!("{answer:?}"))) }
    }

    /// A review of a set with an annotation of so many bytes.
    async fn ask_admission(&self, from: Ipv4Addr, bytes: usize) -> io::Result<()> {
        let mut set = set("honest", "default");
        set["metadata"]["annotations"] = json!({ "example.com/notes": "n".repeat(bytes) });
        let answer = self.post(from, SET_VALIDATING.path, &review("CREATE", &set, &Value::Null)).await?;
        let said: Value = serde_json::from_str(&answer.body).unwrap_or_default();
        // Annotations of more than 256 KiB are refused, in a review.
        let is_expected =
            said["response"]["uid"] == "0000-1111" && (bytes > 0 || said["response"]["allowed"] == true);
        if is_expected { Ok(()) } else { Err(io::Error::other(format!("{answer:?}"))) }
    }

    /// Posts a body to a webhook over a new connection.
    pub(crate) async fn post(&self, from: Ipv4Addr, path: &str, body: &Value) -> io::Result<Answer> {
        self.post_text(from, path, &body.to_string()).await
    }

    /// Likewise any text.
    pub(crate) async fn post_text(&self, from: Ipv4Addr, path: &str, body: &str) -> io::Result<Answer> {
        let mut stream = self.connect(from).await?;
        let more = format!("Content-Type: application/json\r\nContent-Length: {}", body.len());
        exchange(&mut *stream, (head("POST", path, &more) + body).as_bytes()).await
    }

    /// Carries out an attack; an honest client asks all the while, at least once, and once more after it.
    pub(crate) async fn attacked<T>(&self, what: &str, attack: impl Future<Output = T>) -> T {
        let kind = self.kind;
        let honest = async || {
            let asking = timeout(PATIENCE, self.ask_again(Ipv4Addr::LOCALHOST)).await;
            let asked =
                asking.unwrap_or_else(|_| panic!("{kind:?}, {what}: the honest client has no answer"));
            asked.unwrap_or_else(|error| panic!("{kind:?}, {what}: the honest client is told {error}"));
        };
        let mut attack = std::pin::pin!(attack);
        let mut result = None;
        while result.is_none() {
            let asking = honest();
            let mut asking = std::pin::pin!(asking);
            tokio::select! {
                biased;
                () = &mut asking => {}
                it = &mut attack => {
                    asking.await;
                    result = Some(it);
                }
            }
        }
        honest().await;
        result.unwrap()
    }

    /// An honest client is answered several times while an attack goes on that does not end. Each time it asks until it is answered:
    /// under an attack that starves it, it never is.
    pub(crate) async fn served_during<T>(
        &self,
        what: &str,
        attack: impl Future<Output = T>,
        has_begun: impl Fn() -> bool,
    ) {
        let honest = async {
            let mut answers = 0;
            while answers < ANSWERS {
                let counts = has_begun();
                answers += usize::from(self.ask(Ipv4Addr::LOCALHOST).await.is_ok() && counts);
            }
        };
        tokio::select! {
            _ = attack => panic!("{what}: the attack ended"),
            answered = timeout(PATIENCE * 2, honest) => {
                assert!(answered.is_ok(), "{:?}, {what}: the honest client is not answered", self.kind);
            }
        }
    }
}

/// An AdmissionReview as an API server sends it.
pub(crate) fn review(operation: &str, object: &Value, old: &Value) -> Value {
    let subject = if object.is_null() { old } else { object };
    let (group, version) =
        subject["apiVersion"].as_str().unwrap_or_default().split_once('/').unwrap_or_default();
    json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "0000-1111",
            "kind": { "group": group, "version": version, "kind": subject["kind"] },
            "name": subject["metadata"]["name"],
            "namespace": subject["metadata"]["namespace"].as_str().unwrap_or_default(),
            "operation": operation,
            "userInfo": { "username": "alice" },
            "object": object,
            "oldObject": old,
        },
    })
}
