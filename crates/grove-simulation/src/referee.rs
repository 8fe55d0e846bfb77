//! Follows every change and every write, at the moment it happens, and holds the rules against it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use grove_api::constants::restarts;
use grove_apiserver::{Event, Object, WriteRecord};
use parking_lot::Mutex;
use tokio::{sync::Notify, time::Instant};

use crate::{
    clock,
    cluster::{CLIQUES, Cluster, GANGS, GROUPS, PODS, SETS, TENANT, number, text},
    connection::{Lines, Sent},
    past::{Past, is_gated},
    rules::{
        Broken, Rule, backends, budget, gates, generation, idle, indices, lacking, nodes, policy, restart,
        tenant, update,
    },
};

/// The referee. Clones are the same one.
#[derive(Clone)]
pub(crate) struct Referee {
    cluster: Cluster,
    lines: Arc<Lines>,
    state: Arc<Mutex<State>>,
    /// A rule was broken.
    pub(crate) whistle: Arc<Notify>,
}

struct State {
    past: Past,
    /// All events up to here are known.
    revision: u64,
    /// All writes up to here are known.
    writes: u64,
    /// When the operator was started that runs now.
    started: Instant,
    /// When each operator was started, by its number.
    starts: BTreeMap<u32, Instant>,
    /// UIDs of what a tenant made in its namespace.
    forged: BTreeSet<String>,
    /// When the last one died, and the longest time without any.
    died: Option<Instant>,
    absence: Duration,
    broken: Option<Broken>,
    /// What happened, in words, if anybody wants to know.
    story: Option<Vec<String>>,
    /// A number that stands for everything that happened.
    digest: u64,
}

impl Referee {
    pub(crate) fn new(cluster: Cluster, lines: Arc<Lines>, past: Past, tells: bool) -> Self {
        let store = cluster.server.store();
        let state = State {
            past,
            revision: store.revision(),
            writes: store.write_count(),
            started: Instant::now(),
            starts: BTreeMap::new(),
            forged: BTreeSet::new(),
            died: None,
            absence: Duration::ZERO,
            broken: None,
            story: tells.then(Vec::new),
            digest: 0,
        };
        Self { cluster, lines, state: Arc::new(Mutex::new(state)), whistle: Arc::default() }
    }

    /// Follows, for ever. Also writes that change nothing are looked at when they are made: later they would seem to be late.
    pub(crate) async fn run(self) {
        loop {
            self.look();
            let revision = self.state.lock().revision;
            tokio::select! {
                biased;
                () = self.cluster.server.store().changed_since(revision) => {}
                () = self.lines.written.notified() => {}
            }
        }
    }

    /// A new operator begins, by its number.
    pub(crate) fn operator_started(&self, process: u32) {
        let mut state = self.state.lock();
        state.started = Instant::now();
        state.starts.insert(process, Instant::now());
        let absence = state.died.take().map(|it| it.elapsed()).unwrap_or_default();
        state.absence = state.absence.max(absence);
    }

    /// The operator is dead.
    pub(crate) fn operator_died(&self) {
        self.state.lock().died.get_or_insert_with(Instant::now);
    }

    /// Adds a line to the story.
    pub(crate) fn tell(&self, words: impl FnOnce() -> String) {
        if let Some(story) = &mut self.state.lock().story {
            story.push(format!("{:>9.3} {}", clock::elapsed().as_secs_f64(), words()));
        }
    }

    /// The rule that was broken, if any.
    pub(crate) fn broken(&self) -> Option<Broken> {
        self.state.lock().broken.clone()
    }

    /// The story, and the number that stands for it.
    pub(crate) fn end(&self) -> (Vec<String>, u64) {
        let mut state = self.state.lock();
        (state.story.take().unwrap_or_default(), state.digest)
    }

    /// Looks whether something is overdue.
    pub(crate) fn overdue(&self) {
        let mut state = self.state.lock();
        if state.died.is_none() {
            let verdict = lacking::nothing_for_long(&state.past, state.started);
            self.judge(&mut state, verdict);
        }
    }

