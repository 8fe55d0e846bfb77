//! The operator's configuration file: which keys it may have, what they default to, which schedulers it asks for.
//!
//! The flow is that of the modules: `keys` says what the file may look like and `walk` holds the file against it,
//! `defaults` fills in what was left out, `validate` compares fields with each other, `resolve` decides which
//! schedulers are active. [`load`] runs them all and reports everything that is wrong at once.
//!
//! No scheduler is known by name here: the caller passes the backends it has ([`KnownBackend`]).

mod backend;
mod defaults;
mod findings;
mod keys;
mod load;
mod profiles;
mod resolve;
mod schema;
mod shape;
mod types;
mod validate;
mod walk;

pub use backend::{CheckConfig, KnownBackend};
pub use load::{Loaded, load};
pub use profiles::{ActiveProfile, SchedulerProfiles};
pub use schema::{file_schema, json_schema};
pub use shape::{Key, Shape};
pub use types::{
    API_VERSION, Authorizer, CertProvisionMode, ClientConnection, Controller, Controllers, Debugging, KIND,
    LeaderElection, LogFormat, LogLevel, MetricsServer, Network, NodeLoss, OlderLevel, OperatorConfiguration,
    Scheduler, SchedulerProfile, Server, Servers, TopologyAwareScheduling, WebhookServer,
};
pub use walk::check_keys;
