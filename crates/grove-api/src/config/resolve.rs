//! Which schedulers the file makes active, and which one pods get that name none.
//!
//! A scheduler can be asked for in three ways: `scheduler.profiles` (with `default: true` on one of them),
//! `scheduler.defaultProfileName`, and the deprecated `schedulerName`, which stands for one default profile.
//! All of them end in one list, and the configuration is rewritten to say the same.

use serde_json::{Map, Value};

use super::{
    backend::KnownBackend,
    findings::Findings,
    profiles::{ActiveProfile, SchedulerProfiles},
    shape::quoted,
    types::{OperatorConfiguration, Scheduler, SchedulerProfile},
};
use crate::field::{Error, Path};

/// Decides the active schedulers, and writes them back into `config`.
pub(super) fn resolve(
    config: &mut OperatorConfiguration,
    known: &[KnownBackend<'_>],
    findings: &mut Findings,
) -> SchedulerProfiles {
    let requests = requests(config, findings);
    let mut active = listed(&requests, known, findings);
    for backend in known.iter().filter(|backend| backend.always_active) {
        if active.iter().all(|profile| profile.name != backend.name) {
            active.push(activate(backend, Value::Object(Map::new())));
        }
    }
    let flagged = flagged_default(&requests, findings);
    if let Some(name) = &config.scheduler.default_profile_name {
        check_named_default(name, flagged, &requests, &active, known, findings);
    }
    let chosen = config.scheduler.default_profile_name.as_ref().or(flagged.map(|it| &it.profile.name));
    let default = match chosen {
        Some(name) => canonical(name, known).to_owned(),
        None => default_of_last_resort(&active, known, findings),
    };
    config.scheduler_name = None;
    config.scheduler = rewritten(&active, &default);
    SchedulerProfiles { active, default }
}

/// A profile that the file asks for, and where it does.
struct Request {
    profile: SchedulerProfile,
    name_at: Path,
    config_at: Path,
    default_at: Path,
}

fn requests(config: &OperatorConfiguration, findings: &mut Findings) -> Vec<Request> {
    let scheduler = &config.scheduler;
    if let Some(name) = &config.scheduler_name {
        let at = Path::of(&["schedulerName"]);
        if scheduler.profiles.is_empty() && scheduler.default_profile_name.is_none() {
            let profile =
                SchedulerProfile { name: name.clone(), default: true, ..SchedulerProfile::default() };
            return vec![Request { profile, name_at: at.clone(), config_at: at.clone(), default_at: at }];
        }
        let detail = "may not be combined with scheduler.profiles or scheduler.defaultProfileName";
        findings.add(Error::forbidden(at, detail));
    }
    let list = Path::of(&["scheduler", "profiles"]);
    let request = |(index, profile): (usize, &SchedulerProfile)| {
        let at = |key: &str| list.index(index).child(key);
        Request {
            profile: profile.clone(),
            name_at: at("name"),
            config_at: at("config"),
            default_at: at("default"),
        }
    };
    scheduler.profiles.iter().enumerate().map(request).collect()
}

/// The backends of the requests, each once.
fn listed(requests: &[Request], known: &[KnownBackend<'_>], findings: &mut Findings) -> Vec<ActiveProfile> {
    let mut active: Vec<ActiveProfile> = Vec::new();
    for request in requests {
        let SchedulerProfile { name, config, .. } = &request.profile;
        let Some(backend) = called(name, known) else {
            let supported: Vec<&str> =
                known.iter().flat_map(|it| [&[it.name], it.synonyms].concat()).collect();
            findings.add(Error::not_supported(request.name_at.clone(), name, &supported));
            continue;
        };
        for error in (backend.check_config)(config, &request.config_at) {
            findings.add(error);
        }
        if active.iter().any(|it| it.name == backend.name) {
            findings.add(Error::duplicate(request.name_at.clone(), name));
        } else {
            active.push(activate(backend, config.clone()));
        }
    }
    active
}

/// The first request that is marked as the default.
fn flagged_default<'a>(requests: &'a [Request], findings: &mut Findings) -> Option<&'a Request> {
    let mut flagged = requests.iter().filter(|request| request.profile.default);
    let first = flagged.next()?;
    for again in flagged {
        let detail = format!("{} is set already, and there is only one default", first.default_at);
        findings.add(Error::invalid(again.default_at.clone(), true, detail));
    }
    Some(first)
}

/// `scheduler.defaultProfileName` must be active and must agree with the request that is marked.
fn check_named_default(
    name: &str,
    flagged: Option<&Request>,
    requests: &[Request],
    active: &[ActiveProfile],
    known: &[KnownBackend<'_>],
    findings: &mut Findings,
) {
    let at = Path::of(&["scheduler", "defaultProfileName"]);
    // One that is listed and yet not active has its own error.
    let is_listed = requests.iter().any(|request| request.profile.name == name);
    if !is_listed && active.iter().all(|profile| profile.name != canonical(name, known)) {
        let choices: Vec<&str> = active.iter().map(|profile| profile.name.as_str()).collect();
        let detail = format!("must be one of the active schedulers: {}", quoted(&choices));
        findings.add(Error::invalid(at, name, detail));
    } else if let Some(other) =
        flagged.filter(|it| canonical(&it.profile.name, known) != canonical(name, known))
    {
        let detail = format!("{} marks another default; leave one of them out", other.default_at);
        findings.add(Error::invalid(at, name, detail));
    }
}

/// The default where the file names none.
fn default_of_last_resort(
    active: &[ActiveProfile],
    known: &[KnownBackend<'_>],
    findings: &mut Findings,
) -> String {
    let always = known.iter().find(|backend| backend.always_active).map(|backend| backend.name);
    let name = always.or(active.first().map(|profile| profile.name.as_str()));
    if name.is_none() {
        let at = Path::of(&["scheduler", "profiles"]);
        findings.add(Error::required(at, "at least one scheduler must be active"));
    }
    name.unwrap_or_default().to_owned()
}

/// The block of a file that means the same.
fn rewritten(active: &[ActiveProfile], default: &str) -> Scheduler {
    let profile = |it: &ActiveProfile| SchedulerProfile {
        name: it.name.clone(),
        config: it.config.clone(),
        default: it.name == default,
    };
    Scheduler {
        profiles: active.iter().map(profile).collect(),
        default_profile_name: Some(default.to_owned()),
    }
}

fn activate(backend: &KnownBackend<'_>, config: Value) -> ActiveProfile {
    ActiveProfile { name: backend.name.to_owned(), config, topology_aware: backend.topology_aware }
}

fn called<'a, 'b>(name: &str, known: &'a [KnownBackend<'b>]) -> Option<&'a KnownBackend<'b>> {
    known.iter().find(|backend| backend.is_called(name))
}

/// The name that pods carry; an unknown name stands for itself.
fn canonical<'a>(name: &'a str, known: &[KnownBackend<'a>]) -> &'a str {
    called(name, known).map_or(name, |backend| backend.name)
}
