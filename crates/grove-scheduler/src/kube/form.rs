//! In which way a gang is made.

use grove_api::constants::annotations;

use super::capabilities::SWITCHED_OFF;
use crate::tree::{ADOPTED, Gang};

/// A way in which gangs are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// CompositePodGroups, with PodGroups at the leaves.
    Tree,
    /// One PodGroup.
    Flat {
        /// Whether it may have a topology constraint.
        topology: bool,
    },
    /// Nothing but pods, for this reason.
    Plain(&'static str),
}

impl Form {
    /// As it is noted on gangs.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Tree => annotations::SCHEDULER_FORM_TREE,
            Self::Flat { .. } => annotations::SCHEDULER_FORM_FLAT,
            Self::Plain(_) => "plain",
        }
    }

    /// Whether pods belong to groups that the scheduler knows.
    pub(super) fn has_groups(self) -> bool {
        !matches!(self, Self::Plain(_))
    }
}

/// In which way one gang is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GangForm {
    /// By us.
    New(Form),
    /// It ran as plain pods before we came: it goes on so, without what it lacked before.
    Adopted,
}

impl GangForm {
    /// The form that the gang was created in, or else the one that is `best` now. The group of a pod cannot be changed,
    /// and pods of a gang in two forms would wait for each other, so that a gang keeps its form.
    pub(super) fn of(gang: &Gang, best: Form) -> Result<Self, String> {
        const BEFORE: &str = "the gang was created when there were no PodGroups";
        Ok(Self::New(match (gang.form.as_str(), best) {
            (ADOPTED, _) => return Ok(Self::Adopted),
            (form, best) if form.is_empty() || form == best.name() => best,
            ("flat", Form::Tree) => Form::Flat { topology: true },
            ("plain", _) => Form::Plain(BEFORE),
            ("tree" | "flat", Form::Plain(SWITCHED_OFF)) => {
                return Err(format!(
                    "the gang was created in the form {:?}, and gangScheduling is false since: set it to true in the \
                     operator's configuration, or delete the gang's pods and PodGang",
                    gang.form
                ));
            }
            ("tree" | "flat", _) => {
                return Err(format!(
                    "the gang was created in the form {:?}, whose objects the API server does not serve any more: \
                     serve them again, or delete the gang's pods and PodGang",
                    gang.form
                ));
            }
            (other, _) => return Err(format!("the gang has the form {other:?}, which is not known")),
        }))
    }

    /// Whether pods belong to groups that the scheduler knows.
    pub(super) fn has_groups(self) -> bool {
        matches!(self, Self::New(form) if form.has_groups())
    }
}
