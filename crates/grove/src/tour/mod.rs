//! `grove tour`: a guided run through what Grove does, as data.
//!
//! `script` has the steps: what is said, what is done, and what is waited for. `watched` is what the tour knows of the cluster,
//! plain values that its embedder fills from informers. `machine` goes through the steps, a pure state machine;
//! `drive` runs it against a [`Cluster`], and `live` is a cluster that is reached through the API.

mod drive;
mod live;
mod machine;
mod script;
mod watched;

pub use self::{
    drive::{Cluster, Ended, drive},
    live::LiveCluster,
    machine::{Next, Said, Tour},
    script::{Action, Condition, Step, TOPOLOGY, Target, steps},
    watched::{Gang, Node, Pod, Watched},
};
