//! The API suite: one table of API interactions that every API server we run on must answer alike.
//!
//! `e2e/api-suite.yaml` says what is asked and what must come back; the expected answers are those of a real API
//! server. It needs nothing but a client, so that it can be run against any server that claims to be one.

mod client;
mod known;
mod matcher;
mod row;
mod table;
mod variables;
mod watch;
mod whole;

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use grove_api::schema::CRDS;
use kube::Client;
use serde_json::Value;

use self::{
    known::Differing,
    variables::Variables,
    whole::{differences, normalised},
};
use crate::objects;

/// How long a row may wait for what others do. A namespace controller that finds something held by a finalizer looks
/// again only after 8 s, and the machine may also build.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long all rows that wait in vain may take together: a server that lacks much is told so in time.
const PATIENCE_IN_ALL: Duration = Duration::from_secs(150);

/// Installs our CRDs and runs every row of the table in `namespace`, which must be new: rows count on what earlier
/// rows did, and on nothing else being there. Fails with all rows whose answer is not as expected.
pub async fn run(client: Client, namespace: &str) -> Result<()> {
    as_expected(&play(&client, namespace).await?)
}

/// Runs the table on a real API server and on an embedded one. Both have to answer as expected, and alike, but for what
/// `e2e/api-differences.yaml` explains.
pub async fn compare(real: Client, embedded: Client, namespace: &str) -> Result<()> {
    let (real, embedded) = tokio::try_join!(play(&real, namespace), play(&embedded, namespace))?;
    as_expected(&real).context("on the real server")?;
    as_expected(&embedded).context("on the embedded server")?;
    let mut rows = Vec::new();
    for (real, ours) in real.into_iter().zip(embedded) {
        let differences = differences(&real.answer, &ours.answer);
        rows.push(Differing { row: real.row, differences });
    }
    let complaints = known::judge(known::TEXT, &rows)?;
    ensure!(complaints.is_empty(), "{} answers differ:\n  {}", complaints.len(), complaints.join("\n  "));
    Ok(())
}

fn as_expected(played: &[Played]) -> Result<()> {
    let failed = played.iter().filter_map(|it| Some(format!("  {}\n    {}", it.row, it.problem.as_ref()?)));
    let failed: Vec<String> = failed.collect();
    ensure!(failed.is_empty(), "{} rows of e2e/api-suite.yaml fail:\n{}", failed.len(), failed.join("\n"));
    Ok(())
}

/// A row that was played.
struct Played {
    row: String,
    /// What is not as expected.
    problem: Option<String>,
    /// The whole answer, without what is different each time.
    answer: Value,
}

async fn play(client: &Client, namespace: &str) -> Result<Vec<Played>> {
    for crd in &CRDS {
        objects::apply(client, crd.to_value(), None).await?;
    }
    objects::until_crds_established(client).await?;

    let table = table::parse(table::TEXT).context("e2e/api-suite.yaml")?;
    let mut variables = Variables::default();
    variables.set("namespace", namespace.into());
    for (name, value) in &table.variables {
        let value = variables.fill(value)?;
        variables.set(name, value);
    }
    let mut played = Vec::new();
    let mut left = PATIENCE_IN_ALL;
    for row in &table.rows {
        let started = Instant::now();
        let running = row::run(client, row, &mut variables, PATIENCE.min(left));
        // A row that cannot be sent is one more row that fails; the others still have something to say.
        let (problem, answer) = match tokio::time::timeout(2 * PATIENCE, running).await {
            Ok(Ok((problem, answer))) => (problem, normalised(&answer)),
            Ok(Err(error)) => (Some(format!("{error:#}")), Value::Null),
            Err(_) => (Some(format!("no answer after {:?}", 2 * PATIENCE)), Value::Null),
        };
        if problem.is_some() {
            left = left.saturating_sub(started.elapsed());
        }
        played.push(Played { row: row.name.clone(), problem, answer });
    }
    Ok(played)
}
