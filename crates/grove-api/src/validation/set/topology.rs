//! `topologyConstraint` at three levels: the set, its groups, its cliques.

use super::{Subject, Verdict, template_path};
use crate::{
    field::{Error, Errors, Path},
    messages,
    wire::{TopologyConstraint, TopologyLevel},
};

/// A constraint, where it stands, and what it is inside of.
pub(super) struct Placed<'a> {
    pub(super) path: Path,
    pub(super) constraint: &'a TopologyConstraint,
    /// Constraints of the levels above, nearest first.
    parents: Vec<(Path, &'a TopologyConstraint)>,
}

/// All constraints of a set, in field order.
pub(super) fn constraints<'a>(subject: &Subject<'a>) -> Vec<Placed<'a>> {
    let template = subject.template();
    let at = |path: &Path| path.child("topologyConstraint");
    let set = template.topology_constraint.as_ref().map(|it| (at(&template_path()), it));
    let group_of = |clique: &str| {
        subject
            .groups()
            .find(|(_, group)| group.clique_names.iter().any(|name| name == clique))
            .and_then(|(path, group)| Some((at(&path), group.topology_constraint.as_ref()?)))
    };
    let mut all = Vec::new();
    for (path, clique) in subject.cliques() {
        if let Some(constraint) = &clique.topology_constraint {
            let parents = group_of(&clique.name).into_iter().chain(set.clone()).collect();
            all.push(Placed { path: at(&path), constraint, parents });
        }
    }
    if let Some((path, constraint)) = set.clone() {
        all.push(Placed { path, constraint, parents: Vec::new() });
    }
    for (path, group) in subject.groups() {
        if let Some(constraint) = &group.topology_constraint {
            all.push(Placed { path: at(&path), constraint, parents: set.clone().into_iter().collect() });
        }
    }
    all
}

/// The rules of a new set.
pub(super) fn check_new(subject: &Subject<'_>, verdict: &mut Verdict) {
    let all = constraints(subject);
    for placed in all.iter().filter(|it| it.constraint.pack_domain.is_some()) {
        verdict.errors.push(Error::forbidden(placed.path.child("packDomain"), messages::PACK_DOMAIN_NEW));
    }
    check_names_and_levels(subject, &all, verdict);
}

/// Names resolve to one topology that exists, domains are levels of it, and no level is inside a narrower one.
pub(super) fn check_names_and_levels(subject: &Subject<'_>, all: &[Placed<'_>], verdict: &mut Verdict) {
    for placed in all {
        shape(placed, &mut verdict.errors);
    }
    match subject.environment.topology_aware {
        Some(false) => {
            let detail = "topology-aware scheduling is off: set topologyAwareScheduling.enabled in the operator configuration";
            let error = |it: &Placed<'_>| Error::invalid(it.path.clone(), it.constraint, detail);
            verdict.errors.extend(all.iter().map(error));
            return;
        }
        None if !all.is_empty() => {
            let text = "not checked whether topology-aware scheduling is on: give the operator configuration";
            verdict.warn(all[0].path.clone(), text);
        }
        _ => {}
    }
    let Some((path, name)) = one_name(all, &mut verdict.errors) else { return };
    if let Some(levels) = levels_of(subject, path, name, verdict) {
        for placed in all {
            domains(placed, name, levels, verdict);
        }
    }
}

/// The levels of the topology that is named at `path`; where they are not known, it is told.
pub(super) fn levels_of<'a>(
    subject: &Subject<'a>,
    path: Path,
    name: &str,
    verdict: &mut Verdict,
) -> Option<&'a [TopologyLevel]> {
    let environment = subject.environment;
    let levels = environment.topology(name);
    if levels.is_none() && environment.all_topologies_known {
        // A user who named none should know whose name it is.
        let whose = match &environment.default_topology {
            Some(default) if default == name => "; it is the default of the operator's configuration",
            _ => "",
        };
        let detail =
            format!("there is no ClusterTopologyBinding and no Topology of Kueue of this name{whose}");
        verdict.errors.push(Error::not_found(path, name, detail));
    } else if levels.is_none() {
        verdict.warn(path, format!("levels not checked: topology {name:?} is not among the files"));
    }
    levels
}

