//! Our rules for pod templates held against those of the API server: every row about pods is sent as a plain Pod.

use anyhow::{Context as _, Result, ensure};
use grove_api::review::{Review, review};
use http::Request;
use kube::core::Status;
use serde_json::{Value, json};

use super::table::{self, Refused, Row};
use crate::scenario::Context;

/// Where the template is in a set.
const TEMPLATE: &str = "spec.template.cliques[0].spec.podSpec";

/// What we refuse the server refuses at the same field, and what we allow it takes.
pub(super) async fn hold(context: &mut Context) -> Result<()> {
    let is_ours = |row: &Row| row.name.starts_with("pod-") && row.old().is_none();
    // What the schema of the CRD refuses may be more than what is refused of a Pod.
    let refused = table::invalid().into_iter().filter(|it| it.refused == Some(Refused::Admission));
    let rows: Vec<Row> = refused.chain(table::allowed()).filter(is_ours).collect();
    ensure!(rows.len() > 50, "only {} rows", rows.len());
    let mut wrong = Vec::new();
    for row in &rows {
        let answer = send(context, row).await.with_context(|| row.name.clone())?;
        if let Some(difference) = difference(row, answer.as_ref()) {
            wrong.push(format!("{}: {difference}", row.name));
        }
    }
    ensure!(wrong.is_empty(), "{} of {} rows differ:\n    {}", wrong.len(), rows.len(), wrong.join("\n    "));
    Ok(())
}

/// Sends the template of a row as a Pod, as a dry run: `None` if it is taken.
async fn send(context: &Context, row: &Row) -> Result<Option<Status>> {
    let set = row.sent().unwrap_or_else(|| row.object());
    let spec = set.pointer("/spec/template/cliques/0/spec/podSpec").cloned().unwrap_or(Value::Null);
    let pod =
        json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "generateName": "row-" }, "spec": spec });
    let request = Request::post(format!("/api/v1/namespaces/{}/pods?dryRun=All", context.namespace))
        .header("Content-Type", "application/json")
        .body(serde_json::to_vec(&pod)?)?;
    match context.client().request::<Value>(request).await {
        Ok(_) => Ok(None),
        Err(kube::Error::Api(status)) if (400..500).contains(&status.code) => Ok(Some(*status)),
        Err(error) => Err(error.into()),
    }
}

fn difference(row: &Row, answer: Option<&Status>) -> Option<String> {
    let Review::Checked(ours) = review(&row.object(), &row.environment()) else {
        return Some("not checked".to_owned());
    };
    let Some(status) = answer else {
        return (!ours.errors.is_empty()).then(|| format!("the server takes it; we say {:?}", ours.errors));
    };
    if ours.errors.is_empty() {
        return Some(format!("we take it; the server says {}", status.message));
    }
    // What a plugin of the server refuses has no fields.
    if status.code != 422 {
        return None;
    }
    let fields: Vec<&str> =
        status.details.iter().flat_map(|it| &it.causes).map(|it| it.field.as_str()).collect();
    let paths = ours.errors.iter().map(|it| it.path.to_string().replacen(TEMPLATE, "spec", 1));
    // The server leaves indices and keys of some lists out.
    let bare = |path: &str| path.split('[').next().unwrap_or_default().to_owned();
    let is_named = |path: &String| {
        fields
            .iter()
            .any(|it| path.starts_with(it) || it.starts_with(path.as_str()) || bare(path) == bare(it))
    };
    let missing: Vec<String> = paths.filter(|it| !is_named(it)).collect();
    (!missing.is_empty()).then(|| format!("we name {missing:?}, the server {fields:?}"))
}
