//! Texts of schedulers, made fit for a condition.

/// Longest line of a condition.
pub(crate) const MAX_LINE: usize = 400;

/// One line without doubled blanks and without the full stop at the end.
pub(crate) fn clean(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").trim_end_matches('.').to_owned()
}

/// At most `max` characters.
pub(crate) fn cut(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A text with a number in front: `3 node(s) had no room`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counted<'a> {
    pub(crate) count: u32,
    pub(crate) text: &'a str,
}

impl<'a> Counted<'a> {
    pub(crate) fn read(text: &'a str) -> Option<Self> {
        let (count, text) = text.split_once(' ')?;
        Some(Self { count: count.parse().ok()?, text })
    }
}
