//! The page that walks through this crate shows its code as it is.

#![allow(clippy::expect_used, reason = "a test fails by panicking, also in its functions")]

const PAGE: &str = include_str!("../../../docs/podgrouper/writing-a-plugin.md");
const CODE: [&str; 2] = [include_str!("../src/lib.rs"), include_str!("custom_job.rs")];

/// Blocks of Rust on the page.
fn blocks() -> Vec<&'static str> {
    let mut rest = PAGE;
    let mut blocks = Vec::new();
    while let Some((_, after)) = rest.split_once("```rust\n") {
        let (block, after) = after.split_once("```").expect("a block has an end");
        blocks.push(block);
        rest = after;
    }
    blocks
}

#[test]
fn the_page_shows_the_code() {
    let blocks = blocks();
    assert!(blocks.len() >= 3, "{blocks:?}");
    for block in blocks {
        assert!(CODE.iter().any(|it| it.contains(block)), "this is not in the example:\n{block}");
    }
}
