//! One run: a plan, played from its first step until nothing happens any more.

use std::{sync::Arc, time::Duration};

use grove_apiserver::run_collector;
use tokio::{
    task::JoinSet,
    time::{Instant, sleep_until, timeout},
};

use crate::{
    clock,
    cluster::{Autoscaler, Cluster, Hall, SETS, User, is_ready},
    connection::{Lines, longest_trip},
    operator::{self, Running},
    panics,
    past::Past,
    plan::{Deed, LONGEST_STALL, Plan},
    random::Random,
    referee::Referee,
    rules::{Broken, Rule, quota, rest},
};

/// Nobody writes for this long: then the cluster is at rest.
const QUIET: Duration = Duration::from_mins(10);
/// By then it has to be.
const PATIENCE: Duration = Duration::from_hours(4);
/// So long nothing but the quota is in the way: turns of gangs that do not fit are five minutes each.
const UNDER_QUOTA: Duration = Duration::from_hours(3);
/// More pods than there ever are.
const PLENTY: u32 = 10_000;
/// How old the operator's caches may be where only usual delays happen.
const FRESH: Duration = Duration::from_secs(2);
/// What repeated failures of a watch add to that.
const RETRIES: Duration = Duration::from_secs(90);

/// How a run went.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The rule that was broken, with the number of the last step before it.
    pub broken: Option<(Broken, usize)>,
    /// How long it took, in the cluster's time.
    pub time: Duration,
    /// Writes to the API server.
    pub writes: u64,
    /// A number that stands for everything that happened.
    pub digest: u64,
    /// What happened, where it was asked for.
    pub story: Vec<String>,
}

/// Plays a plan.
pub fn run(plan: &Plan, tells: bool) -> anyhow::Result<Outcome> {
    fastrand::seed(plan.seed);
    grove_runtime::seed_delays(plan.seed);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
    runtime.block_on(async {
        let mut stage = Stage::new(plan, tells)?;
        let broken = stage.play(plan).await.err();
        let (story, digest) = stage.referee.end();
        let writes = stage.cluster.server.store().write_count();
        Ok(Outcome {
            broken: broken.map(|it| (it, stage.step)),
            time: clock::elapsed(),
            writes,
            digest,
            story,
        })
    })
}

struct Stage {
    cluster: Cluster,
    user: User,
    hall: Hall,
    autoscaler: Autoscaler,
    lines: Arc<Lines>,
    referee: Referee,
    operator: Option<Running>,
    /// How many operators there were.
    processes: u32,
    /// When the next one is started.
    restart: Option<Instant>,
    /// How long the operator is dead when its fatal write comes.
    down: Duration,
    /// How long a request of a dead operator may still be on its way.
    trip: Duration,
    /// How long a node may be silent before the operator takes its pods for gone, if it ever does.
    lost_after: Option<Duration>,
    step: usize,
    _tasks: JoinSet<()>,
}

impl Stage {
    fn new(plan: &Plan, tells: bool) -> anyhow::Result<Self> {
        panics::watch();
        let cluster = Cluster::new(plan.seed);
        let lines = Lines::new(cluster.server.clone(), plan.weather.clone(), Random::new(plan.seed, 2));
        let hall = Hall::new(cluster.clone(), plan.nodes, plan.slots, Random::new(plan.seed, 3));
        let mut past = Past::new(staleness(plan), longest_trip(&plan.weather), plan.lost_after);
        past.limited = plan.quota.is_some();
        let referee = Referee::new(cluster.clone(), Arc::clone(&lines), past, tells);
        let mut tasks = JoinSet::new();
        tasks.spawn(referee.clone().run());
        tasks.spawn(run_collector(cluster.server.clone(), std::future::pending()));
        tasks.spawn(hall.clone().run());
        let autoscaler = Autoscaler::new(cluster.clone());
        if plan.autoscales {
            tasks.spawn(autoscaler.clone().run(Random::new(plan.seed, 5)));
        }
        let mut stage = Self {
            user: User { cluster: cluster.clone() },
            cluster,
            hall,
            autoscaler,
            lines,
            referee,
            operator: None,
            processes: 0,
            restart: None,
            down: Duration::ZERO,
            trip: longest_trip(&plan.weather),
            lost_after: plan.lost_after,
            step: 0,
            _tasks: tasks,
        };
        if let Some(pods) = plan.quota {
            stage.user.limit(pods);
        }
        stage.start()?;
        Ok(stage)
    }

    async fn play(&mut self, plan: &Plan) -> Result<(), Broken> {
        for step in &plan.steps {
            self.wait(step.after).await?;
            self.step = step.number;
            self.referee.tell(|| format!("STEP {} {:?}", step.number, step.deed));
            self.perform(plan, &step.deed).await?;
        }
        self.end(plan).await
    }

    /// Lets everybody work for a while.
    async fn wait(&mut self, time: Duration) -> Result<(), Broken> {
        let end = Instant::now() + time;
        loop {
            let until = self.restart.map_or(end, |it| it.min(end));
            tokio::select! {
                biased;
                () = self.referee.whistle.notified() => {}
                () = self.lines.fatal.notified() => self.kill(self.down),
                () = sleep_until(until) => {}
            }
            self.referee.look();
            self.referee.overdue();
            if let Some(words) = panics::last() {
                return Err(Rule::Panic.broken(words));
            }
            if let Some(broken) = self.referee.broken() {
                return Err(broken);
            }
            if self.restart.is_some_and(|it| it <= Instant::now()) && !self.lines.is_busy() {
                self.restart = None;
                self.start().map_err(|error| Rule::Convergence.broken(error.to_string()))?;
            } else if self.restart.is_some_and(|it| it <= Instant::now()) {
                self.restart = Some(Instant::now() + Duration::from_millis(100));
            }
            if Instant::now() >= end {
                return Ok(());
            }
        }
    }

