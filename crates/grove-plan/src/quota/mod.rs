//! Which gang of a namespace creates pods while a ResourceQuota is exhausted.
//!
//! Gangs that all create a part of their pods hold quota that none of them can use. So from the first refusal until no gang
//! of the namespace lacks pods, one gang creates at a time: the *head*, which is the first in `order` of those that lack
//! pods. Everybody else waits, except that a gang with running pods may always restore its minimum. Within the head the
//! minimum of every clique comes before pods above the minimum of one.
//!
//! * The head is refused, and a gang that lacks its minimum has gated pods above the minimum of a clique: it deletes those
//!   ([`Plan::trim`]). They may have been created before the quota was exhausted.
//! * The head is refused, and there are no such pods: the last gang in the order that holds gated pods without having its minimum deletes them
//!   ([`Plan::release`]), and the head tries again. One gang at a time, never a pod whose gate was removed.
//! * The head makes no progress for [`PATIENCE`] although nobody is left to release, and another gang waits: the head is
//!   *parked*. It gives back its own gated pods and the next gang has its turn. A parked gang comes back when a quota is
//!   raised, when quota was freed and its pause is over, or after a long pause; both pauses double each time, so that gangs
//!   which never fit take turns ever more rarely.
//!
//! Invariant: a gang that does not have its turn creates nothing, so no pod is deleted and created again within one turn.

mod room;

use std::collections::BTreeMap;

use k8s_openapi::jiff::{SignedDuration, Timestamp};

pub use self::room::{Change, Usage};

/// How long the head may make no progress while others wait.
pub const PATIENCE: SignedDuration = SignedDuration::from_mins(5);
/// First and longest time for which a parked gang ignores that quota was freed.
const FREED_PAUSE: (SignedDuration, SignedDuration) =
    (SignedDuration::from_mins(1), SignedDuration::from_hours(1));
/// First and longest time after which a parked gang is tried although nothing is known to have changed.
const PARKED_PAUSE: (SignedDuration, SignedDuration) =
    (SignedDuration::from_mins(10), SignedDuration::from_hours(6));
/// Quota that is freed so soon after a gang deleted its pods is no news.
const ECHO: SignedDuration = SignedDuration::from_secs(10);

/// A gang, and what it lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Name of the PodGang.
    pub name: String,
    /// Its UID.
    pub uid: String,
    /// When it was created.
    pub created: Timestamp,
    /// Name of the base gang that it waits for; none for a base gang.
    pub base: Option<String>,
    /// Whether it was complete once.
    pub initialized: bool,
    /// Whether the gate of one of its pods was removed.
    pub running: bool,
    /// Pods that its cliques lack to their minima.
    pub missing: u32,
    /// Pods that its cliques lack to their replicas, those among them.
    pub lacking: u32,
    /// Pods that are gated and on no node.
    pub gated: u32,
    /// Those among them that are above the minimum of their clique.
    pub surplus: u32,
    /// When a pod of it was last refused because a quota was exceeded, if that was the answer to its last create.
    pub refused_at: Option<Timestamp>,
}

/// What is remembered between two plans of a namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    head: Option<Head>,
    /// When a gang last deleted its pods.
    released_at: Option<Timestamp>,
    /// By UID of a gang.
    parked: BTreeMap<String, Parked>,
    /// When less of a quota was used than before, and no gang had just deleted its pods.
    freed_at: Option<Timestamp>,
    /// When a quota was raised or deleted.
    raised_at: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Head {
    uid: String,
    since: Timestamp,
    lacking: u32,
    /// When it last lacked fewer pods than before.
    progress_at: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Parked {
    at: Timestamp,
    times: u32,
    /// Whether it still is.
    active: bool,
}

impl Parked {
    fn pause(self, (first, longest): (SignedDuration, SignedDuration)) -> Timestamp {
        let factor = 2_i32.saturating_pow(self.times.saturating_sub(1));
        let pause = first.checked_mul(factor).unwrap_or(longest).min(longest);
        self.at.saturating_add(pause).unwrap_or(Timestamp::MAX)
    }

    fn is_over(self, ledger: &Ledger, now: Timestamp) -> bool {
        ledger.raised_at.is_some_and(|it| it >= self.at)
            || (ledger.freed_at.is_some_and(|it| it >= self.at) && now >= self.pause(FREED_PAUSE))
            || now >= self.pause(PARKED_PAUSE)
    }
}

/// How many of its pods a gang may create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Share {
    /// All that it lacks.
    All,
    /// The minimum of each clique, until all of them have it.
    MinimumFirst,
    /// The minimum of each clique, for this reason.
    Minimum(String),
    /// None, for this reason.
    Nothing(String),
}

