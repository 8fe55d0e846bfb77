//! The table of guards: `xtask/guards/*.toml`, one file for each area.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use toml::{Table, Value};

/// Where the table is, in the repository.
pub(crate) const FOLDER: &str = "xtask/guards";

/// A rule that keeps a known bug out, and the test that is there for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Guard {
    /// The file of the table that it is in, without its extension.
    pub(crate) area: String,
    /// Unique.
    pub(crate) name: String,
    /// What went wrong elsewhere for want of it.
    pub(crate) bug: String,
    /// Path in the repository.
    pub(crate) file: String,
    pub(crate) function: String,
    /// How to take it away. Without it, only that the test exists is checked.
    pub(crate) mutation: Option<Mutation>,
    pub(crate) test: Test,
}

/// A change of one place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mutation {
    pub(crate) find: String,
    pub(crate) replace: String,
}

/// A test, as cargo is asked for it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Test {
    pub(crate) suite: Suite,
    /// Its whole path.
    pub(crate) path: String,
}

/// What is built to run a test.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Suite {
    pub(crate) package: String,
    /// An integration test; without it, the tests in the library.
    pub(crate) file: Option<String>,
}

impl Guard {
    /// How it is called by people.
    pub(crate) fn title(&self) -> String {
        format!("{}/{}", self.area, self.name)
    }
}

impl Mutation {
    /// The text without the guard; `Err` says how often the place is there, if not once.
    pub(crate) fn apply(&self, text: &str) -> Result<String, usize> {
        match text.matches(&self.find).count() {
            1 => Ok(text.replacen(&self.find, &self.replace, 1)),
            other => Err(other),
        }
    }
}

/// Reads the table of the workspace at `root`.
pub(crate) fn load(root: &Path) -> Result<Vec<Guard>, String> {
    let folder = root.join(FOLDER);
    let cannot = |error| format!("cannot read {FOLDER}: {error}");
    let mut paths = Vec::new();
    for entry in fs::read_dir(&folder).map_err(cannot)? {
        let path = entry.map_err(cannot)?.path();
        if path.extension().is_some_and(|it| it == "toml") {
            paths.push(path);
        }
    }
    paths.sort();
    let mut guards = Vec::new();
    for path in paths {
        let area = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).map_err(cannot)?;
        guards.extend(parse(&area, &text).map_err(|error| format!("{FOLDER}/{area}.toml: {error}"))?);
    }
    let mut names = BTreeSet::new();
    match guards.iter().find(|it| !names.insert(it.title())) {
        Some(twice) => Err(format!("{FOLDER}: {} is there twice", twice.title())),
        None => Ok(guards),
    }
}

fn parse(area: &str, text: &str) -> Result<Vec<Guard>, String> {
    let file: Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
    let mut guards = Vec::new();
    for (key, value) in &file {
        let entries = value.as_array().filter(|_| key == "guard");
        for entry in entries.ok_or_else(|| format!("{key} is not understood, only [[guard]]"))? {
            guards.push(read(area, entry)?);
        }
    }
    Ok(guards)
}

fn read(area: &str, entry: &Value) -> Result<Guard, String> {
    const KNOWN: [&str; 9] =
        ["name", "bug", "file", "function", "find", "replace", "package", "suite", "test"];
    let entry = entry.as_table().ok_or("a guard is not a table")?;
    if let Some(unknown) = entry.keys().find(|it| !KNOWN.contains(&it.as_str())) {
        return Err(format!("{unknown} is not understood"));
    }
    let given = |key: &str| match entry.get(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("{key} is no text")),
    };
    let name = given("name")?.unwrap_or_default();
    let needed =
        |key: &str| given(key)?.filter(|it| !it.is_empty()).ok_or_else(|| format!("{name:?} has no {key}"));
    let mutation = match (given("find")?, given("replace")?) {
        (None, None) => None,
        (Some(find), Some(replace)) if !find.is_empty() && find != replace => {
            Some(Mutation { find, replace })
        }
        _ => return Err(format!("{name:?} does not say what to replace by what")),
    };
    Ok(Guard {
        area: area.to_owned(),
        bug: needed("bug")?,
        file: needed("file")?,
        function: needed("function")?,
        mutation,
        test: Test {
            suite: Suite { package: needed("package")?, file: given("suite")? },
            path: needed("test")?,
        },
        name: needed("name")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = r#"
        [[guard]]
        name = "one"
        bug = "It fell."
        file = "src/a.rs"
        function = "plan"
        find = "a"
        replace = "b"
        package = "p"
        test = "tests::it_stands"
    "#;

    #[test]
    fn a_guard_is_read() {
        let [guard] = &parse("updates", WHOLE).unwrap()[..] else { panic!("one guard") };
        assert_eq!(guard.title(), "updates/one");
        assert_eq!(guard.mutation, Some(Mutation { find: "a".to_owned(), replace: "b".to_owned() }));
        let suite = Suite { package: "p".to_owned(), file: None };
        assert_eq!(guard.test, Test { suite, path: "tests::it_stands".to_owned() });
        let in_suite = WHOLE.replace("test =", "suite = \"children\"\ntest =");
        assert_eq!(parse("u", &in_suite).unwrap()[0].test.suite.file.as_deref(), Some("children"));
        let untried = WHOLE.replace("find = \"a\"", "").replace("replace = \"b\"", "");
        assert_eq!(parse("u", &untried).unwrap()[0].mutation, None);
    }

    #[test]
    fn what_is_missing_or_unknown_is_refused() {
        for (from, to, want) in [
            ("name = \"one\"", "", "\"\" has no name"),
            ("bug = \"It fell.\"", "", "\"one\" has no bug"),
            ("package = \"p\"", "", "\"one\" has no package"),
            ("package", "pakage", "pakage is not understood"),
            ("find = \"a\"", "", "does not say what to replace by what"),
            ("replace = \"b\"", "replace = \"a\"", "does not say what to replace by what"),
            ("find = \"a\"", "find = 7", "find is no text"),
            ("[[guard]]", "[[gaurd]]", "gaurd is not understood"),
            ("[[guard]]", "[[guard]", ""),
        ] {
            let text = WHOLE.replace(from, to);
            assert_ne!(text, WHOLE);
            let error = parse("updates", &text).unwrap_err();
            assert!(error.contains(want), "{to}: {error}");
        }
    }

    #[test]
    fn a_place_that_is_there_once_is_changed() {
        let mutation = Mutation { find: "x > 0".to_owned(), replace: "true".to_owned() };
        assert_eq!(mutation.apply("if x > 0 {}").as_deref(), Ok("if true {}"));
        assert_eq!(mutation.apply("if x >= 0 {}"), Err(0));
        assert_eq!(mutation.apply("x > 0 || x > 0"), Err(2));
    }
}