    /// Looks at what happened since the last time.
    pub(crate) fn look(&self) {
        let store = self.cluster.server.store();
        let mut state = self.state.lock();
        let records = store.writes_since(state.writes);
        // Nothing is forgotten without us: `compact` comes from a step, which looks first.
        let events = match store.events_since(state.revision) {
            Ok(events) => events,
            Err(expired) => {
                self.judge(&mut state, Err(Rule::History.broken(format!("events were missed: {expired}"))));
                Vec::new()
            }
        };
        let missed = (store.write_count() - state.writes).saturating_sub(records.len() as u64);
        if missed > 0 {
            self.judge(&mut state, Err(Rule::History.broken(format!("{missed} writes were missed"))));
            state.writes += missed;
        }
        let mut events = events.iter();
        for record in records {
            state.writes += 1;
            let sent = self.lines.sent(state.writes);
            let Some(last) = record.revision else {
                self.no_effect(&mut state, &record, sent);
                continue;
            };
            while state.revision < last {
                let Some(event) = events.next() else { break };
                state.revision = event.revision;
                self.event(&mut state, event, &record, sent);
            }
        }
        state.revision = store.revision();
        state.past.forget();
    }

    /// The cluster jumped back: no operator is judged for that, and the past learns it. All before it has been looked at.
    pub(crate) fn jump(&self, jumps: &[Event]) {
        let mut state = self.state.lock();
        state.revision = self.cluster.server.store().revision();
        for event in jumps {
            state.note(event);
            state.tell(|| format!("JUMP {} {}", event.key.resource, event.key.name));
            state.past.jump(event);
        }
        self.lines.written.notify_one();
    }

    fn no_effect(&self, state: &mut State, record: &WriteRecord, sent: Option<Sent>) {
        state.tell(|| told(record, "nothing changed"));
        // Deletions name no manager: who writes over its connection is the operator.
        if let Some(sent) = sent {
            let started = state.starts.get(&sent.process).copied().unwrap_or(state.started);
            let verdict = idle::no_effect(&state.past, record, started);
            self.judge(state, verdict);
        }
    }

    fn event(&self, state: &mut State, event: &Event, record: &WriteRecord, sent: Option<Sent>) {
        state.note(event);
        state.tell(|| format!("{} {}", told(record, ""), event_words(event, record)));
        let is_operator = sent.is_some();
        state.past.writer = sent.map(|it| it.process).unwrap_or_default();
        let object = event.new.as_ref().or(event.old.as_ref());
        let Some(uid) = object.map(|it| it.uid().to_owned()) else { return };
        if event.key.namespace == TENANT {
            self.tenant_event(state, event, uid, is_operator);
            return;
        }
        let went = event.old.as_ref().is_some_and(|it| !it.is_terminating())
            && event.new.as_ref().is_none_or(|it| it.is_terminating());
        let (resource, name) = (&*event.key.resource, event.key.name.as_str());
        if is_operator && went {
            let verdict = match resource {
                PODS => budget::pod_deleted(&state.past, &uid),
                CLIQUES => budget::clique_deleted(&state.past, &uid),
                GANGS => budget::whole_deleted(&state.past, name, |it| it.gang == name),
                GROUPS => budget::whole_deleted(&state.past, name, |it| {
                    it.group.as_ref().is_some_and(|(group, _)| group == name)
                }),
                _ => Ok(()),
            };
            self.judge(state, verdict);
        }
        if let (true, PODS, Some(old), None) = (is_operator, resource, &event.old, &event.new) {
            let verdict = nodes::pod_removed(&state.past, old);
            self.judge(state, verdict);
        }
        if let (true, CLIQUES | GROUPS, Some(old), Some(new)) =
            (is_operator, resource, &event.old, &event.new)
        {
            let verdict = budget::resized(old, new);
            self.judge(state, verdict);
        }
        if let (true, CLIQUES, Some(new)) = (is_operator, resource, &event.new) {
            let noted = restarted(new);
            if !noted.is_empty() && event.old.as_ref().is_none_or(|it| restarted(it) != noted) {
                let note = restart::Note { before: noted, scope: text(new, "/status/restart/scope") };
                let verdict = if text(new, "/status/restart/reason") == restarts::RESTART_POLICY {
                    let count = number(new, "/status/restarts/count").unwrap_or_default();
                    policy::noted(&state.past, &uid, &note, count, text(new, "/status/restarts/windowStart"))
                } else {
                    restart::noted(&state.past, &uid, &note, state.absence)
                };
                self.judge(state, verdict);
            }
        }
        if let (true, CLIQUES | GROUPS | SETS, Some(new)) = (is_operator, resource, &event.new) {
            let verdict = generation::observed(&state.past, &event.key, event.old.as_deref(), new);
            self.judge(state, verdict);
        }
        if let (true, SETS, Some(old), Some(new)) = (is_operator, resource, &event.old, &event.new)
            && update::is_over(new)
            && !update::is_over(old)
        {
            let verdict = update::ended(&state.past, new);
            self.judge(state, verdict);
        }
        if let (true, SETS, Some(old), Some(new)) = (is_operator, resource, &event.old, &event.new)
            && let Some(replica) = update::handed_over(old, new)
        {
            let verdict = update::turn_ended(&state.past, new, replica);
            self.judge(state, verdict);
        }
        state.past.learn(event);
        if !is_operator || resource != PODS {
            return;
        }
        if let Some(pod) = state.past.pods.get_mut(&uid) {
            if event.old.is_none() {
                pod.made = sent;
            }
            if let Some(sent) = sent.filter(|it| went && it.heard) {
                pod.deleted = Some(sent.process);
            }
        }
        if event.old.is_none() {
            let verdict = indices::pod_made(&state.past, &uid);
            self.judge(state, verdict);
        } else if event.old.as_ref().is_some_and(|it| is_gated(it))
            && event.new.as_ref().is_some_and(|it| !is_gated(it))
        {
            let verdict = gates::gate_lifted(&state.past, &uid);
            self.judge(state, verdict.and_then(|()| backends::gate_lifted(&state.past, &uid)));
        }
    }

