//! A guard for tests.

use super::table::{Guard, Mutation, Suite, Test};

/// One of the area `area`, in the crate `p`.
pub(crate) fn guard(name: &str) -> Guard {
    Guard {
        area: "area".to_owned(),
        name: name.to_owned(),
        bug: "It fell.".to_owned(),
        file: "crates/p/src/a.rs".to_owned(),
        function: "plan".to_owned(),
        mutation: Some(Mutation { find: "if old".to_owned(), replace: "if true".to_owned() }),
        test: Test {
            suite: Suite { package: "p".to_owned(), file: None },
            path: "tests::it_stands".to_owned(),
        },
    }
}
