//! What an exchange cost, and whether a pod noticed.

use std::collections::BTreeMap;

use crate::cluster::Write;

/// Prints what was written, and what happened to pods. Whether that is nothing.
pub(super) fn tell(
    build: &str,
    writes: &[Write],
    before: &BTreeMap<String, String>,
    after: &BTreeMap<String, String>,
) -> bool {
    let touched: Vec<String> =
        touched(writes).iter().map(|it| format!("{} {}", it.what(), it.name)).collect();
    anstream::println!("  {build:<12} {}", counted(writes));
    for line in touched.iter().take(5) {
        anstream::println!("    FAILED: {line}");
    }
    let is_same = before == after;
    if !is_same {
        let gone = before.iter().filter(|(name, uid)| after.get(*name) != Some(uid)).count();
        anstream::println!("    FAILED: {gone} pods are gone, and there are {}", after.len());
    }
    touched.is_empty() && is_same
}

/// Writes to pods that make a difference to whoever runs in them; what kubelets say of them is none.
fn touched(writes: &[Write]) -> Vec<&Write> {
    let is_of_pods = |it: &str| it == "pods" || it.starts_with("pods/") && it != "pods/status";
    writes.iter().filter(|it| is_of_pods(&it.resource)).collect()
}

/// `3 writes: 2 patch podgangs, 1 patch podcliquesets/status`
fn counted(writes: &[Write]) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for write in writes {
        *counts.entry(write.what()).or_default() += 1;
    }
    let each: Vec<String> = counts.iter().map(|(what, count)| format!("{count} {what}")).collect();
    let colon = if each.is_empty() { "" } else { ": " };
    format!("{} writes{colon}{}", writes.len(), each.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(verb: &str, resource: &str) -> Write {
        Write { verb: verb.to_owned(), resource: resource.to_owned(), ..Write::default() }
    }

    #[test]
    fn writes_are_counted_by_verb_and_resource() {
        let writes = [write("patch", "podgangs"), write("patch", "podgangs"), write("create", "events")];
        assert_eq!(counted(&writes), "3 writes: 1 create events, 2 patch podgangs");
        assert_eq!(counted(&[]), "0 writes");
    }

    #[test]
    fn a_pod_notices_every_write_but_what_kubelets_say() {
        let pods: BTreeMap<String, String> = [("a".to_owned(), "1".to_owned())].into();
        assert!(tell("b", &[write("patch", "podgangs"), write("patch", "pods/status")], &pods, &pods));
        for (verb, resource) in [
            ("create", "pods"),
            ("patch", "pods"),
            ("delete", "pods"),
            ("deletecollection", "pods"),
            ("create", "pods/eviction"),
        ] {
            assert!(!tell("b", &[write(verb, resource)], &pods, &pods), "{verb} {resource}");
        }
        assert!(!tell("b", &[], &pods, &BTreeMap::new()));
        assert!(!tell("b", &[], &pods, &[("a".to_owned(), "2".to_owned())].into()));
    }
}
