//! Fields that a kind does not know, and fields that come twice: dropped, with a warning, or refused, as the client wishes
//! (`fieldValidation`).

use serde_json::Value;

use crate::failure::{Cause, Failure};
use crate::kinds::{self, Problem};
use crate::query::Query;
use crate::resource::Resource;

/// What a client wishes to hear of such fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Validation {
    #[default]
    Ignore,
    Warn,
    Strict,
}

/// As many characters of a body as a refusal shows.
const SHOWN: usize = 1_000;

/// The check of one request, and what there is to warn of.
#[derive(Clone, Debug, Default)]
pub(crate) struct FieldCheck {
    validation: Validation,
    /// Fields that come twice in the body.
    duplicates: Vec<String>,
    warnings: Vec<String>,
}

impl FieldCheck {
    /// The check that a request asks for. Who asks for nothing is warned.
    pub(crate) fn parse(query: &Query, options: &str, duplicates: Vec<String>) -> Result<Self, Failure> {
        let validation = match query.get("fieldValidation") {
            None | Some("Warn") => Validation::Warn,
            Some("Ignore") => Validation::Ignore,
            Some("Strict") => Validation::Strict,
            Some(other) => {
                let known = ["", "Ignore", "Strict", "Warn"];
                let cause = Cause::not_supported("fieldValidation", other, &known);
                return Err(Failure::invalid_options(options, cause));
            }
        };
        Ok(Self { validation, duplicates, warnings: Vec::new() })
    }

    /// What the client is to be warned of.
    pub(crate) fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Checks an object that a client sent.
    pub(super) fn sent(&mut self, resource: &Resource, object: &mut Value) -> Result<(), Failure> {
        let refused = |why: &str| {
            let (kind, version) = (&resource.kind, &resource.version);
            Failure::bad_request(format!(
                "{kind} in version {version:?} cannot be handled as a {kind}: {why}"
            ))
        };
        self.check(resource, object).map_err(|it| refused(&it))
    }

    /// Checks an object that a patch made. Now the patch is wrong, not the request.
    pub(super) fn patched(&mut self, resource: &Resource, object: &mut Value) -> Result<(), Failure> {
        self.check(resource, object).map_err(|why| {
            let shown: String = object.to_string().chars().take(SHOWN).collect();
            Failure::invalid_patch(Cause::invalid("patch", &format!("{shown:?}"), &why))
        })
    }

    /// Takes out what is not known. The error says what cannot be.
    fn check(&mut self, resource: &Resource, object: &mut Value) -> Result<(), String> {
        let Problem { unknown, wrong } = problems(resource, object);
        if let Some(wrong) = wrong {
            return Err(wrong);
        }
        let duplicates = std::mem::take(&mut self.duplicates);
        let duplicates = duplicates.into_iter().map(|it| format!("duplicate field {it:?}"));
        let problems: Vec<String> =
            unknown.into_iter().map(|it| format!("unknown field {it:?}")).chain(duplicates).collect();
        match self.validation {
            Validation::Strict if !problems.is_empty() => {
                return Err(format!("strict decoding error: {}", problems.join(", ")));
            }
            Validation::Warn => self.warnings.extend(problems),
            Validation::Strict | Validation::Ignore => {}
        }
        Ok(())
    }
}

/// What the kind does not know. It is taken out here; of custom kinds, with all else that their schema says.
pub(super) fn problems(resource: &Resource, object: &mut Value) -> Problem {
    match resource.definition {
        Some(definition) if resource.strict => kinds::check(&resource.kind, definition, object),
        _ => Problem { unknown: resource.unknown_fields(object), wrong: None },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(query: &str, mut object: Value) -> Result<Vec<String>, Failure> {
        let resource = Resource::built_in("", "v1", "ConfigMap", "configmaps").into_strict();
        let mut check = FieldCheck::parse(&Query::parse(query), "CreateOptions", vec!["data.a".to_owned()])?;
        check.sent(&resource, &mut object)?;
        assert_eq!(object, json!({"data": {}}));
        Ok(check.warnings)
    }

    #[test]
    fn as_the_client_wishes() {
        let object = || json!({"data": {}, "datum": 1});
        let both = ["unknown field \"datum\"", "duplicate field \"data.a\""].map(str::to_owned).to_vec();
        assert_eq!(check("", object()), Ok(both.clone()));
        assert_eq!(check("fieldValidation=Warn", object()), Ok(both));
        assert_eq!(check("fieldValidation=Ignore", object()), Ok(Vec::new()));
        let refused = check("fieldValidation=Strict", object()).unwrap_err();
        let why = "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: unknown field \"datum\", duplicate field \"data.a\"";
        assert_eq!((refused.code, refused.message.as_str()), (400, why));
        assert_eq!(check("fieldValidation=Gentle", object()).unwrap_err().code, 422);
    }
}
