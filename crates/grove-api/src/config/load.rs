//! From a parsed file to a configuration that the operator can use, or to everything that is wrong with it.

use serde_json::{Map, Value};

use super::{
    backend::KnownBackend,
    defaults::{self, overlay},
    findings::Findings,
    keys,
    profiles::SchedulerProfiles,
    resolve::resolve,
    types::{Debugging, OperatorConfiguration},
    validate, walk,
};
use crate::{
    field::{Error, Errors, Path, Warning},
    ignored,
};

/// A configuration that was accepted.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The configuration, complete.
    pub config: OperatorConfiguration,
    /// The schedulers it makes active.
    pub profiles: SchedulerProfiles,
    /// What works today and should be changed, in the order of the fields.
    pub warnings: Vec<Warning>,
}

/// Reads the configuration from a parsed file. `known` are the scheduler backends that profiles may name.
///
/// The errors are all there are, in the order of the fields.
pub fn load(value: &Value, known: &[KnownBackend<'_>]) -> Result<Loaded, Errors> {
    let mut findings = Findings::default();
    let empty = Value::Object(Map::new());
    let value = if value.is_null() { &empty } else { value };
    let given = walk::read(value, &keys::FILE, &Path::root(), keys::ACCEPTED, &mut findings);
    let Some(mut config) = given.and_then(|given| complete(given).map_err(|error| findings.add(error)).ok())
    else {
        return Err(findings.errors);
    };
    validate::check(&config, &mut findings);
    let profiles = resolve(&mut config, known, &mut findings);
    findings.warnings.extend(ignored::in_configuration(&config));
    let warnings = findings.into_result()?;
    Ok(Loaded { config, profiles, warnings })
}

/// The defaults with `given` on top. `given` has been checked, so that an error means that `keys` and `types`
/// disagree.
fn complete(given: Value) -> Result<OperatorConfiguration, Error> {
    let cannot_write =
        |error: serde_json::Error| Error::type_invalid(Path::root(), Value::Null, error.to_string());
    let mut whole = serde_json::to_value(OperatorConfiguration::default()).map_err(cannot_write)?;
    if given.get("debugging").is_some() {
        whole["debugging"] = serde_json::to_value(Debugging::default()).map_err(cannot_write)?;
    }
    overlay(&mut whole, given);
    let mut config: OperatorConfiguration = serde_path_to_error::deserialize(&whole).map_err(|error| {
        let path = Path::parse(&error.path().to_string());
        Error::type_invalid(path, Value::Null, error.inner().to_string())
    })?;
    // As upstream: a client without any burst could not send a request.
    if config.runtime_client_connection.burst == 0 {
        config.runtime_client_connection.burst = defaults::BURST;
    }
    Ok(config)
}
