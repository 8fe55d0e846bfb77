//! Levels as a manifest.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::chain::Level;
use crate::commands::topology::text::counted;

/// With the reasons as comments. Names and keys are of characters that YAML takes as they are, but for words that mean
/// something else: hence the quotes.
pub(super) fn yaml(name: &str, looked_at: &str, levels: &[Level]) -> String {
    let mut text = format!(
        "# Proposed by `grove topology detect` from the labels of {looked_at}.\n\
         apiVersion: grove.io/v1alpha1\n\
         kind: ClusterTopologyBinding\n\
         metadata:\n  name: {name:?}\n\
         spec:\n  # From the broadest to the narrowest.\n  levels:\n"
    );
    let mut above: Option<&Level> = None;
    for level in levels {
        // Writing to a string does not fail.
        let _ = writeln!(text, "  # {}", reason(level, above));
        let _ = level.gap().map(|it| writeln!(text, "  # {it}"));
        let _ = writeln!(text, "  - domain: {:?}\n    key: {:?}", level.domain, level.key);
        above = Some(level);
    }
    text
}

pub(super) fn json(name: &str, levels: &[Level]) -> Value {
    let levels: Vec<Value> = levels.iter().map(|it| json!({ "domain": it.domain, "key": it.key })).collect();
    json!({
        "apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopologyBinding", "metadata": { "name": name },
        "spec": { "levels": levels },
    })
}

/// `8 domains of 2 nodes each; each is in one zone; a label of Kubernetes`
fn reason(level: &Level, above: Option<&Level>) -> String {
    let sizes = || level.label.sizes.values().copied();
    let (least, most) = (sizes().min().unwrap_or_default(), sizes().max().unwrap_or_default());
    let domains = level.label.sizes.len();
    let size = match (least == most, domains) {
        (true, 1) => counted(most, "node"),
        (true, _) => format!("{} each", counted(most, "node")),
        (false, _) => format!("{least} to {}", counted(most, "node")),
    };
    let mut words = vec![format!("{} of {size}", counted(domains, "domain"))];
    words.extend(above.map(|it| format!("each is in one {}", it.domain)));
    words.push(match &level.label.known {
        Some(known) => format!("known label: {}", known.family),
        None => "found by its name and values".to_owned(),
    });
    words.join("; ")
}
