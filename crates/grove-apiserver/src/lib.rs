//! A Kubernetes-compatible API server in memory, as a tower service.
//!
//! ```text
//! request → route → (fault hook) → read | watch | write → answer
//!                                     └───────┬───────┘
//!                                           store: objects by key, one revision counter, one ring of events
//! ```
//!
//! * `route`, `query`, `accept` turn HTTP into a question; `read`, `watch` and `write` answer it; `failure` says no.
//! * `write` holds what the API does to objects (generation, finalizers, grace, subresources); `store` knows none of it.
//! * `collector` is a controller: it sees events and writes through [`ApiServer::write`], as a client would.
//!
//! Time and randomness come in through [`ApiServer::new`], so that the same requests give the same objects.

mod accept;
mod body;
mod collector;
mod discovery;
mod failure;
mod fault;
mod handler;
mod metadata;
mod object;
mod ownership;
mod query;
mod random;
mod read;
mod resource;
mod route;
mod selector;
mod server;
mod service;
mod store;
mod watch;
mod write;

pub use body::Body;
pub use collector::{collect, run_collector};
pub use failure::{Cause, Details, Failure};
pub use fault::Fault;
pub use object::Object;
pub use resource::{BadDefinition, Resource, Resources, Scale};
pub use selector::{BadSelector, Labels, Selection};
pub use server::ApiServer;
pub use service::{ApiService, TransportError};
pub use store::{Event, Expired, Key, Store, WriteRecord};
pub use write::{
    Action, Answer, Apply, DeleteOptions, PatchBody, Policy, Preconditions, Subresource, WriteRequest,
};
