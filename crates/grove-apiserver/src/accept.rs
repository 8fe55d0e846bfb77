//! In which form a client wants its answer.

use http::HeaderMap;
use http::header::ACCEPT;

use crate::failure::Failure;
use crate::query::Query;

/// The form of objects in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Whole objects.
    Whole,
    /// Only metadata: `PartialObjectMetadata` and lists of it.
    Metadata,
    /// A table, for people.
    Table(Include),
}

/// What the row of a table has of its object, besides the cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Include {
    /// Nothing.
    Nothing,
    /// Its metadata.
    Metadata,
    /// All of it.
    Object,
}

impl Form {
    /// The first form that the client accepts and we have.
    pub(crate) fn wanted(headers: &HeaderMap, query: &Query) -> Result<Self, Failure> {
        let Some(accept) = headers.get(ACCEPT).and_then(|it| it.to_str().ok()) else {
            return Ok(Self::Whole);
        };
        let form = accept.split(',').find_map(Self::read).ok_or_else(Failure::not_acceptable)?;
        match form {
            Self::Table(_) => Include::wanted(query).map(Self::Table),
            form => Ok(form),
        }
    }

    fn read(accepted: &str) -> Option<Self> {
        let mut parts = accepted.split(';').map(str::trim);
        if !matches!(parts.next()?, "application/json" | "application/*" | "*/*" | "") {
            return None;
        }
        match parts.find_map(|it| it.strip_prefix("as=")) {
            None => Some(Self::Whole),
            Some("PartialObjectMetadata" | "PartialObjectMetadataList") => Some(Self::Metadata),
            // There were others before v1.
            Some("Table") if !accepted.contains("v=v1beta1") => Some(Self::Table(Include::Metadata)),
            Some(_) => None,
        }
    }
}

impl Include {
    fn wanted(query: &Query) -> Result<Self, Failure> {
        match query.get("includeObject") {
            None | Some("Metadata") => Ok(Self::Metadata),
            Some("None") => Ok(Self::Nothing),
            Some("Object") => Ok(Self::Object),
            Some(other) => Err(Failure::bad_request(format!("unrecognized includeObject value: {other:?}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn the_first_form_that_we_have() {
        let metadata = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
        let table = "application/json;as=Table;g=meta.k8s.io;v=v1";
        for (accept, expected) in [
            ("application/json", Some(Form::Whole)),
            ("*/*", Some(Form::Whole)),
            (metadata, Some(Form::Metadata)),
            ("application/json; as=PartialObjectMetadata; v=v1", Some(Form::Metadata)),
            (&format!("{table},application/json"), Some(Form::Table(Include::Metadata))),
            (&format!("{table}beta1,application/json"), Some(Form::Whole)),
            ("application/vnd.kubernetes.protobuf,application/json", Some(Form::Whole)),
            ("text/html", None),
        ] {
            let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_str(accept).unwrap())]);
            assert_eq!(Form::wanted(&headers, &Query::default()).ok(), expected, "{accept}");
        }
        assert_eq!(Form::wanted(&HeaderMap::new(), &Query::default()), Ok(Form::Whole));
        let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(table))]);
        let including = |what: &str| Form::wanted(&headers, &Query::parse(&format!("includeObject={what}")));
        assert_eq!(including("None"), Ok(Form::Table(Include::Nothing)));
        assert_eq!(including("Object"), Ok(Form::Table(Include::Object)));
        assert_eq!(including("Some").unwrap_err().code, 400);
    }
}
