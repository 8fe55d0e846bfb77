//! The page about guards that people read: its table is written from the table of guards.

use std::fmt::Write;

use super::table::Guard;

/// Where it is, in the repository.
pub(crate) const PATH: &str = "docs/guards.md";
/// What a person writes ends here.
pub(crate) const MARK: &str = "<!-- All below is written by `make guards-page` from `xtask/guards`. -->";

/// The page with its table written anew; nothing where it has no mark.
pub(crate) fn written(page: &str, guards: &[Guard]) -> Option<String> {
    let (text, _) = page.split_once(MARK)?;
    Some(format!("{text}{MARK}\n{}", tables(guards)))
}

fn tables(guards: &[Guard]) -> String {
    let mut text = String::new();
    let mut area = "";
    for guard in guards {
        if guard.area != area {
            area = &guard.area;
            let _ =
                write!(text, "\n## {area}\n\n| bug | guard | test | taken away as |\n|---|---|---|---|\n");
        }
        let tried = if guard.mutation.is_some() { format!("`{}`", guard.name) } else { "–".to_owned() };
        let (file, function) = (&guard.file, &guard.function);
        let _ = writeln!(
            text,
            "| {} | [`{function}`](../{file}) in `{file}` | `{}` of `{}` | {tried} |",
            guard.bug, guard.test.path, guard.test.suite.package,
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guards::fixture::guard;

    #[test]
    fn what_a_person_wrote_stays_and_the_table_is_new() {
        let before = format!("# Guards\n\nWords.\n\n{MARK}\n\n| old |\n");
        let mut untried = guard("two");
        untried.mutation = None;
        let after = written(&before, &[guard("one"), untried]).unwrap();
        let row = "| It fell. | [`plan`](../crates/p/src/a.rs) in `crates/p/src/a.rs` | `tests::it_stands` of `p` |";
        assert_eq!(
            after,
            format!(
                "# Guards\n\nWords.\n\n{MARK}\n\n## area\n\n| bug | guard | test | taken away as |\n|---|---|---|---|\n\
                 {row} `one` |\n{row} – |\n"
            )
        );
        assert_eq!(written(&after, &[guard("one")]).map(|it| it.contains("–")), Some(false));
        assert_eq!(written("# Guards\n", &[]), None);
    }
}
