//! Checks that every crate from elsewhere may be used under a licence that `deny.toml` allows.

use crate::finding::Finding;
use crate::metadata::{Metadata, Package};
use crate::policy::Policy;
use crate::spdx;

/// Reports packages whose licence is absent, unreadable or not allowed. Workspace members are not looked at.
pub(crate) fn check(metadata: &Metadata, policy: &Policy) -> Vec<Finding> {
    let problems = metadata.externals().filter_map(|package| {
        let problem = problem(package, policy)?;
        Some(Finding::new(
            format!("{} {}", package.name, package.version),
            format!("{problem}; it comes by {}", metadata.route_to(package)),
        ))
    });
    problems.collect()
}

fn problem(package: &Package, policy: &Policy) -> Option<String> {
    let exception = policy.exceptions.get(&package.name);
    let Some(expression) = &package.licence else {
        // Its text cannot be judged here, so a person judges it and lists the crate.
        return exception.is_none().then(|| {
            "its manifest names no licence, read its licence file and add the crate to [[licenses.exceptions]] \
             in deny.toml"
                .to_owned()
        });
    };
    let accepts =
        |licence: &str| policy.licences.contains(licence) || exception.is_some_and(|it| it.contains(licence));
    match spdx::satisfiable(expression, &accepts) {
        Ok(true) => None,
        Ok(false) => Some(format!(
            "licence `{expression}` is not allowed, replace the crate or allow the licence in deny.toml"
        )),
        Err(error) => Some(format!(
            "licence `{expression}` cannot be read ({error}), replace the crate or have its manifest corrected"
        )),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fixture::lines;

    const POLICY: &str = r#"
        [licenses]
        allow = ["MIT", "Apache-2.0"]
        [[licenses.exceptions]]
        crate = "odd"
        allow = ["Odd-1.0"]
        [bans]
    "#;

    /// The findings about one external package.
    fn found(name: &str, licence: Option<&str>) -> Vec<String> {
        let metadata = json!({
            "packages": [
                { "id": "app", "name": "app", "version": "0.1.0", "license": null, "dependencies": [] },
                { "id": "x", "name": name, "version": "1.2.3", "license": licence, "dependencies": [] },
            ],
            "workspace_members": ["app"],
            "resolve": { "nodes": [{ "id": "app", "dependencies": ["x"] }, { "id": "x", "dependencies": [] }] },
        });
        lines(&check(&Metadata::from_json(&metadata).unwrap(), &Policy::parse(POLICY).unwrap()))
    }

    #[test]
    fn an_allowed_licence_is_fine() {
        assert_eq!(found("x", Some("MIT OR GPL-3.0")), Vec::<String>::new());
    }

    #[test]
    fn a_licence_that_is_not_allowed_is_found() {
        assert_eq!(
            found("x", Some("GPL-3.0 AND MIT")),
            ["x 1.2.3: licence `GPL-3.0 AND MIT` is not allowed, replace the crate or allow the licence in \
                 deny.toml; it comes by app -> x"]
        );
    }

    #[test]
    fn an_exception_holds_for_its_crate_only() {
        assert_eq!(found("odd", Some("Odd-1.0")), Vec::<String>::new());
        assert_eq!(found("x", Some("Odd-1.0")).len(), 1);
        assert_eq!(found("odd", Some("GPL-3.0")).len(), 1);
    }

    #[test]
    fn a_missing_licence_needs_an_exception() {
        let got = found("x", None);
        assert!(got[0].starts_with("x 1.2.3: its manifest names no licence, "), "{got:?}");
        assert_eq!(found("odd", None), Vec::<String>::new());
    }

    #[test]
    fn a_malformed_licence_is_found() {
        let got = found("x", Some("MIT OR"));
        assert!(got[0].contains("cannot be read (expected a licence at the end)"), "{got:?}");
    }
}
