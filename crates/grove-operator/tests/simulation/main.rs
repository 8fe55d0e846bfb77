//! The operator over an in-memory API, with a scheduler and kubelets that do their work at once. Time is virtual: what
//! waits for a minute takes no time.

mod behaviour;
mod kills;
mod snapshot;
mod world;
