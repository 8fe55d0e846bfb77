//! What there is: groups, versions, resources. `catalog` lists it; `legacy` and `aggregated` are its two forms.

mod aggregated;
mod catalog;
mod legacy;

use http::HeaderMap;
use http::Response;
use serde_json::{Value, json};

pub(crate) use catalog::{Catalog, ResourceEntry, VersionEntry};
pub(crate) use legacy::{group_version, one_group};

use crate::body::Body;
use crate::resource::Resources;
use crate::service::{answer_value, refuse};

/// `/version`: the release whose behaviour this server has.
pub(crate) fn version() -> Value {
    json!({
        "major": "1", "minor": "37", "emulationMajor": "1", "emulationMinor": "37", "minCompatibilityMajor": "1",
        "minCompatibilityMinor": "36", "gitVersion": "v1.37.0+grove", "gitCommit": "", "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z", "goVersion": "", "compiler": "rustc",
        "platform": format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH),
    })
}

/// `/api`
pub(crate) fn core_versions(resources: &Resources, headers: &HeaderMap) -> Response<Body> {
    let legacy = json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []});
    answer(headers, || aggregated::groups(&Catalog::of(resources), true), || legacy)
}

/// `/apis`
pub(crate) fn groups(resources: &Resources, headers: &HeaderMap) -> Response<Body> {
    let catalog = Catalog::of(resources);
    answer(headers, || aggregated::groups(&catalog, false), || legacy::groups(&catalog))
}

/// In the form that the client wants most of those that we have.
fn answer(
    headers: &HeaderMap,
    aggregated: impl FnOnce() -> Value,
    legacy: impl FnOnce() -> Value,
) -> Response<Body> {
    match aggregated::is_wanted(headers) {
        Ok(true) => aggregated::respond(headers, &aggregated()),
        Ok(false) => answer_value(200, &legacy()),
        Err(failure) => refuse(&failure),
    }
}
