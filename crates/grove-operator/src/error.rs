//! Why a reconcile stopped.

use grove_runtime::{Failure, WriteError};

/// Why a reconcile stopped. Every kind is tried again, with a delay that grows.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The API server refused or failed.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// Something of a name that we need belongs to somebody else.
    #[error("{0}")]
    Blocked(String),
    /// A node was not read in time.
    #[error("reading node {0} took too long")]
    NodeRead(String),
    /// The process ends, and the rest is left to the next one.
    #[error("the operator is stopping")]
    Stopping,
}

impl Failure for Error {
    fn reason(&self) -> &'static str {
        match self {
            Self::Write(error) => error.reason(),
            Self::Blocked(_) => "Blocked",
            Self::NodeRead(_) => "NodeRead",
            Self::Stopping => "Stopping",
        }
    }

    fn is_expected(&self) -> bool {
        match self {
            Self::Write(error) => error.is_expected(),
            Self::Blocked(_) | Self::NodeRead(_) => false,
            Self::Stopping => true,
        }
    }
}
