//! Regular expressions from clients. Matching one costs its size times the length of the text, so both are bounded: a
//! pattern in a schema must not stall the server.

use regex_lite::{Regex, RegexBuilder};

/// As large as a pattern may be, with its repetitions written out.
const LARGEST: usize = 20_000;

/// Room for a pattern of that size when it is compiled.
const COMPILED_BYTES: usize = 4 * 1024 * 1024;

/// As much work as one match may be.
const MOST_WORK: usize = 200_000_000;

/// A pattern, and how large it is.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    regex: Regex,
    source: String,
    weight: usize,
}

impl Pattern {
    /// Compiles a pattern, unless it is wrong or too large.
    pub(crate) fn new(source: &str) -> Result<Self, String> {
        let weight = weight(source);
        if weight > LARGEST {
            return Err(format!("error parsing regexp: expression too large: `{source}`"));
        }
        let regex = RegexBuilder::new(source).size_limit(COMPILED_BYTES).build();
        let regex = regex.map_err(|it| format!("error parsing regexp: {it}: `{source}`"))?;
        Ok(Self { regex, source: source.to_owned(), weight })
    }

    /// The pattern as it was written.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// What matching a text costs, in the units of [`crate::cel::Budget`]: about a tenth of the text for a short pattern.
    pub(crate) fn cost(&self, text: &str) -> u64 {
        let (text, weight) = (text.len() as u64 + 1, self.weight as u64 + 1);
        text.saturating_mul(weight) / 40 + 1
    }

    /// Whether it is found in a text. A text that would take too long does not match.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.fits(text) && self.regex.is_match(text)
    }

    /// The first matches in a text, at most so many.
    pub(crate) fn find<'t>(&self, text: &'t str, limit: usize) -> Vec<&'t str> {
        if !self.fits(text) {
            return Vec::new();
        }
        self.regex.find_iter(text).take(limit).map(|it| it.as_str()).collect()
    }

    fn fits(&self, text: &str) -> bool {
        text.len().saturating_mul(self.weight) <= MOST_WORK
    }
}

/// About how many steps a pattern has when every repetition is written out.
fn weight(source: &str) -> usize {
    // The sum of each open group, and the weight of the last thing in it.
    let mut open: Vec<(usize, usize)> = vec![(0, 0)];
    let mut letters = source.chars().peekable();
    while let Some(letter) = letters.next() {
        let atom = match letter {
            '(' => {
                open.push((0, 0));
                continue;
            }
            ')' if open.len() > 1 => open.pop().map_or(0, |(sum, last)| sum.saturating_add(last)),
            '{' => {
                let times: String = letters.by_ref().take_while(|it| *it != '}').collect();
                let most = times.split(',').filter_map(|it| it.trim().parse().ok()).max().unwrap_or(1);
                if let Some((_, last)) = open.last_mut() {
                    *last = last.saturating_mul(most.max(1));
                }
                continue;
            }
            '\\' => {
                letters.next();
                1
            }
            '[' => {
                let mut size = 1;
                while let Some(inside) = letters.next() {
                    match inside {
                        '\\' => drop(letters.next()),
                        ']' if size > 1 => break,
                        _ => {}
                    }
                    size += 1;
                }
                size
            }
            _ => 1,
        };
        if let Some((sum, last)) = open.last_mut() {
            *sum = sum.saturating_add(std::mem::replace(last, atom));
        }
    }
    open.into_iter().fold(0, |all, (sum, last)| all.saturating_add(sum).saturating_add(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_make_a_pattern_large() {
        for (source, expected) in
            [("abc", 3), ("a{10}", 10), ("(ab{3}){4}", 16), ("[a-z]{2,5}x", 21), ("\\{{3}", 3)]
        {
            assert_eq!(weight(source), expected, "{source}");
        }
        assert!(Pattern::new("((a{100}){100}){100}").is_err());
        assert!(Pattern::new("(").is_err());
        assert!(Pattern::new("a(").unwrap_err().contains("a("));
    }

    #[test]
    fn a_text_that_takes_too_long_does_not_match() {
        let pattern = Pattern::new("^(a{0,100}){0,100}$").unwrap();
        assert!(pattern.is_match("aaa"));
        assert!(!pattern.is_match(&"a".repeat(1_000_000)));
    }
}
