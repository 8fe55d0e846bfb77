//! Numbers and lists in sentences.

use std::collections::BTreeMap;

/// Causes that a sentence names at most.
const MAX_CAUSES: usize = 5;

/// `1 pod`, `2 pods`.
pub(super) fn count(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn list<T: AsRef<str>>(items: &[T]) -> String {
    match items {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [rest @ .., last] => {
            let rest: Vec<&str> = rest.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", rest.join(", "), last.as_ref())
        }
    }
}

/// `3 nodes have untolerated taint a:NoSchedule, 1 node lacks label b=c`: the most frequent first. Causes are in the plural.
pub(super) fn causes(causes: impl IntoIterator<Item = String>) -> String {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for cause in causes {
        *counts.entry(cause).or_default() += 1;
    }
    let mut counts: Vec<(String, u64)> = counts.into_iter().collect();
    // Stable: those of one number stay in the order of their words.
    counts.sort_by_key(|it| std::cmp::Reverse(it.1));
    let rest: u64 = counts.iter().skip(MAX_CAUSES).map(|it| it.1).sum();
    let named = counts.iter().take(MAX_CAUSES);
    let mut parts: Vec<String> = named
        .map(|(cause, number)| format!("{} {}", count(*number, "node"), conjugated(cause, *number)))
        .collect();
    if rest > 0 {
        parts.push(format!("{} cannot be used for other reasons", count(rest, "node")));
    }
    parts.join(", ")
}

/// The verb at the beginning, for one node.
fn conjugated(cause: &str, number: u64) -> String {
    let Some((verb, rest)) = cause.split_once(' ').filter(|_| number == 1) else { return cause.to_owned() };
    let verb = match verb {
        "are" => "is",
        "have" => "has",
        "lack" => "lacks",
        "do" => "does",
        other => other,
    };
    format!("{verb} {rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_counted_and_conjugated() {
        let all = ["lack label a=b", "have too little cpu", "lack label a=b"].map(str::to_owned);
        assert_eq!(causes(all), "2 nodes lack label a=b, 1 node has too little cpu");
        let many = (0..7).map(|it| format!("lack label x={it}"));
        let text = causes(many);
        assert!(text.ends_with("1 node lacks label x=4, 2 nodes cannot be used for other reasons"), "{text}");
    }

    #[test]
    fn lists_and_counts() {
        assert_eq!(list(&["a"]), "a");
        assert_eq!(list(&["a", "b"]), "a and b");
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
        assert_eq!((count(1, "pod"), count(0, "pod")), ("1 pod".to_owned(), "0 pods".to_owned()));
    }
}
