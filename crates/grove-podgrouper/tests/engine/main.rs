//! The pod grouper over an API server in memory, with KAI's groups.

mod budget;
mod changes;
mod kinds;
mod rules;
mod trouble;
mod world;