    fn start(&mut self) -> anyhow::Result<()> {
        self.processes += 1;
        self.referee.operator_started();
        self.referee.tell(|| "OPERATOR starts".to_owned());
        self.operator = Some(operator::start(self.lines.open(self.processes), self.lost_after)?);
        Ok(())
    }

    fn kill(&mut self, down: Duration) {
        if self.operator.take().is_some() {
            self.referee.tell(|| "OPERATOR dies".to_owned());
            self.referee.operator_died();
            // As with an election: nobody follows before what the dead one sent has arrived.
            self.restart = Some(Instant::now() + down.max(self.trip));
        }
    }

    async fn perform(&mut self, plan: &Plan, deed: &Deed) -> Result<(), Broken> {
        use serde_json::json;
        let user = &self.user;
        match *deed {
            Deed::Create { set } => user.create(&plan.sets[set]),
            Deed::Delete { set } => user.delete(SETS, &plan.sets[set].name),
            Deed::ScaleSet { set, replicas } => {
                user.change_set(&plan.sets[set], &json!({ "replicas": replicas }));
            }
            Deed::ScaleGroup { pick, replicas } => user.scale_group(pick, replicas),
            Deed::ScaleClique { pick, replicas } => user.scale_clique(pick, replicas),
            Deed::Image { set, cliques, image } => user.change_images(&plan.sets[set], cliques, image),
            Deed::Strategy { set, on_delete } => {
                let strategy = if on_delete { "OnDelete" } else { "RollingRecreate" };
                user.change_set(&plan.sets[set], &json!({ "updateStrategy": { "type": strategy } }));
            }
            Deed::Pause { set, paused } => {
                user.change_set(&plan.sets[set], &json!({ "updateStrategy": { "paused": paused } }));
            }
            Deed::DeletePod { pick } => user.delete_pod(pick),
            Deed::DeleteGang { pick } => user.delete_gang(pick),
            Deed::DeleteClique { pick } => user.delete_clique(pick),
            Deed::FailPod { pick } => {
                if let Some(pod) = user.running_pod(pick) {
                    self.hall.fail(&pod);
                }
            }
            Deed::CrashPod { pick, back } => {
                if let Some(pod) = user.running_pod(pick) {
                    self.hall.crash(&pod, back);
                }
            }
            Deed::FailProbe { pick, back } => {
                if let Some(pod) = user.running_pod(pick).filter(|it| is_ready(it)) {
                    self.hall.unready(&pod, back);
                }
            }
            Deed::LoseNode { pick, back, evicts } => self.hall.lose(pick, back, evicts),
            Deed::Kill { down } => self.kill(down),
            Deed::KillAtWrite { write, down } => {
                self.down = down;
                self.lines.kill_at(write);
            }
            Deed::Stall { kinds, time } => self.lines.stall(kinds, time),
            Deed::CutWatches => self.cluster.server.cut_watches(),
            Deed::Forget => {
                self.referee.look();
                self.cluster.server.compact();
            }
            Deed::Wait => return self.wait(Duration::from_mins(5)).await,
        }
        Ok(())
    }

    /// All troubles end, and then everything has to come to rest as it should be.
    async fn end(&mut self, plan: &Plan) -> Result<(), Broken> {
        self.referee.tell(|| "END of all troubles".to_owned());
        self.lines.clear_up();
        self.hall.heal();
        self.autoscaler.end();
        for shape in &plan.sets {
            self.user.repair_images(shape);
            let goes_on = serde_json::json!({ "updateStrategy": { "paused": false } });
            self.user.change_set(shape, &goes_on);
            // What failed too often stays as it is for as long as there is a policy.
            self.user.change_set(shape, &serde_json::json!({ "template": { "restartPolicy": null } }));
        }
        // Whoever is dead comes back.
        self.wait(Duration::from_secs(30)).await?;
        if plan.quota.is_some() {
            let before = self.cluster.server.store().write_count();
            self.wait(UNDER_QUOTA).await?;
            let verdict = quota::nobody_waits_in_vain(&self.cluster)
                .and_then(|()| quota::few_pods_are_made(&self.cluster, before));
            if let Err(broken) = &verdict {
                self.referee.tell(|| format!("BROKEN {}: {}", broken.rule, broken.words));
            }
            verdict?;
            self.referee.tell(|| "END of the quota".to_owned());
            self.user.limit(PLENTY);
        }
        self.settle().await?;
        if self.user.delete_broken_pods() {
            self.settle().await?;
        }
        let verdict = rest::at_rest(&self.cluster);
        if let Err(broken) = &verdict {
            self.referee.tell(|| format!("BROKEN {}: {}", broken.rule, broken.words));
        }
        verdict
    }

    /// Waits until nobody writes any more.
    async fn settle(&mut self) -> Result<(), Broken> {
        let end = Instant::now() + PATIENCE;
        loop {
            let store = self.cluster.server.store();
            let before = store.write_count();
            let changed = timeout(QUIET, store.changed_since(store.revision())).await.is_ok();
            self.wait(Duration::ZERO).await?;
            if !changed && self.cluster.server.store().write_count() == before {
                return Ok(());
            }
            if Instant::now() > end {
                return Err(
                    Rule::Rest.broken(format!("somebody still writes after {PATIENCE:?} without troubles"))
                );
            }
        }
    }
}

/// How old may be what the operator goes by.
fn staleness(plan: &Plan) -> Duration {
    let weather = &plan.weather;
    let mut time = FRESH + weather.lag + longest_trip(weather) * 2;
    if plan.has_stalls() {
        time += LONGEST_STALL;
    }
    if weather.is_rough() {
        time += RETRIES;
    }
    time
}

#[cfg(test)]
mod tests;
