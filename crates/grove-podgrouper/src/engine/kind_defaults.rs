//! What kinds get where nobody says otherwise, as an admin writes it into a ConfigMap.

use k8s_openapi::api::core::v1::ConfigMap;
use serde::Deserialize;

use crate::{group::Preemptibility, settings::KindDefault};

/// The only key that is read.
const KEY: &str = "types";
/// Entries that are read; no cluster has so many kinds.
const MOST: usize = 1_000;

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Entry {
    type_name: String,
    group: String,
    priority_name: String,
    preemptibility: String,
}

/// The defaults of a ConfigMap, or what is wrong with it. Without one there are none.
pub(crate) fn read(config: Option<&ConfigMap>) -> Result<Vec<KindDefault>, String> {
    let Some(config) = config else { return Ok(Vec::new()) };
    let text = config.data.as_ref().and_then(|it| it.get(KEY));
    let text = text.ok_or_else(|| format!("it has no key {KEY:?}"))?;
    let entries: Vec<Entry> = serde_json::from_str(text).map_err(|error| format!("data.{KEY}: {error}"))?;
    if entries.len() > MOST {
        return Err(format!("data.{KEY} has {} entries: at most {MOST} are read", entries.len()));
    }
    Ok(entries.into_iter().map(default).collect())
}

fn default(entry: Entry) -> KindDefault {
    KindDefault {
        kind: entry.type_name,
        group: entry.group,
        priority_class: entry.priority_name,
        preemptibility: Preemptibility::parse(&entry.preemptibility.to_lowercase()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(key: &str, text: &str) -> ConfigMap {
        ConfigMap { data: Some([(key.to_owned(), text.to_owned())].into()), ..ConfigMap::default() }
    }

    #[test]
    fn entries_are_read() {
        let text = r#"[
            { "typeName": "Job", "group": "batch", "priorityName": "low", "preemptibility": "Preemptible" },
            { "typeName": "Workflow", "priorityName": "high", "preemptibility": "sometimes" }
        ]"#;
        let row = |kind: &str, group: &str, class: &str, preemptibility| KindDefault {
            kind: kind.to_owned(),
            group: group.to_owned(),
            priority_class: class.to_owned(),
            preemptibility,
        };
        let expected = vec![
            row("Job", "batch", "low", Some(Preemptibility::Preemptible)),
            row("Workflow", "", "high", None),
        ];
        assert_eq!(read(Some(&config("types", text))), Ok(expected));
        assert_eq!(read(None), Ok(Vec::new()));
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        assert_eq!(read(Some(&config("kinds", "[]"))), Err("it has no key \"types\"".to_owned()));
        let wrong = read(Some(&config("types", "{}"))).unwrap_err();
        assert!(wrong.starts_with("data.types: "), "{wrong}");
        let many = serde_json::to_string(&vec![serde_json::json!({}); 1_001]).unwrap();
        let wrong = read(Some(&config("types", &many))).unwrap_err();
        assert_eq!(wrong, "data.types has 1001 entries: at most 1000 are read");
    }
}
