//! Goes through the steps: what to do next, given what is known now. No I/O and no clock.

use std::{collections::VecDeque, time::Duration};

use super::{
    script::{Action, Step, Target},
    watched::Watched,
};

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Print it; `Tour::next` again at once.
    Say(Said),
    /// Do it; `Tour::next` again when it is done.
    Act(Action),
    /// Wait for a change, or so long; then `Tour::next` again.
    Wait(Duration),
    /// The tour has come to its end.
    Done,
    /// A step took too long: what was waited for.
    TimedOut(String),
}

/// What is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// The title of a step: its number, of how many, and what it is about.
    Title {
        /// From 1.
        number: usize,
        /// Of so many.
        of: usize,
        /// What it is about.
        title: &'static str,
    },
    /// What is about to be done.
    Intro(&'static str),
    /// What happened and why.
    Outcome(String),
}

/// Where a tour is.
#[derive(Clone, Debug)]
pub struct Tour {
    steps: Vec<Step>,
    /// Number of the present step.
    at: usize,
    state: State,
    /// The node that the present step is about.
    node: Option<String>,
}

#[derive(Clone, Debug)]
enum State {
    Title,
    Intro,
    Act(VecDeque<Action>),
    /// Since when.
    Wait(Duration),
}

impl Tour {
    /// From the beginning.
    pub fn new(steps: Vec<Step>) -> Self {
        Self { steps, at: 0, state: State::Title, node: None }
    }

    /// What to do next, so long after the start of the tour.
    pub fn next(&mut self, watched: &Watched, now: Duration) -> Next {
        let Some(step) = self.steps.get(self.at) else { return Next::Done };
        match &mut self.state {
            State::Title => {
                self.state = State::Intro;
                Next::Say(Said::Title { number: self.at + 1, of: self.steps.len(), title: step.title })
            }
            State::Intro => {
                self.state = State::Act(step.actions.iter().cloned().collect());
                Next::Say(Said::Intro(step.intro))
            }
            State::Act(actions) => {
                let Some(action) = actions.pop_front() else {
                    self.state = State::Wait(now);
                    return self.next(watched, now);
                };
                match self.with_node(action, watched) {
                    Ok(action) => Next::Act(action),
                    Err(missing) => Next::TimedOut(missing),
                }
            }
            State::Wait(since) => {
                if step.until.is_met(watched, self.node.as_deref()) {
                    let outcome = self.outcome(watched);
                    (self.at, self.state, self.node) = (self.at + 1, State::Title, None);
                    return Next::Say(Said::Outcome(outcome));
                }
                match step.timeout.checked_sub(now.saturating_sub(*since)).filter(|it| !it.is_zero()) {
                    Some(left) => Next::Wait(left),
                    None => Next::TimedOut(step.until.text()),
                }
            }
        }
    }

    /// What is waited for now, to be shown beside it; empty where nothing is.
    pub fn awaited(&self) -> String {
        match (&self.state, self.steps.get(self.at)) {
            (State::Wait(_), Some(step)) => step.until.text(),
            _ => String::new(),
        }
    }

    /// Puts a node in the place of a description of one.
    fn with_node(&mut self, action: Action, watched: &Watched) -> Result<Action, String> {
        let Action::LoseNode(Target::OfGang(gang)) = action else { return Ok(action) };
        let mut nodes: Vec<&str> =
            watched.pods_of(gang).filter(|it| it.gpus > 0).filter_map(|it| it.node.as_deref()).collect();
        // The same one each time.
        nodes.sort_unstable();
        let node = nodes.first().ok_or_else(|| format!("a GPU pod of gang {gang} has a node"))?;
        self.node = Some((*node).to_owned());
        Ok(Action::LoseNode(Target::Node((*node).to_owned())))
    }

