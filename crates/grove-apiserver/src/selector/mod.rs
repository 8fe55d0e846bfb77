//! Which objects a list or a watch is about.

mod fields;
mod labels;

use crate::failure::Failure;
use crate::object::Object;
use crate::query::Query;
use crate::resource::Resource;

pub(crate) use fields::Fields;
pub use labels::{BadSelector, Labels};

/// Objects by their labels and fields.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    pub(crate) labels: Labels,
    pub(crate) fields: Fields,
}

impl Selection {
    /// The selection that a request asks for.
    pub(crate) fn parse(resource: &Resource, query: &Query) -> Result<Self, Failure> {
        let labels = query.get("labelSelector").unwrap_or_default();
        let labels = Labels::parse(labels).map_err(|it| Failure::bad_request(it.to_string()))?;
        let fields = Fields::parse(resource, query.get("fieldSelector").unwrap_or_default())?;
        Ok(Self { labels, fields })
    }

    pub(crate) fn matches(&self, object: &Object) -> bool {
        self.labels.matches(|key| object.label(key)) && self.fields.matches(object)
    }

    /// Whether it selects everything.
    pub(crate) fn is_everything(&self) -> bool {
        self.labels.is_everything() && self.fields.is_everything()
    }
}
