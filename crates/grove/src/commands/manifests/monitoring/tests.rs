//! Alerts and dashboard ask for metrics that there are, and the page says what to do about each alert.
//!
//! That the page lists exactly what the programs export is tested where they register it.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

const PAGE: &str = include_str!("../../../../../../docs/metrics.md");

/// The metrics of the page, with their types.
fn documented() -> BTreeMap<&'static str, &'static str> {
    let rows = PAGE.lines().filter_map(|it| it.strip_prefix("| `")?.split_once("` | "));
    let typed = rows.filter_map(|(name, rest)| Some((name, rest.split_once(" | ")?.0)));
    typed.filter(|(_, type_)| ["counter", "gauge", "histogram"].contains(type_)).collect()
}

/// An expression without strings, matchers, ranges and lists of labels.
fn bare(expression: &str) -> String {
    let mut text = String::new();
    let mut rest = expression;
    while let Some(at) = rest.find(['"', '{', '[']) {
        let close = match &rest[at..=at] {
            "\"" => '"',
            "{" => '}',
            _ => ']',
        };
        text.push_str(&rest[..at]);
        text.push(' ');
        let inner = &rest[at + 1..];
        rest = &inner[inner.find(close).unwrap_or_else(|| panic!("{expression}")) + 1..];
    }
    text.push_str(rest);
    for list in ["by (", "on ("] {
        while let Some((before, after)) = text.split_once(list) {
            text = format!("{before} {}", after.split_once(')').unwrap_or_else(|| panic!("{expression}")).1);
        }
    }
    text
}

/// Names of metrics in an expression: what is neither a function, a word of PromQL nor a number.
fn metrics_in(expression: &str) -> BTreeSet<String> {
    const WORDS: [&str; 3] = ["and", "or", "unless"];
    const AGGREGATIONS: [&str; 4] = ["sum", "max", "min", "count"];
    let bare = bare(expression);
    let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let mut names = BTreeSet::new();
    let mut rest = bare.as_str();
    while let Some(at) = rest.find(is_name) {
        let after = &rest[at..];
        let end = after.find(|it| !is_name(it)).unwrap_or(after.len());
        let (word, next) = after.split_at(end);
        let is_function = next.starts_with('(') || AGGREGATIONS.contains(&word);
        let is_number = word.starts_with(|it: char| it.is_ascii_digit());
        if !is_function && !is_number && !WORDS.contains(&word) {
            names.insert(word.to_owned());
        }
        rest = next;
    }
    names
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("{pointer}: {value}"))
}

fn list<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value.pointer(pointer).and_then(Value::as_array).unwrap_or_else(|| panic!("{pointer}: {value}"))
}

fn alerts() -> Vec<Value> {
    let rules = rules().unwrap();
    list(&rules, "/groups").iter().flat_map(|it| list(it, "/rules")).cloned().collect()
}

fn expressions() -> Vec<String> {
    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let targets = list(&dashboard, "/panels").iter().flat_map(|it| list(it, "/targets"));
    let alerts = alerts();
    alerts.iter().chain(targets).map(|it| text(it, "/expr").to_owned()).collect()
}

#[test]
fn names_are_found_in_expressions() {
    for (expression, wanted) in [
        ("absent(a_b)", "a_b"),
        ("max by (name) (a_b\nand on (instance) c_d) == 0", "a_b c_d"),
        ("histogram_quantile(0.99, sum by (le, x_y) (rate(a_bucket{x!=\"\"}[5m]))) > 10", "a_bucket"),
        ("(a > 0) - time() < 7 * 24 * 3600", "a"),
        ("sum(rate(a{b=\"c_d\"}[$__rate_interval])) unless on (b) e_f", "a e_f"),
    ] {
        let names: Vec<String> = metrics_in(expression).into_iter().collect();
        assert_eq!(names.join(" "), wanted, "{expression}");
    }
}

#[test]
fn every_metric_that_is_asked_for_is_exported() {
    let documented = documented();
    assert!(documented.len() > 30, "{documented:?}");
    let mut count = 0;
    for expression in expressions() {
        let names = metrics_in(&expression);
        assert!(!names.is_empty(), "{expression}");
        for name in names {
            let series = ["_bucket", "_count", "_sum"].iter().find_map(|it| name.strip_suffix(*it));
            let of_histogram = series.is_some_and(|it| documented.get(it) == Some(&"histogram"));
            let plain = documented.get(name.as_str()).is_some_and(|it| *it != "histogram");
            assert!(of_histogram || plain, "{name} is not in docs/metrics.md: {expression}");
            count += 1;
        }
    }
    assert!(count > 40, "{count}");
}

#[test]
fn the_page_says_what_to_do_about_every_alert() {
    let (_, section) = PAGE.split_once("## Alerts\n").unwrap();
    let rows = section.lines().filter_map(|it| it.strip_prefix("| `")?.split_once("` | "));
    let listed: BTreeMap<&str, &str> =
        rows.filter_map(|(name, rest)| Some((name, rest.split_once(" | ")?.0))).collect();
    let alerts = alerts();
    let wanted: BTreeMap<&str, &str> =
        alerts.iter().map(|it| (text(it, "/alert"), text(it, "/labels/severity"))).collect();
    assert_eq!(listed, wanted);
    for alert in &alerts {
        assert!(!text(alert, "/annotations/summary").is_empty());
        assert!(!text(alert, "/annotations/description").is_empty());
    }
}

#[test]
fn panels_have_their_own_numbers_and_do_not_overlap() {
    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let panels = list(&dashboard, "/panels");
    let numbers: BTreeSet<u64> = panels.iter().filter_map(|it| it["id"].as_u64()).collect();
    let places: BTreeSet<String> = panels.iter().map(|it| it["gridPos"].to_string()).collect();
    assert_eq!((numbers.len(), places.len()), (panels.len(), panels.len()));
}
