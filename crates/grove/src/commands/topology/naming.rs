//! What the domains of a node label are called: a name as ClusterTopologyBindings have them.

use grove_api::limits::MAX_LABEL_LENGTH;

use super::known;

/// Words at the ends of a label that say nothing.
const BEFORE: &str = "topology-";
const AFTER: [&str; 2] = ["-id", "-name"];

/// A name for the domains of each of these labels; no name comes twice.
pub(super) fn domains<'a>(keys: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut taken: Vec<String> = Vec::new();
    for key in keys {
        let name = domain(key);
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let free = std::iter::once(name.clone()).chain(numbered).find(|it| !taken.contains(it));
        taken.extend(free);
    }
    taken
}

/// `example.com/Network_Rack_ID` has network-racks: the pattern is `^[a-z][a-z0-9-]*$`.
fn domain(key: &str) -> String {
    if let Some(known) = known::of(key) {
        return known.domain;
    }
    let last = key.rsplit('/').next().unwrap_or(key).to_ascii_lowercase();
    let name: String = last.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '-' }).collect();
    let name = name.trim_start_matches(|it: char| !it.is_ascii_lowercase()).trim_end_matches('-');
    let rest = name.strip_prefix(BEFORE).filter(|it| it.starts_with(|it: char| it.is_ascii_lowercase()));
    let mut name = rest.unwrap_or(name);
    for word in AFTER {
        name = name.strip_suffix(word).filter(|it| !it.is_empty()).unwrap_or(name);
    }
    // There has to be room for a number.
    let name = name.get(..MAX_LABEL_LENGTH - 4).unwrap_or(name).trim_end_matches('-');
    if name.is_empty() { "level".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_labels() {
        let long = format!("example.com/{}", "r".repeat(63));
        let rows = [
            ("topology.kubernetes.io/zone", "zone"),
            ("kubernetes.io/hostname", "host"),
            ("cloud.provider.com/topology-rack", "rack"),
            ("example.com/Network_Rack_ID", "network-rack"),
            ("example.com/topology-1", "topology-1"),
            ("row", "row"),
            ("example.com/3rd-row", "rd-row"),
            ("example.com/42", "level"),
            ("example.com/a..b", "a--b"),
            (long.as_str(), &"r".repeat(59)),
        ];
        for (key, want) in rows {
            assert_eq!(domain(key), want, "{key}");
        }
    }

    #[test]
    fn no_name_comes_twice() {
        let keys = ["a.io/rack", "topology.kubernetes.io/rack", "b.io/rack", "b.io/row"];
        assert_eq!(domains(keys.into_iter()), ["rack", "rack-2", "rack-3", "row"]);
    }
}