impl Share {
    /// How many pods of a clique may exist, of those that are `allowed` without a quota.
    pub fn limit(&self, allowed: u32, minimum: u32) -> u32 {
        match self {
            Self::All => allowed,
            Self::MinimumFirst | Self::Minimum(_) => allowed.min(minimum),
            Self::Nothing(_) => 0,
        }
    }

    /// Why it may not create all that it lacks.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::All | Self::MinimumFirst => None,
            Self::Minimum(reason) | Self::Nothing(reason) => Some(reason),
        }
    }
}

/// What to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// By UID of a gang. Empty: no gang lacks pods, and all is as without a quota.
    pub shares: BTreeMap<String, Share>,
    /// UID of the gang whose turn it is.
    pub head: Option<String>,
    /// Whether it has its turn since just now: it tries at once.
    pub is_new_head: bool,
    /// UIDs of gangs that delete their gated pods.
    pub release: Vec<String>,
    /// UID of a gang that deletes its gated pods above the minimum of their clique.
    pub trim: Option<String>,
    /// When to look again, if nothing happens before.
    pub next: Option<Timestamp>,
    /// What to remember.
    pub ledger: Ledger,
}

/// Decides for a namespace in which a pod was refused because a quota was exceeded. `claims` are all of its gangs.
pub fn plan(ledger: &Ledger, claims: &[Claim], now: Timestamp) -> Plan {
    let claims = order(claims);
    let mut ledger = ledger.clone();
    ledger.parked.retain(|uid, _| claims.iter().any(|it| it.uid == *uid && it.lacking > 0));
    let over: Vec<String> = ledger
        .parked
        .iter()
        .filter(|(_, it)| it.active && it.is_over(&ledger, now))
        .map(|(uid, _)| uid.clone())
        .collect();
    for uid in &over {
        ledger.unpark(uid);
    }
    let mut release = Vec::new();
    let mut trim = None;
    let mut is_new_head = false;
    let head = loop {
        let candidates: Vec<&Claim> =
            claims.iter().copied().filter(|it| is_candidate(it, &claims, &ledger)).collect();
        let Some(head) = candidates.first().copied() else {
            // Nobody else wants it: whoever was parked need not wait.
            let Some(first) = claims.iter().find(|it| ledger.is_parked(&it.uid)) else { break None };
            ledger.unpark(&first.uid);
            if is_candidate(first, &claims, &ledger) {
                continue;
            }
            break None;
        };
        is_new_head |= ledger.lead(head, now);
        let is_refused = ledger.asks_for_release(head);
        if let Some(last) = claims.iter().rfind(|it| is_refused && is_lopsided(it)) {
            trim = Some(last.uid.clone());
            ledger.released_at = Some(now);
        } else if let Some(last) = holder_after(head, &claims).filter(|_| is_refused) {
            release.push(last.uid.clone());
            ledger.released_at = Some(now);
        } else if candidates.len() > 1 && ledger.is_stuck(now) && holder_after(head, &claims).is_none() {
            ledger.park(&head.uid, now);
            if is_holder(head) {
                release.push(head.uid.clone());
                ledger.released_at = Some(now);
            }
            continue;
        }
        break Some(head);
    };
    if head.is_none() {
        ledger.head = None;
    }
    let shares = claims.iter().map(|it| (it.uid.clone(), share(it, head, &claims, &ledger)));
    let any = claims.iter().any(|it| it.lacking > 0);
    Plan {
        shares: if any { shares.collect() } else { BTreeMap::new() },
        head: head.map(|it| it.uid.clone()),
        is_new_head,
        release,
        trim,
        next: ledger.next(now),
        ledger,
    }
}

/// Gangs that ran before and lack their minimum first, then by age. A scaled gang is never older than its base gang, and
/// comes after it unless it runs or the base gang has its minimum.
fn order(claims: &[Claim]) -> Vec<&Claim> {
    let age = |it: &Claim| {
        let base = it.base.as_ref().and_then(|base| claims.iter().find(|it| it.name == *base));
        base.map_or(it.created, |base| base.created.max(it.created))
    };
    let mut order: Vec<&Claim> = claims.iter().collect();
    let all = order.clone();
    let is_first = |it: &Claim| is_repair(it) && incomplete_base(it, &all).is_none();
    order.sort_by_key(|it| (!is_first(it), age(it), it.base.is_some(), &it.name, &it.uid));
    order
}

/// Whether a gang that ran before lacks its minimum.
fn is_repair(claim: &Claim) -> bool {
    claim.missing > 0 && (claim.initialized || claim.running)
}

/// Whether a gang holds pods that serve nobody.
fn is_holder(claim: &Claim) -> bool {
    !claim.running && claim.missing > 0 && claim.gated > 0
}

