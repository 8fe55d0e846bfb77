//! Sizes and names: what the API takes is worked off without harm to others, and what is too large is refused. The tenant's
//! namespace has a quota of pods, as any that is shared.

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::core::v1::ResourceQuota;
use kube::{Api, api::PostParams};
use serde_json::{Value, json};

use super::{
    act::{Act, Who, named},
    attack::{Attack, attack, carry_out},
    holds::Holds::{self, PodReturns},
    own::{own_set, own_until},
    tenants::{Tenants, options},
    victim::GROVE,
};
use crate::{operator::OperatorOptions, scenario::Context};

const FRONT: &[Holds] = &[PodReturns("web-0-front")];
/// Pods that the tenant may have.
const QUOTA: usize = 20;
/// Memory that the operator may have after all of it.
const MEGABYTES: u64 = 512;

/// One attack after the other, with admission on; then the operator is asked how much memory it has.
pub(super) async fn scenario(context: &mut Context) -> Result<()> {
    let options = OperatorOptions { webhooks: true, ..options() };
    let mut tenants = Tenants::begin(context, options).await?;
    limit_pods(context, &tenants).await?;
    carry_out(context, &mut tenants, &table()).await?;
    let peak = peak_memory(context)?;
    anstream::println!("     the operator had {peak} MB at most");
    ensure!(peak < MEGABYTES, "the operator had {peak} MB");
    Ok(())
}

/// The tenant's namespace has a quota of pods, as any that is shared.
pub(super) async fn limit_pods(context: &Context, tenants: &Tenants) -> Result<()> {
    let quota = json!({ "metadata": { "name": "pods" }, "spec": { "hard": { "pods": QUOTA.to_string() } } });
    let quotas: Api<ResourceQuota> = Api::namespaced(context.client(), &tenants.home);
    quotas.create(&PostParams::default(), &serde_json::from_value(quota)?).await?;
    Ok(())
}

/// The most memory that the operator's process ever had, in megabytes.
pub(super) fn peak_memory(context: &Context) -> Result<u64> {
    let pid = context.operator_ref()?.pid().context("the operator does not run")?;
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let peak = status.lines().find_map(|it| it.strip_prefix("VmHWM:")).context("no VmHWM")?;
    let kilobytes: u64 = peak.trim().trim_end_matches(" kB").trim().parse()?;
    Ok(kilobytes / 1_024)
}

pub(super) fn table() -> Vec<Attack> {
    let max = i64::from(i32::MAX);
    vec![
        attack("64 cliques of one pod, 1,500 times", FRONT, |_| {
            let mut set = cliques(64, 1, 1);
            set["spec"]["replicas"] = 1_500.into();
            let mut fits = cliques(64, 1, 1);
            fits["metadata"]["name"] = "fits".into();
            fits["spec"]["replicas"] = 2.into();
            let beyond = Act::scale(Who::Editor, GROVE, "PodCliqueSet", "fits", 1_500).refused();
            Ok(vec![Act::create(Who::Editor, set).refused(), Act::create(Who::Editor, fits), beyond])
        }),
        attack("64 cliques of 1,500 pods", FRONT, |_| {
            Ok(vec![Act::create(Who::Editor, cliques(64, 1_500, 1)).any()])
        }),
        attack("a clique of 5,000 pods", FRONT, |_| {
            Ok(vec![Act::create(Who::Editor, cliques(1, 5_000, 1)).any()])
        }),
        attack("a set of 300 replicas", FRONT, |_| {
            let mut set = cliques(1, 1, 1);
            set["spec"]["replicas"] = 300.into();
            Ok(vec![Act::create(Who::Editor, set), Act::until(named(GROVE, "PodClique", "own-9-role0"))])
        }),
        attack("a clique, a group and a set scaled to the largest number", FRONT, move |_| {
            let mut acts = own_until(json!({}));
            for (kind, name) in own_scaled() {
                acts.push(Act::scale(Who::Editor, GROVE, kind, name, max).refused());
                acts.push(Act::scale(Who::Editor, GROVE, kind, name, max + 1).refused());
                acts.push(Act::scale(Who::Editor, GROVE, kind, name, -1).refused());
            }
            Ok(acts)
        }),
        attack("a clique scaled to 5,000", FRONT, |_| Ok(scaled("PodClique", "own-0-front", 5_000))),
        attack("a group scaled to 200", FRONT, |_| Ok(scaled("PodCliqueScalingGroup", "own-0-pd", 200))),
        attack("a set scaled to 200", FRONT, |_| Ok(scaled("PodCliqueSet", "own", 200))),
        attack("a template of one megabyte, ten times", FRONT, |_| {
            let mut set = cliques(1, 1, 1_000_000);
            set["spec"]["replicas"] = 10.into();
            Ok(vec![Act::create(Who::Editor, set).any()])
        }),
        attack("a template of half a megabyte, ten times, scaled to 10,000", FRONT, |_| {
            let mut set = cliques(1, 1, 500_000);
            set["spec"]["replicas"] = 10.into();
            let beyond = Act::scale(Who::Editor, GROVE, "PodCliqueSet", "own", 10_000).refused();
            Ok(vec![
                Act::create(Who::Editor, set),
                Act::until(named(GROVE, "PodClique", "own-9-role0")),
                beyond,
            ])
        }),
        attack("64 cliques of 16 kilobytes", FRONT, |_| {
            Ok(vec![Act::create(Who::Editor, cliques(64, 1, 16_000)).any()])
        }),
        attack("a set of four megabytes", FRONT, |_| {
            Ok(vec![Act::create(Who::Editor, cliques(1, 1, 4_000_000)).refused()])
        }),
        attack("sizes that contradict each other", FRONT, |_| Ok(contradictions())),
        attack("names that are long or odd", FRONT, |_| Ok(names())),
    ]
}

