//! Who sends a request, and what this user may do.
//!
//! `authentication` tells users by token (`static_tokens`, `service_accounts`) or `certificates`; `impersonation` lets one
//! act as another; `authorization` decides about `attributes` of a request, by `rbac` if wanted; `reviews` answers
//! questions about it.

mod attributes;
mod authentication;
mod authorization;
mod certificates;
mod impersonation;
mod rbac;
mod reviews;
mod roles;
mod rules_review;
mod service_accounts;
mod static_tokens;
mod user;

pub use attributes::Attributes;
pub use authentication::Authentication;
pub(crate) use authorization::Access;
pub use authorization::{Authorization, Decision};
pub(crate) use certificates::certificate_user;
pub(crate) use impersonation::impersonated;
pub(crate) use reviews::{ReviewKind, review, review_kinds};
pub use roles::bootstrap_roles;
pub use service_accounts::ServiceAccountTokens;
pub use static_tokens::StaticTokens;
pub use user::UserInfo;
