//! Resources of a container: requests and limits.

use std::collections::BTreeMap;

use k8s_openapi::{api::core::v1::ResourceRequirements, apimachinery::pkg::api::resource::Quantity};

use super::{NEGATIVE, kubernetes};
use crate::{
    field::{Error, Errors, Path},
    quantity::Amount,
};

pub(super) fn check(requirements: &ResourceRequirements, path: &Path, errors: &mut Errors) {
    let empty = BTreeMap::new();
    let limits = requirements.limits.as_ref().unwrap_or(&empty);
    let requests = requirements.requests.as_ref().unwrap_or(&empty);
    each(limits, &path.child("limits"), errors);
    each(requests, &path.child("requests"), errors);
    for (name, request) in requests {
        let Some(limit) = limits.get(name) else {
            if !may_be_overcommitted(name) {
                let detail = "Limit must be set for non overcommitable resources";
                errors.push(Error::required(path.child("limits"), detail));
            }
            continue;
        };
        let (Some(asked), Some(allowed)) = (Amount::parse(&request.0), Amount::parse(&limit.0)) else {
            continue;
        };
        let relation = match asked.cmp(&allowed) {
            std::cmp::Ordering::Equal => continue,
            _ if !may_be_overcommitted(name) => "must be equal to",
            std::cmp::Ordering::Less => continue,
            std::cmp::Ordering::Greater => "must be less than or equal to",
        };
        let detail = format!("{relation} {name} limit of {}", limit.0);
        errors.push(Error::invalid(path.child("requests"), &request.0, detail));
    }
    let has = |test: fn(&str) -> bool| limits.keys().chain(requests.keys()).any(|it| test(it));
    if has(is_huge_page) && !has(|it| matches!(it, "cpu" | "memory")) {
        errors.push(Error::forbidden(path.clone(), "HugePages require cpu or memory"));
    }
}

fn each(quantities: &BTreeMap<String, Quantity>, path: &Path, errors: &mut Errors) {
    for (name, quantity) in quantities {
        let path = path.key(name);
        if let Some(detail) = wrong_name(name) {
            errors.push(Error::invalid(path.clone(), name, detail));
        }
        let Some(amount) = Amount::parse(&quantity.0) else { continue };
        if amount.is_negative() {
            errors.push(Error::invalid(path, &quantity.0, NEGATIVE));
        } else if is_extended(name) && !amount.is_whole() {
            errors.push(Error::invalid(path, &quantity.0, "must be an integer"));
        }
    }
}

/// What is wrong with the name of a container's resource.
fn wrong_name(name: &str) -> Option<&'static str> {
    if !kubernetes::is_qualified_name(name) {
        return Some(
            "must be a resource name: cpu, memory, ephemeral-storage, or one such as example.com/device",
        );
    }
    let is_standard = matches!(name, "cpu" | "memory" | "ephemeral-storage") || is_huge_page(name);
    (!name.contains('/') && !is_standard).then_some("must be a standard resource type or fully qualified")
}

fn is_huge_page(name: &str) -> bool {
    name.starts_with("hugepages-")
}

/// Not one of Kubernetes' own.
fn is_extended(name: &str) -> bool {
    name.contains('/') && !name.contains("kubernetes.io/")
}

fn may_be_overcommitted(name: &str) -> bool {
    !is_extended(name) && !is_huge_page(name)
}
