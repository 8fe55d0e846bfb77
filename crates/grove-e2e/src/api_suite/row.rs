//! Runs one row of the table.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use kube::Client;
use serde_json::Value;

use super::{
    client::{Answer, Request},
    matcher::{fits, mismatches},
    table::{self, Row},
    variables::Variables,
    watch::{Seen, Watch},
};

/// Pause between two questions of a row with `eventually`.
const PAUSE: Duration = Duration::from_millis(50);

/// Characters of an answer that a report shows.
const SHOWN: usize = 2000;

/// Sends the request of `row`, saves what it asks to save, and tells what is not as expected and the whole answer. What has to happen
/// by itself must happen within `patience`.
pub(super) async fn run(
    client: &Client,
    row: &Row,
    variables: &mut Variables,
    patience: Duration,
) -> Result<(Option<String>, Answer)> {
    let request = Request::new(&row.request, variables)?;
    let expected = Expected::new(&row.answer, variables)?;
    let title = format!("{} {}", request.method, request.path);
    let (answer, problems) = if let Some(watch) = &row.watch {
        let Seen { answer, mut problems } = fill(watch, request, variables)?.run(client, patience).await?;
        problems.extend(expected.problems(&answer));
        (answer, problems)
    } else {
        let patience = if row.eventually { patience } else { Duration::ZERO };
        ask(client, &request, &expected, patience).await?
    };
    for (name, pointer) in &row.save {
        if let Some(value) = answer.body.pointer(pointer) {
            variables.set(name, value.clone());
        }
    }
    if problems.is_empty() {
        return Ok((None, answer));
    }
    let body: String = answer.body.to_string().chars().take(SHOWN).collect();
    let problem = format!("{title}\n    {}\n    answer: {} {body}", problems.join("\n    "), answer.status);
    Ok((Some(problem), answer))
}

async fn ask(
    client: &Client,
    request: &Request,
    expected: &Expected,
    patience: Duration,
) -> Result<(Answer, Vec<String>)> {
    let started = Instant::now();
    loop {
        let answer = request.send(client).await?;
        let problems = expected.problems(&answer);
        if problems.is_empty() || started.elapsed() >= patience {
            return Ok((answer, problems));
        }
        tokio::time::sleep(PAUSE).await;
    }
}

fn fill(watch: &table::Watch, mut request: Request, variables: &Variables) -> Result<Watch> {
    let separator = if request.path.contains('?') { '&' } else { '?' };
    request.path = format!("{}{separator}watch=true", request.path);
    let during = watch.during.iter().map(|it| Request::new(it, variables)).collect::<Result<_>>()?;
    let until = watch.until.iter().map(|it| variables.fill(it)).collect::<Result<_>>()?;
    Ok(Watch { request, during, until, skip: watch.skip, closes: watch.closes })
}

/// The answer of a row, with its variables filled in.
struct Expected {
    status: u16,
    headers: Vec<(String, Value)>,
    body: Option<Value>,
}

impl Expected {
    fn new(row: &table::Answer, variables: &Variables) -> Result<Self> {
        let headers = row.headers.iter().map(|(name, it)| Ok((name.clone(), variables.fill(it)?)));
        let body = row.body.as_ref().map(|it| variables.fill(it)).transpose().context("answer")?;
        Ok(Self { status: row.status, headers: headers.collect::<Result<_>>()?, body })
    }

    fn problems(&self, answer: &Answer) -> Vec<String> {
        let mut out = Vec::new();
        if answer.status != self.status {
            out.push(format!("status: expected {}, got {}", self.status, answer.status));
        }
        for (name, pattern) in &self.headers {
            let values: Vec<&str> = answer
                .headers
                .iter()
                .filter(|it| it.0.eq_ignore_ascii_case(name))
                .map(|it| it.1.as_str())
                .collect();
            let fit = match values.as_slice() {
                [] => mismatches(pattern, None).is_empty(),
                values => values.iter().any(|it| fits(pattern, &Value::from(*it))),
            };
            if !fit {
                out.push(format!("header {name}: expected {pattern}, got {values:?}"));
            }
        }
        if let Some(pattern) = &self.body {
            out.extend(mismatches(pattern, Some(&answer.body)));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn problems(expected: Value) -> Vec<String> {
        let row: table::Answer = serde_json::from_value(expected).unwrap();
        let headers = [("warning", "299 - \"a\""), ("warning", "299 - \"b\"")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let answer = Answer { status: 200, headers, body: json!({ "kind": "ConfigMap" }) };
        Expected::new(&row, &Variables::default()).unwrap().problems(&answer)
    }

    #[test]
    fn status_headers_and_body_are_compared() {
        let right = json!({ "status": 200, "headers": { "Warning": { "$text": "\"b\"" }, "etag": "$absent" }, "body": { "kind": "ConfigMap" } });
        assert!(problems(right).is_empty());
        let wrong = json!({ "status": 201, "headers": { "Warning": "$absent", "etag": "$any" }, "body": { "kind": "Pod" } });
        assert_eq!(problems(wrong).len(), 4);
    }
}
