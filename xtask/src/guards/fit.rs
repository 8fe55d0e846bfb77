//! Checks that the table of guards fits the sources, without building anything: what it names is there, and the page that
//! people read says the same.

use super::page;
use super::table::{FOLDER, Guard, Test};
use crate::finding::Finding;
use crate::tracked::TextFile;

/// Reports what the table names and the sources do not have, and a page that is out of date.
pub(crate) fn check(guards: &[Guard], files: &[TextFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for guard in guards {
        let mut find = |problem: String| {
            findings.push(Finding::new(
                format!("{FOLDER}/{}.toml", guard.area),
                format!("{}: {problem}", guard.name),
            ));
        };
        match files.iter().find(|it| it.path == guard.file) {
            None => find(format!("there is no file {}", guard.file)),
            Some(file) => {
                if !file.defines(&guard.function) {
                    find(format!("{} has no function {}", guard.file, guard.function));
                }
                if let Some(Err(times)) = guard.mutation.as_ref().map(|it| it.apply(&file.text)) {
                    find(format!("the text to replace is {times} times in {}, and not once", guard.file));
                }
            }
        }
        if !exists(&guard.test, files) {
            find(format!("{} has no test {}", guard.test.suite.package, guard.test.path));
        }
    }
    let current = files.iter().find(|it| it.path == page::PATH).map(|it| it.text.as_str());
    if current.is_none_or(|it| page::written(it, guards).as_deref() != Some(it)) {
        findings.push(Finding::new(
            page::PATH,
            "does not say what the table of guards says, run make guards-page",
        ));
    }
    findings
}

/// Whether a test of that name is in its crate. Which module it is in is seen when it runs.
fn exists(test: &Test, files: &[TextFile]) -> bool {
    let folder = format!("crates/{}/", test.suite.package);
    let (_, name) = test.path.rsplit_once("::").unwrap_or(("", &test.path));
    files.iter().any(|it| it.path.starts_with(&folder) && it.defines(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::lines;
    use crate::guards::fixture::guard;

    fn sources(guards: &[Guard]) -> Vec<TextFile> {
        let page = page::written(&format!("# Guards\n\n{}\n", page::MARK), guards).unwrap();
        let file = |path: &str, text: &str| TextFile { path: path.to_owned(), text: text.to_owned() };
        vec![
            file("crates/p/src/a.rs", "fn plan<T>() { if old { stay() } }"),
            file("crates/p/src/tests.rs", "fn it_stands() {}"),
            file(page::PATH, &page),
        ]
    }

    #[test]
    fn what_fits_is_fine() {
        let guards = [guard("one")];
        assert_eq!(lines(&check(&guards, &sources(&guards))), Vec::<String>::new());
    }

    #[test]
    fn what_the_sources_do_not_have_is_found() {
        let change = |change: &dyn Fn(&mut Guard)| {
            let mut guard = guard("one");
            change(&mut guard);
            lines(&check(&[guard.clone()], &sources(&[guard])))
        };
        let found = |problem: &str| vec![format!("xtask/guards/area.toml: one: {problem}")];
        assert_eq!(
            change(&|it| "crates/p/src/b.rs".clone_into(&mut it.file)),
            found("there is no file crates/p/src/b.rs")
        );
        assert_eq!(
            change(&|it| "pla".clone_into(&mut it.function)),
            found("crates/p/src/a.rs has no function pla")
        );
        assert_eq!(
            change(&|it| it.mutation.as_mut().unwrap().find = "if young".to_owned()),
            found("the text to replace is 0 times in crates/p/src/a.rs, and not once")
        );
        assert_eq!(
            change(&|it| "tests::it_falls".clone_into(&mut it.test.path)),
            found("p has no test tests::it_falls")
        );
        assert_eq!(
            change(&|it| "q".clone_into(&mut it.test.suite.package)),
            found("q has no test tests::it_stands")
        );
    }

    #[test]
    fn a_page_that_says_something_else_is_found() {
        let sources = sources(&[guard("one")]);
        let late = lines(&check(&[guard("one"), guard("two")], &sources));
        let want = "docs/guards.md: does not say what the table of guards says, run make guards-page";
        assert_eq!(late, [want]);
        assert_eq!(lines(&check(&[guard("one")], &sources[..2])), [want]);
    }
}
