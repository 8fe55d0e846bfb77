//! In which form a client wants its answer.

use http::HeaderMap;
use http::header::ACCEPT;

use crate::failure::Failure;

/// The form of objects in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Whole objects.
    Whole,
    /// Only metadata: `PartialObjectMetadata` and lists of it.
    Metadata,
}

impl Form {
    /// The first form that the client accepts and we have.
    pub(crate) fn wanted(headers: &HeaderMap) -> Result<Self, Failure> {
        let Some(accept) = headers.get(ACCEPT).and_then(|it| it.to_str().ok()) else {
            return Ok(Self::Whole);
        };
        accept.split(',').find_map(Self::read).ok_or_else(Failure::not_acceptable)
    }

    fn read(accepted: &str) -> Option<Self> {
        let mut parts = accepted.split(';').map(str::trim);
        if !matches!(parts.next()?, "application/json" | "application/*" | "*/*" | "") {
            return None;
        }
        match parts.find_map(|it| it.strip_prefix("as=")) {
            None => Some(Self::Whole),
            Some("PartialObjectMetadata" | "PartialObjectMetadataList") => Some(Self::Metadata),
            Some(_) => None,
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
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
        for (accept, expected) in [
            ("application/json", Some(Form::Whole)),
            ("*/*", Some(Form::Whole)),
            (metadata, Some(Form::Metadata)),
            ("application/json; as=PartialObjectMetadata; v=v1", Some(Form::Metadata)),
            (&format!("{table},application/json"), Some(Form::Whole)),
            ("application/vnd.kubernetes.protobuf,application/json", Some(Form::Whole)),
            (table, None),
            ("text/html", None),
        ] {
            let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_str(accept).unwrap())]);
            assert_eq!(Form::wanted(&headers).ok(), expected, "{accept}");
        }
        assert_eq!(Form::wanted(&HeaderMap::new()), Ok(Form::Whole));
    }
}
