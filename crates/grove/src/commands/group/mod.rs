//! `grove group --explain`: which group the pods of a manifest would be in, and why, without a cluster.
//!
//! `objects` are those of the input; `imaginary` adds pods to workloads that have none there; `owners` finds what owns a
//! pod; `explain` asks the plugins, with `origin` for where queue and priority are from; `shown` is the answer, and `text`
//! prints it.

mod explain;
mod imaginary;
mod objects;
mod origin;
mod owners;
mod shown;
mod text;

use std::io;

use clap::Args;
use grove_api::{
    manifest::{self, Document},
    wire::GroupingRule,
};
use grove_podgrouper::{Hub, Kind, Settings, rule::Rules};
use serde::{Deserialize, Serialize};

use self::{objects::Objects, shown::Explained};
use crate::{
    cli::Outcome,
    findings::{Finding, Format, Report},
    input,
    printer::Printer,
};

/// Explain offline how the pod grouper would group the pods of a manifest.
///
/// Reads YAML or JSON with any number of objects: pods and their owners, or only workloads, whose pods are derived from
/// their templates. GroupingRules in the input apply. UIDs that are not in the input are shown as <uid>.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    grove group --explain -f job.yaml\n  \
    kubectl get pod,replicaset,deployment -o yaml | grove group --explain -f - -o json\n\n\
    Exit codes: 0 all pods have a group or are left alone, 1 a pod cannot be grouped, 2 the input cannot be used.")]
pub(crate) struct GroupCommand {
    /// Show the group of each pod, and why.
    #[arg(long, required = true)]
    explain: bool,

    /// File, folder, or - for standard input; repeatable.
    #[arg(short = 'f', long = "filename", value_name = "FILE", required = true)]
    files: Vec<String>,

    /// Label key for the queue.
    #[arg(long, value_name = "KEY", default_value = "kai.scheduler/queue")]
    queue_label_key: String,

    /// Label key for the node pool.
    #[arg(long, value_name = "KEY", default_value = "kai.scheduler/node-pool")]
    nodepool_label_key: String,

    /// PriorityClass that exists in the cluster, in addition to those of the input; repeatable.
    #[arg(long, value_name = "NAME", default_values = ["train", "build-preemptible", "build", "inference"])]
    priority_class: Vec<String>,

    /// Output format.
    #[arg(short, long, value_enum, default_value_t)]
    output: Format,
}

/// All that is said.
#[derive(Serialize)]
struct Answer {
    pods: Vec<Explained>,
    findings: Vec<Finding>,
}

impl GroupCommand {
    pub(crate) fn run(self, hub: &Hub) -> io::Result<Outcome> {
        let sources = input::read(&self.files)?;
        let mut report = Report::default();
        let mut objects = Objects::default();
        for source in &sources {
            match manifest::parse(&source.text) {
                Ok(parsed) => {
                    for document in parsed.into_iter().flat_map(Document::flatten) {
                        objects.add(source, document, &mut report);
                    }
                }
                Err(error) => report.unreadable(source, &error),
            }
        }
        imaginary::add(&mut objects, hub, &mut report);
        let settings = self.settings(&objects, hub);
        let pods = explain::explain(&objects, hub, &settings, &mut report);
        if pods.is_empty() && report.outcome() == Outcome::Success {
            report.print_aside()?;
            let text = "no pods in the input, and no workload with a known pod template";
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        let outcome = report.outcome();
        if self.output == Format::Text {
            report.print_aside()?;
        }
        let answer = Answer { pods, findings: report.findings };
        Printer::new(self.output, false).print(&answer, || text::text(&answer.pods))?;
        Ok(outcome)
    }

    fn settings(&self, objects: &Objects<'_>, hub: &Hub) -> Settings {
        let rules = objects.all().filter(|it| it.value["kind"] == "GroupingRule");
        let rules: Vec<GroupingRule> =
            rules.filter_map(|it| GroupingRule::deserialize(&it.value).ok()).collect();
        let native: Vec<Kind<'_>> = hub.kinds().collect();
        let of_input = objects.all().filter(|it| it.value["kind"] == "PriorityClass");
        let classes = of_input.map(|it| it.name().to_owned()).chain(self.priority_class.iter().cloned());
        Settings {
            queue_label: self.queue_label_key.clone(),
            node_pool_label: self.nodepool_label_key.clone(),
            priority_classes: classes.collect(),
            rules: Rules::compile(&rules, &native).0,
            ..Settings::default()
        }
    }
}
