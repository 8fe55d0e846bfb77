//! One kind of workloads: which group its pods are in.
//!
//! A plugin never reads: it says what it needs besides the workload, gets it, and decides.

use std::{collections::BTreeMap, fmt::Debug};

use serde_json::Value;

use crate::{
    group::Group,
    settings::Settings,
    workload::{Kind, Workload},
};

/// How the pods of some kinds are grouped.
pub trait Plugin: Send + Sync + Debug {
    /// Its name, for people.
    fn name(&self) -> &'static str;

    /// What has to be read before it can decide. It is asked again with what was found, until it needs nothing more.
    fn needs(
        &self,
        _workload: Workload<'_>,
        _found: &Found,
        _settings: &Settings,
    ) -> Result<Vec<Need>, Refused> {
        Ok(Vec::new())
    }

    /// The group of a pod; `None` where it is to be left alone.
    fn group(
        &self,
        workload: Workload<'_>,
        found: &Found,
        settings: &Settings,
    ) -> Result<Option<Group>, Refused>;

    /// Whether it reads more of the owner at the top than its metadata, the status aside. What is not read is not kept.
    fn reads_spec(&self) -> bool {
        true
    }

    /// Whether it reads the status of the owner at the top.
    fn reads_status(&self) -> bool {
        false
    }

    /// What it reads besides the owners of the pod: the kinds of its needs. Nobody may read what no plugin lists.
    fn also_reads(&self) -> &'static [Reads] {
        &[]
    }
}

/// Objects of a kind that a plugin reads. Their metadata are always there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reads {
    /// The kind.
    pub kind: Kind<'static>,
    /// Whether more than metadata and status is read.
    pub spec: bool,
    /// Whether the status is read.
    pub status: bool,
}

/// Something to be read, in the namespace of the pod.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// An object.
    Object {
        /// API version.
        api_version: String,
        /// Kind.
        kind: String,
        /// Name.
        name: String,
    },
    /// Pods with these labels.
    Pods(BTreeMap<String, String>),
    /// The group of this name, if there is one.
    Group(String),
    /// Groups whose names begin like this.
    Groups(String),
}

/// What was read. What is not there is an empty list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found(BTreeMap<Need, Vec<Value>>);

impl Found {
    /// Takes in the answer to a need.
    pub fn put(&mut self, need: Need, objects: Vec<Value>) {
        self.0.insert(need, objects);
    }

    /// The answer to a need; `None` where nobody asked.
    pub fn get(&self, need: &Need) -> Option<&[Value]> {
        self.0.get(need).map(Vec::as_slice)
    }

    /// The only object of an answer.
    pub fn object(&self, need: &Need) -> Option<&Value> {
        self.get(need)?.first()
    }
}

/// Why a pod cannot be grouped, in a sentence for its user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub String);
