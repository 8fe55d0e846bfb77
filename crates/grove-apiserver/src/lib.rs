//! A Kubernetes-compatible API server: in memory, as a tower service, and on the network.
//!
//! ```text
//! request → route → (fault hook) → read | watch | write → answer
//!                                     └───────┬───────┘
//!                                           store: objects by key, one revision counter, one ring of events
//! ```
//!
//! * `route`, `query`, `accept` turn HTTP into a question; `read`, `watch` and `write` answer it; `failure` says no.
//! * `kinds` knows the fields of built-in kinds, for patches, apply and field validation; `table` shows objects to people.
//! * `write` holds what the API does to objects (generation, finalizers, grace, subresources); `store` knows none of it.
//! * `admission`: policies that change what a client writes, and webhooks that are asked, before it is stored.
//! * `definitions`, `schema` and `cel`: what CustomResourceDefinitions in the store define, and what they ask of objects.
//! * `collector` is a controller: it sees events and writes through [`ApiServer::write`], as a client would.
//!
//! Time and randomness come in through [`ApiServer::new`], so that the same requests give the same objects.

mod accept;
mod admission;
mod audit;
mod auth;
mod body;
mod cel;
mod collector;
mod definitions;
mod digest;
mod discovery;
mod failure;
mod fault;
mod handler;
mod health;
mod kinds;
mod metadata;
mod net;
mod object;
mod openapi;
mod ownership;
mod pattern;
mod protobuf;
mod query;
mod random;
mod read;
mod resource;
mod route;
mod schema;
mod selector;
mod server;
mod service;
mod store;
mod table;
mod watch;
mod write;

pub use audit::AuditSink;
pub use auth::{
    Attributes, Authentication, Authorization, Decision, ServiceAccountTokens, StaticTokens, UserInfo,
    bootstrap_roles,
};
pub use body::Body;
pub use collector::{collect, run_collector, run_garbage_collector};
pub use failure::{Cause, Details, Failure};
pub use fault::Fault;
pub use net::{Limits, ServeOptions, ServerHandle, serve, tls_config};
pub use object::Object;
pub use read::At;
pub use resource::{BadDefinition, Resource, Resources, Scale};
pub use selector::{BadSelector, Labels, Selection};
pub use server::ApiServer;
pub use service::{ApiService, TransportError};
pub use store::{Event, Expired, Key, Store, WriteRecord};
pub use write::{
    Action, Answer, Apply, DeleteOptions, PatchBody, Policy, Preconditions, Subresource, WriteRequest,
};