/// A set of so many cliques with so many pods, whose templates have so many bytes.
pub(super) fn cliques(count: usize, replicas: usize, bytes: usize) -> Value {
    let mut set = own_set();
    let clique = |number: usize| {
        let env = json!([{ "name": "LARGE", "value": "x".repeat(bytes) }]);
        let pod = json!({ "containers": [{ "name": "main", "image": "registry.example.com/app:1.0", "env": env }] });
        let name = format!("role{number}");
        json!({ "name": name, "spec": { "roleName": name, "replicas": replicas, "minAvailable": 1, "podSpec": pod } })
    };
    set["spec"]["template"] = json!({ "cliques": (0..count).map(clique).collect::<Vec<_>>() });
    set
}

fn own_scaled() -> [(&'static str, &'static str); 3] {
    [("PodClique", "own-0-front"), ("PodCliqueScalingGroup", "own-0-pd"), ("PodCliqueSet", "own")]
}

fn scaled(kind: &str, name: &str, replicas: i64) -> Vec<Act> {
    let mut acts = own_until(json!({}));
    acts.push(Act::scale(Who::Editor, GROVE, kind, name, replicas).any());
    acts
}

fn contradictions() -> Vec<Act> {
    let with = |path: &str, value: Value| {
        let mut set = own_set();
        if let Some(field) = set.pointer_mut(path) {
            *field = value;
        }
        Act::create(Who::Editor, set).refused()
    };
    let clique = "/spec/template/cliques/0/spec";
    let mut circle = own_set();
    circle["spec"]["template"]["cliqueStartupType"] = "CliqueStartupTypeExplicit".into();
    circle["spec"]["template"]["cliques"][0]["spec"]["startsAfter"] = json!(["work"]);
    circle["spec"]["template"]["cliques"][1]["spec"]["startsAfter"] = json!(["front"]);
    vec![
        with(&format!("{clique}/minAvailable"), json!(2)),
        with(&format!("{clique}/replicas"), json!(-1)),
        with(&format!("{clique}/replicas"), json!(i64::from(i32::MAX) + 1)),
        with("/spec/replicas", json!(10_001)),
        with("/spec/template/podCliqueScalingGroups/0/cliqueNames", json!(["work", "work"])),
        with("/spec/template/podCliqueScalingGroups/0/cliqueNames", json!(["web-0-front"])),
        Act::create(Who::Editor, circle).refused(),
    ]
}

/// Those that Kubernetes takes as names of objects. What of them is a set has children.
fn names() -> Vec<Act> {
    let long = |length: usize| "n".repeat(length);
    let names = ["0".to_owned(), "web-0".to_owned(), "web-0-front".to_owned(), "a.b.c".to_owned()];
    let names = names.into_iter().chain([30, 45, 46, 63, 64, 253].map(long));
    let set = |name: String| {
        let mut set = cliques(1, 1, 1);
        set["metadata"]["name"] = name.into();
        Act::create(Who::Editor, set).any()
    };
    names.map(set).collect()
}
