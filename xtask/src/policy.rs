//! Reads the part of `deny.toml` that the `deny` command checks.
//!
//! The file is cargo-deny's own, so that cargo-deny can check it too, with more depth than is needed on every
//! build. What would make our answer laxer than cargo-deny's (a version constraint, an `allow` list of crates)
//! is refused rather than ignored.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

/// A crate that is denied, or denied in more than one version.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ban {
    pub(crate) name: String,
    pub(crate) reason: String,
}

/// What `deny.toml` asks for.
#[derive(Debug, Default)]
pub(crate) struct Policy {
    /// Licences that any crate may have.
    pub(crate) licences: BTreeSet<String>,
    /// Licences that one crate may have besides.
    pub(crate) exceptions: BTreeMap<String, BTreeSet<String>>,
    /// Crates that may not be in the graph.
    pub(crate) banned: Vec<Ban>,
    /// Crates that may be in the graph in one version only.
    pub(crate) single: Vec<Ban>,
}

impl Policy {
    /// Reads the text of `deny.toml`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        Self::read(text).map_err(|error| format!("deny.toml: {error}"))
    }

    fn read(text: &str) -> Result<Self, String> {
        let file: Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
        let licenses = section(&file, "licenses")?;
        let bans = section(&file, "bans")?;
        if bans.contains_key("allow") {
            return Err("[bans] allow is not understood by xtask, use deny".to_owned());
        }

        let mut policy = Self { licences: texts(licenses, "allow")?, ..Self::default() };
        for exception in list(licenses, "exceptions")? {
            let more = texts(table(exception, "licenses.exceptions")?, "allow")?;
            policy.exceptions.entry(crate_name(exception)?).or_default().extend(more);
        }
        for entry in list(bans, "deny")? {
            let get = |key: &str| entry.as_table().and_then(|it| it.get(key));
            let reason = get("reason").and_then(Value::as_str).unwrap_or("deny.toml gives no reason");
            let ban = Ban { name: crate_name(entry)?, reason: reason.to_owned() };
            let single = get("deny-multiple-versions").and_then(Value::as_bool).unwrap_or(false);
            if single { &mut policy.single } else { &mut policy.banned }.push(ban);
        }
        Ok(policy)
    }
}

/// The crate that an entry means: `"name"`, `{ crate = "name" }` or the older `{ name = "name" }`.
fn crate_name(entry: &Value) -> Result<String, String> {
    let in_table = || entry.get("crate").or_else(|| entry.get("name")).and_then(Value::as_str);
    let Some(name) = entry.as_str().or_else(in_table) else {
        return Err(format!("an entry names no crate: {entry:?}"));
    };
    if name.contains([':', '@']) || entry.get("version").is_some() {
        return Err(format!("{name}: version constraints are not understood by xtask, name only the crate"));
    }
    Ok(name.to_owned())
}

fn section<'a>(file: &'a Table, key: &str) -> Result<&'a Table, String> {
    table(file.get(key).ok_or_else(|| format!("no section [{key}]"))?, key)
}

fn table<'a>(value: &'a Value, what: &str) -> Result<&'a Table, String> {
    value.as_table().ok_or_else(|| format!("{what} is not a table"))
}

/// An absent list is empty.
fn list<'a>(table: &'a Table, key: &str) -> Result<&'a [Value], String> {
    let Some(value) = table.get(key) else {
        return Ok(&[]);
    };
    value.as_array().map(Vec::as_slice).ok_or_else(|| format!("{key} is not a list"))
}

fn texts(table: &Table, key: &str) -> Result<BTreeSet<String>, String> {
    let not_text = || format!("{key} holds something other than text");
    list(table, key)?.iter().map(|it| it.as_str().map(str::to_owned).ok_or_else(not_text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ban(name: &str, reason: &str) -> Ban {
        Ban { name: name.to_owned(), reason: reason.to_owned() }
    }

    #[test]
    fn reads_what_cargo_deny_reads() {
        let policy = Policy::parse(
            r#"
            [licenses]
            allow = ["MIT", "Apache-2.0 WITH LLVM-exception"]
            [[licenses.exceptions]]
            crate = "odd"
            allow = ["Odd-1.0"]
            [bans]
            multiple-versions = "allow"
            deny = [
                "plain",
                { crate = "openssl", reason = "TLS is rustls" },
                { name = "old-form" },
                { crate = "kube", deny-multiple-versions = true, reason = "types differ" },
            ]
            "#,
        )
        .unwrap();
        assert!(
            policy.licences.contains("MIT") && policy.licences.contains("Apache-2.0 WITH LLVM-exception")
        );
        assert!(policy.exceptions["odd"].contains("Odd-1.0"));
        let no_reason = "deny.toml gives no reason";
        assert_eq!(
            policy.banned,
            [ban("plain", no_reason), ban("openssl", "TLS is rustls"), ban("old-form", no_reason)]
        );
        assert_eq!(policy.single, [ban("kube", "types differ")]);
    }

    #[test]
    fn refuses_what_it_does_not_understand() {
        let cases = [
            ("", "no section [licenses]"),
            ("[licenses]", "no section [bans]"),
            ("[licenses]\nallow = 1\n[bans]", "allow is not a list"),
            ("[licenses]\nallow = [1]\n[bans]", "allow holds something other than text"),
            ("[licenses]\n[bans]\nallow = []", "use deny"),
            ("[licenses]\n[bans]\ndeny = ['a@1.0.0']", "version constraints"),
            ("[licenses]\n[bans]\ndeny = ['a:<1']", "version constraints"),
            ("[licenses]\n[bans]\ndeny = [{ name = 'a', version = '1' }]", "version constraints"),
            ("[licenses]\n[bans]\ndeny = [{ reason = 'x' }]", "names no crate"),
            ("[licenses", "deny.toml: "),
        ];
        for (text, want) in cases {
            let error = Policy::parse(text).unwrap_err();
            assert!(error.contains(want), "{text:?} gives {error:?}");
        }
    }
}
