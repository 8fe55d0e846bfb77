//! Why a controller could not do its work. It is tried again.

use grove_runtime::{Failure, WriteError};

#[derive(Debug, thiserror::Error)]
pub(super) enum ControllerError {
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error("{0}")]
    Request(#[from] kube::Error),
}

impl Failure for ControllerError {
    fn reason(&self) -> &'static str {
        match self {
            Self::Write(error) => error.reason(),
            Self::Request(_) => "Request",
        }
    }

    fn is_expected(&self) -> bool {
        match self {
            Self::Write(error) => error.is_expected(),
            Self::Request(kube::Error::Api(status)) => [404, 409].contains(&status.code),
            Self::Request(_) => false,
        }
    }
}

/// Whether what was to be written in a namespace is there, or the namespace is not.
pub(super) fn is_settled(error: &WriteError) -> bool {
    error.is_already_exists() || error.is_namespace_terminating() || error.is_not_found()
}