/// Whether pods above the minimum of one clique of a gang take quota that another clique needs for its minimum. They are
/// gated until the gang has its minimum.
fn is_lopsided(claim: &Claim) -> bool {
    claim.missing > 0 && claim.surplus > 0
}

fn is_candidate(claim: &Claim, claims: &[&Claim], ledger: &Ledger) -> bool {
    claim.lacking > 0 && !ledger.is_parked(&claim.uid) && incomplete_base(claim, claims).is_none()
}

/// The base gang of a gang that does not run, if it lacks its minimum.
fn incomplete_base<'a>(claim: &'a Claim, claims: &[&Claim]) -> Option<&'a str> {
    let base = claim.base.as_deref().filter(|_| !claim.running)?;
    claims.iter().any(|it| it.name == base && it.missing > 0).then_some(base)
}

/// The last gang after `head` that holds pods which serve nobody.
fn holder_after<'a>(head: &Claim, claims: &[&'a Claim]) -> Option<&'a Claim> {
    let after = claims.iter().rev().copied().take_while(|it| it.uid != head.uid);
    after.into_iter().find(|it| is_holder(it))
}

fn share(claim: &Claim, head: Option<&Claim>, claims: &[&Claim], ledger: &Ledger) -> Share {
    let has_turn = head.is_some_and(|it| it.uid == claim.uid);
    if has_turn && claim.missing > 0 {
        return Share::MinimumFirst;
    }
    if has_turn || claim.lacking == 0 {
        return Share::All;
    }
    let reason = match (incomplete_base(claim, claims), head) {
        (Some(base), _) => format!("waiting for quota: base gang {base} comes first"),
        (None, Some(head)) if !ledger.is_parked(&claim.uid) && is_repair(head) && !is_repair(claim) => {
            format!("waiting for quota: gang {} ran before and is restored first", head.name)
        }
        (None, Some(head)) if !ledger.is_parked(&claim.uid) => {
            format!("waiting for quota: gang {} is older", head.name)
        }
        _ => "waiting for quota: too little was free for the whole gang, it is tried again when the ResourceQuota \
              is raised or more of it is free"
            .to_owned(),
    };
    if claim.running { Share::Minimum(reason) } else { Share::Nothing(reason) }
}

impl Ledger {
    /// Takes note of a change of a ResourceQuota.
    pub fn note(&mut self, change: Change, now: Timestamp) {
        let is_echo = |at: Timestamp| now < at.saturating_add(ECHO).unwrap_or(Timestamp::MAX);
        match change {
            Change::Raised => self.raised_at = Some(now),
            Change::Freed if self.released_at.is_some_and(is_echo) => {}
            Change::Freed => self.freed_at = Some(now),
        }
    }

    fn is_parked(&self, uid: &str) -> bool {
        self.parked.get(uid).is_some_and(|it| it.active)
    }

    fn unpark(&mut self, uid: &str) {
        if let Some(parked) = self.parked.get_mut(uid) {
            parked.active = false;
        }
    }

    fn park(&mut self, uid: &str, now: Timestamp) {
        let times = self.parked.get(uid).map_or(0, |it| it.times).saturating_add(1);
        self.parked.insert(uid.to_owned(), Parked { at: now, times, active: true });
    }

    /// Gives a gang its turn. Whether it did not have it.
    fn lead(&mut self, claim: &Claim, now: Timestamp) -> bool {
        match &mut self.head {
            Some(head) if head.uid == claim.uid => {
                if claim.lacking < head.lacking {
                    head.progress_at = now;
                }
                head.lacking = claim.lacking;
                false
            }
            other => {
                // The refusal that everything began with counts; one from before another gang's turn says nothing now.
                let since = claim.refused_at.filter(|_| other.is_none()).unwrap_or(now);
                *other =
                    Some(Head { uid: claim.uid.clone(), since, lacking: claim.lacking, progress_at: now });
                true
            }
        }
    }

    /// Whether the head was refused since it has its turn, and since a gang deleted its pods for it.
    fn asks_for_release(&self, head: &Claim) -> bool {
        let since = self.head.as_ref().map(|it| it.since);
        head.refused_at.is_some_and(|at| Some(at) >= since && Some(at) > self.released_at)
    }

    fn is_stuck(&self, now: Timestamp) -> bool {
        self.head.as_ref().is_some_and(|it| now >= patience(it))
    }

    fn next(&self, now: Timestamp) -> Option<Timestamp> {
        let parked = self.parked.values().filter(|it| it.active);
        let freed = parked.clone().map(|it| it.pause(FREED_PAUSE));
        let later = parked.map(|it| it.pause(PARKED_PAUSE));
        let head = self.head.as_ref().map(patience);
        freed.chain(later).chain(head).filter(|it| *it > now).min()
    }
}

fn patience(head: &Head) -> Timestamp {
    head.progress_at.saturating_add(PATIENCE).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests;
