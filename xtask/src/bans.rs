//! Checks the resolved graph for crates that `deny.toml` bans, and for second versions of crates whose types
//! cross our own interfaces.

use crate::finding::Finding;
use crate::metadata::{Metadata, Package};
use crate::policy::Policy;

/// Reports banned crates, and crates that are there in two versions though one is asked for.
pub(crate) fn check(metadata: &Metadata, policy: &Policy) -> Vec<Finding> {
    let named = |name: &str| metadata.externals().filter(|it| it.name == name).collect::<Vec<_>>();
    let mut findings = Vec::new();
    for ban in &policy.banned {
        for package in named(&ban.name) {
            findings.push(Finding::new(
                format!("{} {}", package.name, package.version),
                format!(
                    "banned ({}), drop the dependency or the feature that brings it: {}",
                    ban.reason,
                    metadata.route_to(package),
                ),
            ));
        }
    }
    for ban in &policy.single {
        let versions = named(&ban.name);
        if versions.len() > 1 {
            findings.push(Finding::new(
                &ban.name,
                format!(
                    "{} versions where one is allowed ({}), align those who bring them: {}",
                    versions.len(),
                    ban.reason,
                    routes(metadata, &versions),
                ),
            ));
        }
    }
    findings
}

fn routes(metadata: &Metadata, versions: &[&Package]) -> String {
    let each: Vec<_> =
        versions.iter().map(|it| format!("{} by {}", it.version, metadata.route_to(it))).collect();
    each.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{graph, lines};

    const POLICY: &str = r#"
        [licenses]
        [bans]
        deny = [
            { crate = "openssl", reason = "TLS is rustls" },
            { crate = "kube", deny-multiple-versions = true, reason = "its types are in our interfaces" },
        ]
    "#;

    fn found(edges: &[(&str, &str)]) -> Vec<String> {
        lines(&check(&graph(edges), &Policy::parse(POLICY).unwrap()))
    }

    #[test]
    fn a_clean_graph_is_fine() {
        assert_eq!(found(&[("app", "kube@5.0.0"), ("kube@5.0.0", "serde@1.0.0")]), Vec::<String>::new());
    }

    #[test]
    fn a_banned_crate_is_found_with_its_path() {
        let edges = [("app", "kube@5.0.0"), ("kube@5.0.0", "tls@0.3.0"), ("tls@0.3.0", "openssl@0.10.1")];
        assert_eq!(
            found(&edges),
            ["openssl 0.10.1: banned (TLS is rustls), drop the dependency or the feature that brings it: \
                 app -> kube -> tls -> openssl"]
        );
    }

    #[test]
    fn a_name_is_matched_whole() {
        assert_eq!(found(&[("app", "openssl-probe@0.1.0")]), Vec::<String>::new());
    }

    #[test]
    fn two_versions_are_found() {
        let edges = [("app", "kube@5.0.0"), ("app", "helper@1.0.0"), ("helper@1.0.0", "kube@4.2.0")];
        assert_eq!(
            found(&edges),
            [
                "kube: 2 versions where one is allowed (its types are in our interfaces), align those who bring \
                 them: 4.2.0 by app -> helper -> kube, 5.0.0 by app -> kube"
            ]
        );
    }

    #[test]
    fn two_versions_of_another_crate_are_fine() {
        assert_eq!(found(&[("app", "syn@1.0.0"), ("app", "syn@2.0.0")]), Vec::<String>::new());
    }
}
