//! What a program said before it ended.

use std::path::Path;

/// So many lines hold the cause and what led to it.
const LINES: usize = 8;

/// The end of a log, each line on one of its own: where the machine is gone, a path says nothing.
pub(crate) fn last_words(log: &Path) -> String {
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().rev().take(LINES).collect();
    lines.into_iter().rev().fold(String::new(), |all, line| all + "\n    " + line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_told_in_their_order() {
        let log = std::env::temp_dir().join(format!("grove-last-words-{}", std::process::id()));
        let lines: Vec<String> = (1..=20).map(|it| format!("line {it}")).collect();
        std::fs::write(&log, lines.join("\n")).unwrap();
        let words = last_words(&log);
        std::fs::remove_file(&log).unwrap();
        assert!(words.starts_with("\n    line 13\n    line 14"), "{words}");
        assert!(words.ends_with("\n    line 20"), "{words}");
        assert_eq!(last_words(&log), "");
    }
}
