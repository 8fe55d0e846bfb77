//! The whole tour on a cluster that does at once what a real one does in time.

use super::*;
use crate::tour::{
    script::{Target, steps},
    watched::{Gang, Node, Pod},
};

/// Does what the script expects, one change at a time.
#[derive(Default)]
struct Fake {
    watched: Watched,
    /// What is still to be seen.
    coming: Vec<Watched>,
    done: Vec<Action>,
    /// The action that fails, counted from 0.
    fails: Option<usize>,
    /// Whether nothing ever changes.
    is_stuck: bool,
}

fn gang(name: &str, scheduled: bool) -> Gang {
    Gang {
        name: name.to_owned(),
        scheduled,
        unschedulable: !scheduled,
        message: if scheduled { String::new() } else { "needs 16 nvidia.com/gpu in one rack".to_owned() },
    }
}

fn pod(gang: &str, name: &str, node: Option<&str>, gpus: u32) -> Pod {
    Pod {
        name: name.to_owned(),
        uid: name.to_owned(),
        gang: gang.to_owned(),
        set: gang.split('-').next().unwrap_or_default().to_owned(),
        node: node.map(str::to_owned),
        gpus,
        image: "registry.example.com/engine:1.0".to_owned(),
        ready: node.is_some(),
    }
}

impl Cluster for Fake {
    type Error = String;

    fn watched(&self) -> Watched {
        self.watched.clone()
    }

    async fn act(&mut self, action: &Action) -> Result<(), String> {
        if self.fails == Some(self.done.len()) {
            return Err("the API server refuses it".to_owned());
        }
        self.done.push(action.clone());
        let mut next = self.watched.clone();
        match action {
            Action::Apply(text) if text.contains("name: training") => {
                next.nodes = (0..6).map(|it| Node { name: format!("n{it}"), ready: true }).collect();
                next.gangs.push(gang("training-0", true));
                next.pods.extend(
                    (0..5).map(|it| pod("training-0", &format!("t{it}"), Some(&format!("n{it}")), 8)),
                );
            }
            Action::Apply(_) => {
                next.gangs.push(gang("chat-0", false));
                next.pods.extend([
                    pod("chat-0", "r", None, 0),
                    pod("chat-0", "l", None, 8),
                    pod("chat-0", "w", None, 8),
                ]);
            }
            Action::DeleteSet(set) => {
                next.pods.retain(|it| it.set != *set);
                next.gangs = vec![gang("chat-0", true)];
                next.pods.iter_mut().zip(["n0", "n0", "n1"]).for_each(|(it, node)| {
                    (it.node, it.ready) = (Some(node.to_owned()), true);
                });
            }
            Action::LoseNode(Target::Node(lost)) => {
                next.nodes.iter_mut().filter(|it| it.name == *lost).for_each(|it| it.ready = false);
                for it in next.pods.iter_mut().filter(|it| it.node.as_ref() == Some(lost)) {
                    it.node = Some("n2".to_owned());
                }
            }
            Action::LoseNode(Target::OfGang(gang)) => return Err(format!("which node of {gang}?")),
            Action::ScaleGroup { name, replicas } => {
                assert_eq!((*name, *replicas), ("chat-0-decode", 2));
                next.gangs.push(gang("chat-0-decode-0", true));
                let scaled = ["l1", "w1"].map(|it| pod("chat-0-decode-0", it, Some("n3"), 8));
                next.pods.extend(scaled);
            }
            Action::SetImage { image, .. } => {
                next.pods
                    .iter_mut()
                    .filter(|it| it.gpus > 0)
                    .for_each(|it| (*image).clone_into(&mut it.image));
            }
        }
        self.coming.push(next);
        Ok(())
    }

    async fn changed(&mut self) {
        match self.coming.pop().filter(|_| !self.is_stuck) {
            Some(next) => self.watched = next,
            None => std::future::pending().await,
        }
    }
}

async fn given(fake: &mut Fake) -> (Ended, Vec<Said>) {
    let mut said = Vec::new();
    let ended = drive(fake, Tour::new(steps()), Duration::from_secs(2), |it| said.push(it.clone())).await;
    (ended, said)
}

#[tokio::test(start_paused = true)]
async fn the_whole_tour_is_given() {
    let mut fake = Fake::default();
    let start = Instant::now();
    let (ended, said) = given(&mut fake).await;
    assert_eq!(ended, Ended::Complete);
    assert!(start.elapsed() < Duration::from_mins(1), "what is read takes less than a minute");
    assert_eq!(fake.done.len(), 6);
    let titles: Vec<&str> = said
        .iter()
        .filter_map(|it| match it {
            Said::Title { title, .. } => Some(*title),
            _ => None,
        })
        .collect();
    assert_eq!(
        titles,
        [
            "The cluster is busy",
            "A gang waits",
            "Capacity is freed",
            "A node fails",
            "A role scales",
            "An update rolls out",
        ]
    );
    let outcomes: Vec<&String> = said
        .iter()
        .filter_map(|it| match it {
            Said::Outcome(text) => Some(text),
            _ => None,
        })
        .collect();
    assert!(outcomes[1].ends_with("The scheduler says: needs 16 nvidia.com/gpu in one rack"), "{outcomes:?}");
    assert!(outcomes[3].starts_with("n0 is lost. "), "{outcomes:?}");
    assert!(outcomes.iter().all(|it| !it.contains('{')), "{outcomes:?}");
}

#[tokio::test(start_paused = true)]
async fn what_goes_wrong_ends_the_tour() {
    let (ended, _) = given(&mut Fake { is_stuck: true, ..Fake::default() }).await;
    assert_eq!(ended, Ended::TimedOut("5 pods of gang training-0 are ready".to_owned()));
    let (ended, said) = given(&mut Fake { fails: Some(1), ..Fake::default() }).await;
    assert_eq!(ended, Ended::Failed("the API server refuses it".to_owned()));
    assert!(matches!(said.last(), Some(Said::Intro(_))), "{said:?}");
}
