//! Grove's wire: everything that other programs see, and the rules for it. Pure: no I/O, no clock.

pub mod config;
pub mod constants;
pub mod defaulting;
pub mod field;
pub mod ignored;
pub mod json_path;
pub mod limits;
pub mod manifest;
mod messages;
pub mod names;
pub mod quantity;
pub mod review;
pub mod schema;
pub mod size;
pub mod validation;
pub mod wire;
