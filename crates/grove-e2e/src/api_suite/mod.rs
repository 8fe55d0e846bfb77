//! The API suite: one table of API interactions that every API server we run on must answer alike.
//!
//! `e2e/api-suite.yaml` says what is asked and what must come back; the expected answers are those of a real API
//! server. It needs nothing but a client, so that it can be run against any server that claims to be one.

mod client;
mod matcher;
mod row;
mod table;
mod variables;
mod watch;

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use grove_api::schema::CRDS;
use kube::Client;

use self::variables::Variables;
use crate::objects;

/// How long a row may wait for what others do. A namespace controller that finds something held by a finalizer looks
/// again only after 8 s, and the machine may also build.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long all rows that wait in vain may take together: a server that lacks much is told so in time.
const PATIENCE_IN_ALL: Duration = Duration::from_secs(150);

/// Installs our CRDs and runs every row of the table in `namespace`, which must be new: rows count on what earlier
/// rows did, and on nothing else being there. Fails with all rows whose answer is not as expected.
pub async fn run(client: Client, namespace: &str) -> Result<()> {
    let failed = failures(&client, namespace).await?;
    let lines: Vec<String> =
        failed.iter().map(|Failed { row, problem }| format!("  {row}\n    {problem}")).collect();
    ensure!(failed.is_empty(), "{} rows of e2e/api-suite.yaml fail:\n{}", failed.len(), lines.join("\n"));
    Ok(())
}

/// A row whose answer is not as expected: its name, and what is not.
struct Failed {
    row: String,
    problem: String,
}

async fn failures(client: &Client, namespace: &str) -> Result<Vec<Failed>> {
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
    let mut failed = Vec::new();
    let mut left = PATIENCE_IN_ALL;
    for row in &table.rows {
        let started = Instant::now();
        let running = row::run(client, row, &mut variables, PATIENCE.min(left));
        // A row that cannot be sent is one more row that fails; the others still have something to say.
        let problem = match tokio::time::timeout(2 * PATIENCE, running).await {
            Ok(result) => result.unwrap_or_else(|error| Some(format!("{error:#}"))),
            Err(_) => Some(format!("no answer after {:?}", 2 * PATIENCE)),
        };
        if let Some(problem) = problem {
            left = left.saturating_sub(started.elapsed());
            failed.push(Failed { row: row.name.clone(), problem });
        }
    }
    Ok(failed)
}