    /// Something happened in the tenant's namespace.
    fn tenant_event(&self, state: &mut State, event: &Event, uid: String, is_operator: bool) {
        if is_operator {
            let verdict = tenant::written(&self.cluster, event, &state.forged);
            self.judge(state, verdict);
        } else if event.old.is_none() {
            state.forged.insert(uid);
        }
    }

    fn judge(&self, state: &mut State, verdict: Result<(), Broken>) {
        let Err(broken) = verdict else { return };
        if state.broken.is_none() {
            state.tell(|| format!("BROKEN {}: {}", broken.rule, broken.words));
            state.broken = Some(broken);
            self.whistle.notify_one();
        }
    }
}

impl State {
    fn tell(&mut self, words: impl FnOnce() -> String) {
        if let Some(story) = &mut self.story {
            story.push(format!("{:>9.3} {}", clock::elapsed().as_secs_f64(), words()));
        }
    }

    /// Mixes an event into the digest.
    fn note(&mut self, event: &Event) {
        let time = u64::try_from(clock::elapsed().as_micros()).unwrap_or(u64::MAX);
        let name = event
            .key
            .name
            .bytes()
            .fold(event.revision, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
        self.digest = (self.digest ^ name).wrapping_mul(0x0100_0000_01B3) ^ time;
    }
}

/// Pods of a clique from before this time are to go; empty where none are.
fn restarted(clique: &Object) -> &str {
    text(clique, "/status/restart/before")
}

fn told(record: &WriteRecord, end: &str) -> String {
    let manager = if record.manager.is_empty() { "(no name)" } else { &record.manager };
    let part = record.subresource.map(|it| format!("/{it}")).unwrap_or_default();
    format!(
        "{:<17} {:<6} {} {}{part} {} {end}",
        manager, record.verb, record.resource, record.name, record.code
    )
}

fn event_words(event: &Event, record: &WriteRecord) -> String {
    let name = if record.name.is_empty() { event.key.name.as_str() } else { "" };
    let what = match (&event.old, &event.new) {
        (None, _) => "created".to_owned(),
        (_, None) => "gone".to_owned(),
        (Some(old), Some(new)) => crate::story::changes(old.value(), new.value()),
    };
    format!("{name} {what}")
}

#[cfg(test)]
mod tests;