/// What is wrong with a level that a topology does not have.
pub(super) fn no_level<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    format!("not a level of topology {name:?}, which has: {}", known.collect::<Vec<_>>().join(", "))
}

fn shape(placed: &Placed<'_>, errors: &mut Errors) {
    let constraint = placed.constraint;
    let pack = placed.path.child("pack");
    match (&constraint.pack, &constraint.pack_domain) {
        (None, None) => errors.push(Error::required(pack, messages::PACK_MISSING)),
        (Some(it), Some(_)) if it.required.is_some() => {
            errors.push(Error::invalid(pack.child("required"), &it.required, messages::PACK_BOTH));
        }
        (Some(it), _) if it.required.is_none() && it.preferred.is_none() => {
            errors.push(Error::required(pack, messages::PACK_EMPTY));
        }
        _ => {}
    }
}

/// The name that a constraint has or inherits.
pub(super) fn resolved_name<'a>(placed: &Placed<'a>) -> Option<&'a str> {
    placed.constraint.topology().or_else(|| placed.parents.iter().find_map(|(_, parent)| parent.topology()))
}

/// The one topology of the set, and where it is named. Every constraint has to resolve to it.
fn one_name<'a>(all: &[Placed<'a>], errors: &mut Errors) -> Option<(Path, &'a str)> {
    let before = errors.len();
    for placed in all.iter().filter(|it| resolved_name(it).is_none()) {
        let detail = "name the topology here, or at a level above";
        errors.push(Error::required(placed.path.child("topologyName"), detail));
    }
    let mut named: Vec<(&Placed<'a>, &'a str)> =
        all.iter().filter_map(|it| Some((it, it.constraint.topology()?))).collect();
    // The broadest level has the say.
    named.sort_by_key(|(placed, _)| placed.parents.len());
    let (first, name) = *named.first()?;
    for (placed, other) in named.iter().filter(|(_, other)| *other != name) {
        let detail = format!("a set uses one topology, and {} says {name:?}", first.path);
        errors.push(Error::invalid(placed.path.child("topologyName"), other, detail));
    }
    (errors.len() == before).then(|| (first.path.child("topologyName"), name))
}

fn domains(placed: &Placed<'_>, name: &str, levels: &[TopologyLevel], verdict: &mut Verdict) {
    let level = |domain: &str| levels.iter().position(|it| it.domain == domain);
    let constraint = placed.constraint;
    let required_path = match &constraint.pack_domain {
        Some(_) if constraint.pack.as_ref().is_none_or(|it| it.required.is_none()) => {
            placed.path.child("packDomain")
        }
        _ => placed.path.child("pack").child("required"),
    };
    let preferred_path = placed.path.child("pack").child("preferred");
    for (path, domain) in [(&required_path, constraint.required()), (&preferred_path, constraint.preferred())]
    {
        if let Some(domain) = domain.filter(|it| level(it).is_none()) {
            let detail = no_level(name, levels.iter().map(|it| it.domain.as_str()));
            verdict.errors.push(Error::invalid(path.clone(), domain, detail));
        }
    }
    let index = |domain: Option<&str>| domain.and_then(level);
    if let (Some(preferred), Some(required)) = (index(constraint.preferred()), index(constraint.required()))
        && preferred < required
    {
        verdict.warn(preferred_path, "has no effect: it is broader than the required domain");
    }
    for (parent_path, parent) in &placed.parents {
        let inside = placed.path.parent().unwrap_or_default();
        if narrower(index(parent.required()), index(constraint.required())) {
            let detail = format!("is narrower than what {inside} requires");
            verdict.errors.push(Error::invalid(parent_path.clone(), parent.required(), detail));
        }
        if narrower(index(parent.preferred()), index(constraint.preferred())) {
            let detail = format!("is narrower than what {inside} prefers");
            let path = parent_path.child("pack").child("preferred");
            verdict.errors.push(Error::invalid(path, parent.preferred(), detail));
        }
    }
}

/// Levels run from the broadest to the narrowest.
fn narrower(parent: Option<usize>, child: Option<usize>) -> bool {
    matches!((parent, child), (Some(parent), Some(child)) if parent > child)
}
