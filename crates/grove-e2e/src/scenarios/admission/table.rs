//! The whole table of invalid and allowed manifests, as users send them.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use grove_api::review::{Review, review, review_update};
use kube::core::Status;

use super::{asked, keep_from_leading, let_lead, prepare, until_answered};
use crate::{
    operator::OperatorOptions,
    scenario::Context,
    scenarios::{
        api::{cel_messages, refusal, store_old_objects},
        table::{self, Refused, Row},
    },
};

/// The schedulers that the tables know, and domains of NVLink or none.
const ALL_ON: &str = "
scheduler: { profiles: [{ name: default-scheduler }, { name: kai-scheduler }, { name: volcano }] }
network: { autoMNNVLEnabled: true }
";
const MNNVL_OFF: &str = "
scheduler: { profiles: [{ name: default-scheduler }, { name: kai-scheduler }, { name: volcano }] }
";

/// Every row is refused by whom the table says, and where that is the webhook, in the words of `grove validate`; what is
/// allowed passes.
pub(super) async fn invalid_table(context: &mut Context) -> Result<()> {
    let rows: Vec<Row> = table::invalid().into_iter().chain(table::allowed()).collect();
    ensure!(rows.len() > 100, "only {} rows", rows.len());
    store_old_objects(context, &rows).await?;
    prepare(context).await?;
    keep_from_leading(context).await?;
    let result = send_all(context, &rows).await;
    let_lead(context).await?;
    result
}

async fn send_all(context: &mut Context, rows: &[Row]) -> Result<()> {
    // By what the cluster is like. On a cluster nothing is unknown, and this one has no Kueue.
    let mut groups: BTreeMap<(bool, bool), Vec<&Row>> = BTreeMap::new();
    for row in rows {
        let environment = row.environment();
        if !environment.kueue_topologies.is_empty() {
            continue;
        }
        if let (Some(topology_aware), Some(mnnvl)) = (environment.topology_aware, environment.mnnvl) {
            groups.entry((topology_aware, mnnvl)).or_default().push(row);
        }
    }
    let (mut wrong, mut by_webhook) = (Vec::new(), 0);
    for ((topology_aware, mnnvl), rows) in groups {
        let more = if mnnvl { ALL_ON } else { MNNVL_OFF };
        context.start_operator(OperatorOptions { topology_aware, more, ..asked() }).await?;
        until_answered(context).await?;
        for row in rows {
            let answer = refusal(context, row, row.object()).await.with_context(|| row.name.clone())?;
            by_webhook += usize::from(row.refused == Some(Refused::Admission));
            if let Err(error) = judge(row, answer.as_ref()) {
                wrong.push(format!("{}: {error}", row.name));
            }
        }
        context.end_operator().await?;
    }
    ensure!(by_webhook > 30, "only {by_webhook} rows are the webhook's");
    ensure!(wrong.is_empty(), "{} of {} rows differ:\n    {}", wrong.len(), rows.len(), wrong.join("\n    "));
    Ok(())
}

/// Whether a row was answered as it should be.
fn judge(row: &Row, answer: Option<&Status>) -> Result<()> {
    let Some(status) = answer else {
        // No webhook is asked about rules: what is wrong with one is said in its status.
        let is_said_later = row.refused == Some(Refused::Admission) && row.object()["kind"] == "GroupingRule";
        ensure!(row.refused.is_none() || is_said_later, "it was taken");
        return Ok(());
    };
    let messages = cel_messages();
    let causes: Vec<&str> =
        status.details.iter().flat_map(|it| &it.causes).map(|it| it.message.as_str()).collect();
    let denial = status.message.split_once("denied the request: ");
    let by_cel = |cause: &&str| messages.iter().any(|it| cause.contains(it.as_str()));
    let by = match denial {
        Some(_) => Refused::Admission,
        None if !causes.is_empty() && causes.iter().all(by_cel) => Refused::Cel,
        None => Refused::Schema,
    };
    ensure!(
        row.refused == Some(by),
        "the table says {:?}, the server {by:?}: {}",
        row.refused,
        status.message
    );
    if let Some((_, text)) = denial {
        let offline = offline(row);
        ensure!(
            text == offline,
            "the webhook says\n        {text}\n    and offline it is\n        {offline}"
        );
    }
    Ok(())
}

/// What is said without a cluster.
fn offline(row: &Row) -> String {
    let (object, environment) = (row.object(), row.environment());
    let review = match row.stored() {
        Some(old) => review_update(&object, &old, &environment),
        None => review(&object, &environment),
    };
    let Review::Checked(verdict) = review else { return "not checked".to_owned() };
    let texts: Vec<String> = verdict.errors.iter().map(ToString::to_string).collect();
    if texts.len() == 1 { texts.concat() } else { format!("[{}]", texts.join(", ")) }
}