    fn outcome(&self, watched: &Watched) -> String {
        let Some(step) = self.steps.get(self.at) else { return String::new() };
        let gang = step.until.gang().and_then(|it| watched.gang(it));
        let why = gang.map(|it| it.message.as_str()).unwrap_or_default();
        step.outcome.replace("{why}", why).replace("{node}", self.node.as_deref().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tour::{
        script::Condition,
        watched::{Gang, Node, Pod},
    };

    fn step(title: &'static str, actions: Vec<Action>, until: Condition) -> Step {
        Step {
            title,
            intro: "intro",
            actions,
            until,
            outcome: "{node}: {why}",
            timeout: Duration::from_secs(10),
        }
    }

    fn seconds(it: u64) -> Duration {
        Duration::from_secs(it)
    }

    fn gang(scheduled: bool) -> Gang {
        Gang { name: "g".to_owned(), scheduled, unschedulable: !scheduled, message: "no room".to_owned() }
    }

    fn pod(node: Option<&str>) -> Pod {
        Pod {
            gang: "g".to_owned(),
            node: node.map(str::to_owned),
            gpus: 8,
            ready: node.is_some(),
            ..Pod::default()
        }
    }

    #[test]
    fn a_step_is_said_done_awaited_and_explained() {
        let delete = Action::DeleteSet("s");
        let mut tour = Tour::new(vec![step("one", vec![delete.clone()], Condition::Waits { gang: "g" })]);
        let mut watched = Watched::default();
        assert_eq!(
            tour.next(&watched, seconds(0)),
            Next::Say(Said::Title { number: 1, of: 1, title: "one" })
        );
        assert_eq!(tour.next(&watched, seconds(0)), Next::Say(Said::Intro("intro")));
        assert_eq!(tour.awaited(), "");
        assert_eq!(tour.next(&watched, seconds(1)), Next::Act(delete));
        assert_eq!(tour.next(&watched, seconds(2)), Next::Wait(seconds(10)));
        assert_eq!(tour.awaited(), "the scheduler has said that gang g does not fit");
        assert_eq!(tour.next(&watched, seconds(5)), Next::Wait(seconds(7)));
        watched.gangs.push(gang(false));
        assert_eq!(tour.next(&watched, seconds(6)), Next::Say(Said::Outcome(": no room".to_owned())));
        assert_eq!(tour.next(&watched, seconds(6)), Next::Done);
    }

    #[test]
    fn a_step_that_takes_too_long_ends_the_tour() {
        let mut tour = Tour::new(vec![step("one", Vec::new(), Condition::Ready { gang: "g", pods: 1 })]);
        let watched = Watched::default();
        tour.next(&watched, seconds(0));
        tour.next(&watched, seconds(0));
        assert_eq!(tour.next(&watched, seconds(3)), Next::Wait(seconds(10)));
        assert_eq!(tour.next(&watched, seconds(13)), Next::TimedOut("1 pods of gang g are ready".to_owned()));
    }

    #[test]
    fn a_node_is_chosen_when_it_is_to_be_lost() {
        let lose = || vec![Action::LoseNode(Target::OfGang("g"))];
        let mut tour = Tour::new(vec![step("one", lose(), Condition::Recovered { gang: "g", pods: 2 })]);
        let mut watched = Watched {
            gangs: vec![gang(true)],
            pods: vec![pod(Some("n2")), pod(Some("n1"))],
            ..Watched::default()
        };
        watched.nodes = ["n1", "n2", "n3"].map(|it| Node { name: it.to_owned(), ready: true }).into();
        // One without a GPU does not count.
        watched.pods.push(Pod { gpus: 0, ..pod(Some("n0")) });
        tour.next(&watched, seconds(0));
        tour.next(&watched, seconds(0));
        let chosen = Next::Act(Action::LoseNode(Target::Node("n1".to_owned())));
        assert_eq!(tour.next(&watched, seconds(0)), chosen);
        assert!(matches!(tour.next(&watched, seconds(0)), Next::Wait(_)), "nothing has happened yet");
        watched.nodes[0].ready = false;
        watched.pods[1].ready = false;
        watched.pods.pop();
        assert!(matches!(tour.next(&watched, seconds(1)), Next::Wait(_)), "one is missing");
        watched.pods[1] = pod(Some("n3"));
        assert_eq!(tour.next(&watched, seconds(2)), Next::Say(Said::Outcome("n1: no room".to_owned())));

        let mut nowhere = Tour::new(vec![step("one", lose(), Condition::Waits { gang: "g" })]);
        nowhere.next(&Watched::default(), seconds(0));
        nowhere.next(&Watched::default(), seconds(0));
        assert!(matches!(nowhere.next(&Watched::default(), seconds(0)), Next::TimedOut(_)));
    }
}
