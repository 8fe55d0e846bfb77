//! The CustomResourceDefinitions: from the Rust types to the YAML that is installed.
//!
//! ```text
//! wire types ─► definitions ─► + core_types (list types, defaults) ─► + rules (CEL) ─► structural ─► crd ─► crds/*.yaml
//!                                                                                        └────────► check (offline)
//! ```

mod check;
mod core_types;
mod crd;
mod definitions;
mod patterns;
mod rules;
mod structural;

pub use check::check;
pub(crate) use check::check_at;
pub use crd::{CRDS, Crd};
#[cfg(test)]
pub(crate) use patterns::JSON_PATH;
pub(crate) use patterns::{DURATION, SERVICE_NAME};
