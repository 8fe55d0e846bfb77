//! A real Kubernetes control plane on one machine, and scenarios that run on it.

pub mod api_suite;
pub mod bench;
pub mod cluster;
pub mod grouper;
pub mod nodes;
pub mod objects;
pub mod operator;
mod plain_http;
pub mod pods;
pub mod scenario;
pub mod scenarios;
pub mod up;
pub mod upgrade;
