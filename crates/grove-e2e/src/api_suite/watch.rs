//! Watches: the events that must come, in their order.

use std::time::Duration;

use anyhow::{Context, Result};
use futures::{Stream, StreamExt};
use kube::Client;
use serde_json::Value;

use super::{
    client::{Answer, Request},
    matcher::mismatches,
};

/// What a watch must see, with its variables filled in.
pub(super) struct Watch {
    pub(super) request: Request,
    pub(super) during: Vec<Request>,
    pub(super) until: Vec<Value>,
    pub(super) skip: bool,
    pub(super) closes: bool,
}

/// What a watch saw.
pub(super) struct Seen {
    /// The body is the list of all events that came.
    pub(super) answer: Answer,
    /// What was not as expected.
    pub(super) problems: Vec<String>,
}

impl Watch {
    /// Opens the watch, does what is to be done meanwhile, and reads events that come within `patience`.
    pub(super) async fn run(&self, client: &Client, patience: Duration) -> Result<Seen> {
        let stream = match self.request.open(client).await? {
            Ok(stream) => stream,
            Err(answer) => return Ok(Seen { answer, problems: Vec::new() }),
        };
        let mut problems = Vec::new();
        for request in &self.during {
            let answer = request.send(client).await?;
            if answer.status >= 300 {
                problems.push(format!("{} {} got {}", request.method, request.path, answer.status));
            }
        }
        let mut events = Vec::new();
        match tokio::time::timeout(patience, self.read(stream, &mut events)).await {
            Ok(result) => problems.extend(result?),
            Err(_) => problems.push(format!("after {patience:?} this is all that came")),
        }
        Ok(Seen { answer: Answer { status: 200, headers: Vec::new(), body: Value::Array(events) }, problems })
    }

    async fn read(
        &self,
        stream: impl Stream<Item = std::io::Result<String>>,
        events: &mut Vec<Value>,
    ) -> Result<Option<String>> {
        let mut stream = std::pin::pin!(stream);
        let mut expected = self.until.iter();
        let mut next = expected.next();
        while next.is_some() || self.closes {
            let Some(line) = stream.next().await else {
                return Ok(next.map(|it| format!("the watch ended before {it} came")));
            };
            let line = line?;
            let event: Value = serde_json::from_str(&line).with_context(|| line.clone())?;
            events.push(event.clone());
            let wrong = next.map(|it| mismatches(it, Some(&event)));
            match wrong {
                Some(wrong) if wrong.is_empty() => next = expected.next(),
                _ if self.skip => {}
                Some(wrong) => return Ok(Some(format!("event {}: {}", events.len(), wrong.join("; ")))),
                None => return Ok(Some(format!("event {} should not have come", events.len()))),
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use futures::stream;
    use serde_json::json;

    use super::*;
    use crate::api_suite::{table, variables::Variables};

    fn watch(until: &[&str], skip: bool, closes: bool) -> Watch {
        let request: table::Request =
            serde_json::from_value(json!({ "method": "GET", "path": "/" })).unwrap();
        let request = Request::new(&request, &Variables::default()).unwrap();
        let until = until.iter().map(|name| json!({ "object": name })).collect();
        Watch { request, during: Vec::new(), until, skip, closes }
    }

    async fn problem(watch: Watch, names: &[&str]) -> Option<String> {
        let lines: Vec<_> = names.iter().map(|name| Ok(json!({ "object": name }).to_string())).collect();
        watch.read(stream::iter(lines), &mut Vec::new()).await.unwrap()
    }

    #[tokio::test]
    async fn events_come_in_order() {
        assert_eq!(problem(watch(&["a", "b"], false, false), &["a", "b", "c"]).await, None);
        let wrong = problem(watch(&["a", "b"], false, false), &["a", "c", "b"]).await.unwrap();
        assert!(wrong.contains("event 2") && wrong.contains("\"b\""), "{wrong}");
        assert_eq!(problem(watch(&["a", "b"], true, false), &["x", "a", "c", "b"]).await, None);
    }

    #[tokio::test]
    async fn an_early_end_is_a_problem() {
        let wrong = problem(watch(&["a", "b"], true, false), &["b", "a"]).await.unwrap();
        assert!(wrong.contains("ended before"), "{wrong}");
    }

    #[tokio::test]
    async fn a_watch_that_closes_sees_nothing_more() {
        assert_eq!(problem(watch(&["a"], false, true), &["a"]).await, None);
        assert_eq!(problem(watch(&[], false, true), &[]).await, None);
        assert!(problem(watch(&["a"], false, true), &["a", "b"]).await.unwrap().contains("should not"));
    }
}
