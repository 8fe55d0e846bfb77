//! What is to be done about the certificates: a decision over what is there, and nothing else.

use std::time::Duration;

use k8s_openapi::jiff::{Span as Time, Timestamp};

use super::{
    Lifetimes,
    facts::{Facts, Span},
    names::Names,
};

/// Names of others that are kept when ours are added: several operators with addresses of their own share a Secret.
const MOST_NAMES: usize = 32;
/// API servers learn of a changed webhook configuration by their watches, well within this time.
const PUBLISHING: Duration = Duration::from_mins(1);
/// Certificates count whole seconds: one was made up to a second later than it says.
const ROUNDING: Duration = Duration::from_secs(1);

/// What is known when a decision is made.
#[derive(Clone, Debug)]
pub(super) struct Situation<'a> {
    /// What the Secret holds, or why that cannot be used.
    pub(super) stored: Result<Facts, String>,
    /// Whether the Secret exists at all.
    pub(super) exists: bool,
    /// What we serve, if anything.
    pub(super) held: Option<&'a Facts>,
    /// Since when every webhook configuration that there is trusts all authorities of the Secret, as far as we saw.
    pub(super) published: Option<Timestamp>,
    pub(super) now: Timestamp,
    pub(super) names: &'a Names,
    pub(super) lifetimes: Lifetimes,
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing before this moment.
    Keep(Timestamp),
    /// Write what we serve: somebody has emptied or spoilt the Secret.
    Restore(String),
    /// Make everything anew.
    Replace(String),
    /// Trust a new authority besides the old one.
    AddAuthority,
    /// Make a certificate for these names, signed by the newest authority.
    IssueLeaf(Names, String),
    /// The old authorities are not needed any longer.
    DropOldAuthorities,
}

/// Decides on the next step.
pub(super) fn decide(situation: &Situation<'_>) -> Step {
    let now = situation.now;
    let flaw = match &situation.stored {
        Err(flaw) => flaw.clone(),
        Ok(facts) => match usable(facts, now) {
            Ok(newest) => return improve(situation, facts, newest),
            Err(flaw) => flaw,
        },
    };
    // One who deletes the Secret wants new certificates; one who empties it has a pipeline that does not know better.
    let held = situation.held.is_some_and(|it| usable(it, now).is_ok() && it.leaf.holds(now));
    if situation.exists && held { Step::Restore(flaw) } else { Step::Replace(flaw) }
}

/// The newest authority, with which a leaf can be signed.
fn usable(facts: &Facts, now: Timestamp) -> Result<Span, String> {
    let newest = *facts.authorities.first().ok_or("there is no authority")?;
    if newest.holds(now) {
        Ok(newest)
    } else {
        Err("the authority has run out, or is not valid yet".to_owned())
    }
}

fn improve(situation: &Situation<'_>, facts: &Facts, newest: Span) -> Step {
    let (now, names, lifetimes) = (situation.now, situation.names, situation.lifetimes);
    let overlap = lifetimes.overlap();
    let after = |moment: Timestamp, time: Duration| moment.saturating_add(seconds(time)).unwrap_or(moment);
    let signed_by_old = facts.issuer > 0;
    let issuer_holds = facts.authorities.get(facts.issuer).is_some_and(|it| it.holds(now));
    if !facts.leaf.holds(now) || !issuer_holds {
        return Step::IssueLeaf(names.clone(), "it has run out, or is not valid yet".to_owned());
    }
    if signed_by_old {
        // Everybody trusts the new authority first: also where it was published long after it was made.
        let published = situation.published.map(|since| after(since, overlap.min(PUBLISHING)));
        let ready = after(newest.made(), overlap).max(published.unwrap_or(now));
        if published.is_some() && ready <= now {
            return Step::IssueLeaf(names.clone(), "there is a new authority".to_owned());
        }
        return Step::Keep(ready);
    }
    if let Some(name) = names.missing_in(&facts.names) {
        let all = names.and(&facts.names);
        let names = if all.len() > MOST_NAMES { names.clone() } else { all };
        return Step::IssueLeaf(names, format!("it is not for {name}"));
    }
    if facts.leaf.due() <= now {
        return Step::IssueLeaf(names.clone(), "two thirds of its life are over".to_owned());
    }
    let mut next = vec![facts.leaf.due()];
    if facts.authorities.len() > 1 {
        // Other replicas and open connections have long gone over to the new leaf.
        let done = after(facts.leaf.made(), overlap + ROUNDING);
        if done <= now {
            return Step::DropOldAuthorities;
        }
        next.push(done);
    } else if newest.due() <= now {
        return Step::AddAuthority;
    } else {
        next.push(newest.due());
    }
    Step::Keep(next.into_iter().min().unwrap_or(now))
}

fn seconds(duration: Duration) -> Time {
    Time::new().milliseconds(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX / 2))
}
