//! One run: a plan, played from its first step until nothing happens any more.

mod faults;
mod settle;

use std::{sync::Arc, time::Duration};

use grove_apiserver::run_collector;
use tokio::{
    task::JoinSet,
    time::{Instant, sleep_until},
};

use crate::{
    clock,
    cluster::{Autoscaler, Cluster, Hall, SETS, Tenant, User, is_ready},
    connection::{Lines, longest_trip},
    operator::{self, Running},
    panics,
    plan::{Backend, Deed, Fault, Plan, SILENCE},
    random::Random,
    referee::Referee,
    rules::{Broken, Rule, backends, quota, rest},
    watchdog::{LIMIT, Watchdog},
};

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
    /// The last fault before it that is none of the usual troubles.
    pub fault: Option<Fault>,
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
            fault: stage.fault.filter(|_| broken.is_some()),
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
    /// Operators that still act although another one was started, and until when.
    former: Vec<(Instant, Running)>,
    tenant: Option<Tenant>,
    backend: Option<Backend>,
    watchdog: Watchdog,
    /// The last fault that happened.
    fault: Option<Fault>,
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
        let cluster = Cluster::with(plan.seed, plan.backend);
        let lines = Lines::new(cluster.server.clone(), plan.weather.clone(), Random::new(plan.seed, 2));
        let hall = Hall::new(cluster.clone(), plan.nodes, plan.slots, Random::new(plan.seed, 3));
        let referee = Referee::new(cluster.clone(), Arc::clone(&lines), faults::past(plan), tells);
        let mut tasks = JoinSet::new();
        tasks.spawn(referee.clone().run());
        tasks.spawn(run_collector(cluster.server.clone(), std::future::pending()));
        tasks.spawn(hall.clone().run());
        let autoscaler = Autoscaler::new(cluster.clone());
        if plan.autoscales {
            tasks.spawn(autoscaler.clone().run(Random::new(plan.seed, 5)));
        }
        let tenant = plan.has(Fault::Tenant).then(|| Tenant::new(cluster.clone()));
        let command = plan.command();
        let mut stage = Self {
            tenant,
            backend: plan.backend,
            former: Vec::new(),
            watchdog: Watchdog::start(LIMIT, move || give_up(&command)),
            fault: None,
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
            self.fault = step.deed.fault().or(self.fault);
            self.referee.tell(|| format!("STEP {} {:?}", step.number, step.deed));
            self.perform(plan, &step.deed).await?;
        }
        self.end(plan).await
    }

    /// Lets everybody work for a while.
    async fn wait(&mut self, time: Duration) -> Result<(), Broken> {
        let end = Instant::now() + time;
        loop {
            let former = self.former.iter().map(|it| it.0);
            let until = self.restart.into_iter().chain(former).fold(end, Instant::min);
            tokio::select! {
                biased;
                () = self.watchdog.alarm.notified() => {}
                () = self.referee.whistle.notified() => {}
                () = self.lines.fatal.notified() => self.kill(self.down),
                () = sleep_until(until) => {}
            }
            self.end_former();
            self.referee.look();
            self.referee.overdue();
            self.goes_on()?;
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
        // One that cannot reach the server is none yet.
        if !self.lines.is_down() {
            self.referee.operator_started(self.processes);
        }
        self.referee.tell(|| "OPERATOR starts".to_owned());
        let connection = self.lines.open(self.processes);
        self.operator = Some(operator::start(connection, self.lost_after, self.backend)?);
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
            Deed::Forge { pick } => {
                if let Some(tenant) = &self.tenant {
                    tenant.forge(pick);
                }
            }
            Deed::Overlap { time, stale } => return self.overlap(time, stale),
            Deed::Silence { kind, forbidden } => self.lines.silence(kind, forbidden, SILENCE),
            Deed::Outage => return self.outage().await,
            Deed::Restore { changes, noticed } => self.restore(changes, noticed),
            Deed::SetClock { wrong } => clock::set_wrong(wrong),
            Deed::DeleteBackendObject { pick } => self.delete_backend_object(pick),
        }
        Ok(())
    }

    /// All troubles end, and then everything has to come to rest as it should be.
    async fn end(&mut self, plan: &Plan) -> Result<(), Broken> {
        self.referee.tell(|| "END of all troubles".to_owned());
        self.lines.clear_up();
        self.end_faults();
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
        let verdict = self.at_rest();
        if let Err(broken) = &verdict {
            self.referee.tell(|| format!("BROKEN {}: {}", broken.rule, broken.words));
        }
        verdict
    }

    /// Everything is as it should be.
    fn at_rest(&self) -> Result<(), Broken> {
        rest::at_rest(&self.cluster)?;
        self.backend.map_or(Ok(()), |it| backends::at_rest(&self.cluster, it))
    }
}

/// A run that cannot even be woken: what is left is to say which one it is.
fn give_up(command: &str) {
    anstream::eprintln!(
        "rule livelock is broken: a task never waits, and time stands still\nagain: {command} -v"
    );
    std::process::exit(1);
}

#[cfg(test)]
mod tests;
