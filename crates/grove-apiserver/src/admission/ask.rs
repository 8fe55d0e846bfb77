//! Asks the webhooks about one write.

use std::sync::Arc;

use futures::future::join_all;
use serde_json::Value;

use super::attributes::Attributes;
use super::configuration::Webhook;
use super::review::{Answer, read, request, review};
use super::session::Verdict;
use crate::failure::{Cause, Details, Failure};
use crate::random::Random;
use crate::write::PatchBody;

/// Asks mutating webhooks one by one, each about what the ones before made of the object.
pub(super) async fn mutate(
    webhooks: &[Arc<Webhook>],
    write: &Attributes,
    user: &Value,
    warnings: &mut Vec<String>,
) -> Verdict {
    let mut write = write.clone();
    let mut changed_after: Vec<bool> = vec![false; webhooks.len()];
    for (at, webhook) in webhooks.iter().enumerate() {
        match step(webhook, &mut write, user, warnings).await {
            Ok(true) => changed_after.iter_mut().take(at).for_each(|it| *it = true),
            Ok(false) => {}
            Err(failure) => return Verdict::Denied(failure),
        }
    }
    // Those that want to see what others changed after them are asked once more.
    for (webhook, _) in webhooks.iter().zip(changed_after).filter(|(it, changed)| *changed && it.reinvoked) {
        if let Err(failure) = step(webhook, &mut write, user, warnings).await {
            return Verdict::Denied(failure);
        }
    }
    Verdict::Allowed(write.object)
}

/// Asks one mutating webhook. Whether it changed the object.
async fn step(
    webhook: &Webhook,
    write: &mut Attributes,
    user: &Value,
    warnings: &mut Vec<String>,
) -> Result<bool, Failure> {
    let Some(answer) = ask(webhook, write, user).await? else { return Ok(false) };
    warnings.extend(answer.warnings);
    if let Some(refusal) = answer.refusal {
        return Err(refusal);
    }
    let Some(patch) = answer.patch else { return Ok(false) };
    let mut object =
        PatchBody::Json(patch).apply(&write.object, None).map_err(|it| failed(&webhook.name, &it.message))?;
    if let Some(served) = &write.resource.served {
        served.schema().normalise(&mut object);
    }
    let changed = object != write.object;
    write.object = object;
    Ok(changed)
}

/// Asks all validating webhooks at once. The first in order that refuses is heard.
pub(super) async fn validate(
    webhooks: &[Arc<Webhook>],
    write: &Attributes,
    user: &Value,
    warnings: &mut Vec<String>,
) -> Verdict {
    let answers = join_all(webhooks.iter().map(|it| ask(it, write, user))).await;
    let mut verdict = Verdict::Allowed(write.object.clone());
    for answer in answers.into_iter().rev() {
        match answer {
            Ok(None) => {}
            Ok(Some(answer)) => {
                warnings.extend(answer.warnings);
                if let Some(refusal) = answer.refusal {
                    verdict = Verdict::Denied(refusal);
                }
            }
            Err(failure) => verdict = Verdict::Denied(failure),
        }
    }
    verdict
}

/// Asks one webhook. None if it has nothing to say: its conditions do not hold, or its call failed and that is ignored.
async fn ask(webhook: &Webhook, write: &Attributes, user: &Value) -> Result<Option<Answer>, Failure> {
    let uid = uid();
    let request = request(&uid, write, user);
    match webhook.conditions.hold(&request) {
        Ok(true) => {}
        Ok(false) => return Ok(None),
        Err(_) if webhook.ignores_failure => return Ok(None),
        Err(why) => return Err(failed(&webhook.name, &format!("match conditions: {why}"))),
    }
    if write.dry_run && webhook.has_side_effects {
        let message = format!("admission webhook {:?} does not support dry run", webhook.name);
        return Err(Failure::bad_request(message));
    }
    let call = async {
        let client = webhook.client.as_ref().map_err(Clone::clone)?;
        let answer = client.call(&review(&request)).await?;
        read(&webhook.name, &uid, &answer)
    };
    let result = match tokio::time::timeout(webhook.timeout, call).await {
        Ok(result) => result,
        Err(_) => Err("failed to call webhook: context deadline exceeded".to_owned()),
    };
    match result {
        Ok(answer) => Ok(Some(answer)),
        Err(_) if webhook.ignores_failure => Ok(None),
        Err(why) => Err(failed(&webhook.name, &why)),
    }
}

/// A webhook could not be asked.
fn failed(name: &str, why: &str) -> Failure {
    let what = format!("failed calling webhook {name:?}: {why}");
    let mut failure = Failure::internal(format!("Internal error occurred: {what}"));
    let cause = Cause { reason: String::new(), message: what, field: String::new() };
    failure.details = Some(Box::new(Details { causes: vec![cause], ..Details::default() }));
    failure
}

/// The name of one question. It is no part of any object, so it need not be the same in every run.
fn uid() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};

    static COUNT: AtomicU64 = AtomicU64::new(0);
    Random::new(COUNT.fetch_add(1, Ordering::Relaxed)).uid()
}
