//! Kinds as kubectl takes them: plural, singular, short name or the kind itself, with the group and version behind it.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::APIResource;
use kube::core::{ApiResource, GroupVersionKind};

/// What a user may mean by `jobs.v1.batch`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reading<'a> {
    name: &'a str,
    /// `None`: any.
    group: Option<&'a str>,
    /// `None`: the preferred one, or any that has it.
    version: Option<&'a str>,
}

impl<'a> Reading<'a> {
    /// All of them: a dot may stand before a version or before a group, whose name has dots too.
    pub(super) fn all(text: &'a str) -> Vec<Self> {
        let Some((name, rest)) = text.split_once('.') else {
            return vec![Self { name: text, group: None, version: None }];
        };
        let mut all = vec![Self { name, group: Some(rest), version: None }];
        if let Some((version, group)) = rest.split_once('.') {
            all.push(Self { name, group: Some(group), version: Some(version) });
        }
        all
    }

    pub(super) fn may_be_in(&self, group: &str, version: &str) -> bool {
        self.group.is_none_or(|it| it == group) && self.version.is_none_or(|it| it == version)
    }

    /// Whether a row of the API server's lists is meant. Subresources are not.
    pub(super) fn means(&self, row: &APIResource) -> bool {
        let name = self.name.to_lowercase();
        let mut short = row.short_names.iter().flatten();
        !row.name.contains('/')
            && (row.name == name
                || row.singular_name == name
                || row.kind.to_lowercase() == name
                || short.any(|it| *it == name))
    }
}

/// A kind that the API server serves.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Served {
    pub(super) resource: ApiResource,
    pub(super) namespaced: bool,
}

impl Served {
    pub(super) fn of(row: &APIResource, group: &str, version: &str) -> Self {
        let kind = GroupVersionKind::gvk(group, version, &row.kind);
        let resource = ApiResource::from_gvk_with_plural(&kind, &row.name);
        Self { resource, namespaced: row.namespaced }
    }
}

/// `jobs.batch`, or `pods`.
pub(super) fn full_name(resource: &ApiResource) -> String {
    match resource.group.as_str() {
        "" => resource.plural.clone(),
        group => format!("{}.{group}", resource.plural),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, singular: &str, kind: &str, short: &[&str]) -> APIResource {
        APIResource {
            name: name.to_owned(),
            singular_name: singular.to_owned(),
            kind: kind.to_owned(),
            short_names: Some(short.iter().map(|it| (*it).to_owned()).collect()),
            namespaced: true,
            ..APIResource::default()
        }
    }

    /// By name, group and version of a row: whether it is meant.
    #[test]
    fn a_kind_is_found_by_each_of_its_names() {
        let jobs = row("jobs", "job", "Job", &[]);
        let sets = row("statefulsets", "statefulset", "StatefulSet", &["sts"]);
        let status = row("jobs/status", "", "Job", &[]);
        let trees = row("jobsets", "jobset", "JobSet", &[]);
        let rows = [
            ("job", &jobs, ("batch", "v1"), true),
            ("jobs", &jobs, ("batch", "v1"), true),
            ("Job", &jobs, ("batch", "v1"), true),
            ("job.batch", &jobs, ("batch", "v1"), true),
            ("jobs.v1.batch", &jobs, ("batch", "v1"), true),
            ("jobs.v2.batch", &jobs, ("batch", "v1"), false),
            ("job.apps", &jobs, ("batch", "v1"), false),
            ("job", &status, ("batch", "v1"), false),
            ("sts", &sets, ("apps", "v1"), true),
            ("st", &sets, ("apps", "v1"), false),
            ("jobset.jobset.x-k8s.io", &trees, ("jobset.x-k8s.io", "v1alpha2"), true),
            ("jobset.v1alpha2.jobset.x-k8s.io", &trees, ("jobset.x-k8s.io", "v1alpha2"), true),
            ("jobset.x-k8s.io", &trees, ("jobset.x-k8s.io", "v1alpha2"), false),
        ];
        for (text, row, (group, version), want) in rows {
            let readings = Reading::all(text);
            let is = readings.iter().any(|it| it.may_be_in(group, version) && it.means(row));
            assert_eq!(is, want, "{text}");
        }
    }

    #[test]
    fn a_kind_is_named_with_its_group() {
        let of = |group: &str, plural: &str| {
            full_name(&Served::of(&row(plural, "", "X", &[]), group, "v1").resource)
        };
        assert_eq!((of("", "pods"), of("batch", "jobs")), ("pods".to_owned(), "jobs.batch".to_owned()));
    }
}
