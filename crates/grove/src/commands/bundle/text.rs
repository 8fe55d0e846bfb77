//! Takes credentials out of text that others wrote: logs, messages, annotations. It knows how credentials are usually written, and
//! cannot know a password that stands alone.

use std::sync::LazyLock;

use regex_lite::Regex;

/// What stands where something was taken out.
pub(super) const REDACTED: &str = "<redacted>";

/// How credentials are written: words of which one is there (in lower case), the pattern, and what takes its place.
const PATTERNS: [(&[&str], &str, &str); 6] = [
    (
        &["private key"],
        r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)",
        REDACTED,
    ),
    (
        &["authorization"],
        r#"(?i)(authorization\\?["']?\s*[:=]\s*\[?\\?["']?)(?:(?:basic|bearer|digest|negotiate)\s+)?[^\s"'\\,\]]+"#,
        "${1}<redacted>",
    ),
    (&["bearer"], r#"(?i)\b(bearer)[\s:=]+[^\s"'\\,;\])}]+"#, "${1} <redacted>"),
    (&["://"], r#"([A-Za-z][A-Za-z0-9+.-]*://)[^/\s"']+@"#, "${1}<redacted>@"),
    // The head of a JSON web token, which is JSON in base64.
    (&["eyj"], r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?", REDACTED),
    (
        &["password", "passwd", "secret", "token", "key"],
        r#"(?i)((?:password|passwd|secret|token|api[_-]?key|access[_-]?key)\\?["']?\s*[:=]\s*)(?:\\?"[^"\\]*\\?"|'[^']*'|[^\s"'\\,;&})\]]+)"#,
        "${1}<redacted>",
    ),
];

struct Rule {
    hints: &'static [&'static str],
    /// `None` where the pattern is none, which a test rules out.
    pattern: Option<Regex>,
    replacement: &'static str,
}

static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let rule = |(hints, pattern, replacement)| Rule { hints, pattern: Regex::new(pattern).ok(), replacement };
    Vec::from(PATTERNS.map(rule))
});

/// The text without what looks like a credential; `None` where nothing has to be taken out.
pub(super) fn redacted(text: &str) -> Option<String> {
    // Most text has none of these words, and looking for them is much cheaper than matching.
    let lower = text.to_ascii_lowercase();
    let mut clean: Option<String> = None;
    for rule in RULES.iter().filter(|it| it.hints.iter().any(|hint| lower.contains(hint))) {
        let now = clean.as_deref().unwrap_or(text);
        clean = Some(match &rule.pattern {
            Some(pattern) => pattern.replace_all(now, rule.replacement).into_owned(),
            None => REDACTED.to_owned(),
        });
    }
    clean.filter(|it| it != text)
}

/// The last lines of a text that have together at most `max` bytes.
pub(super) fn tail(text: &str, max: usize) -> &str {
    if text.len() <= max {
        return text;
    }
    let mut start = text.len() - max;
    while !text.is_char_boundary(start) {
        start += 1;
    }
    // A line of which the beginning is missing says nothing.
    text[start..].split_once('\n').map_or("", |it| it.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_one() {
        assert!(RULES.iter().all(|it| it.pattern.is_some()));
    }

    #[test]
    fn credentials_are_taken_out() {
        let rows = [
            ("Authorization: Bearer c4n4ry", "Authorization: <redacted>"),
            ("headers={\"Authorization\":\"Basic YTpi\"}", "headers={\"Authorization\":\"<redacted>\"}"),
            ("Authorization:[Bearer c4n4ry] Accept:[*/*]", "Authorization:[<redacted>] Accept:[*/*]"),
            ("sent bearer c4n4ry, refused", "sent bearer <redacted>, refused"),
            (
                "GET https://me:c4n4ry@registry.example.com/v2",
                "GET https://<redacted>@registry.example.com/v2",
            ),
            ("https://me:c4@n4ry@host", "https://<redacted>@host"),
            ("token eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJ4In0.c2ln end", "token <redacted> end"),
            ("password=c4n4ry user=me", "password=<redacted> user=me"),
            ("DB_PASSWORD: 'c4 n4 ry', DB_USER: me", "DB_PASSWORD: <redacted>, DB_USER: me"),
            ("{\"hf_token\":\"c4n4ry\",\"a\":1}", "{\"hf_token\":<redacted>,\"a\":1}"),
            ("msg=\"token=\\\"c4n4ry\\\" sent\"", "msg=\"token=<redacted> sent\""),
            ("?api_key=c4n4ry&page=2", "?api_key=<redacted>&page=2"),
            (
                "a\n-----BEGIN EC PRIVATE KEY-----\nc4n4ry\n-----END EC PRIVATE KEY-----\nb",
                "a\n<redacted>\nb",
            ),
            ("-----BEGIN PRIVATE KEY-----\nc4n4ry", "<redacted>"),
        ];
        for (text, want) in rows {
            let clean = redacted(text).unwrap_or_else(|| panic!("{text} is kept"));
            assert_eq!(clean, want);
            assert_eq!(redacted(&clean), None, "{text}: again");
        }
    }

    #[test]
    fn other_text_is_kept() {
        for text in [
            "",
            "registry.example.com/server:1.0",
            "https://kubernetes.default.svc:443/api?watch=true",
            "0/4 nodes are available: 4 Insufficient nvidia.com/gpu",
            "the bearer of news",
            "secret \"grove-webhook-server-cert\" not found",
            "grove.io/podclique=chat-0-decode",
            "-----BEGIN CERTIFICATE-----",
        ] {
            let kept = redacted(text);
            // Words about credentials may cost a word beside them, but nothing else.
            assert!(kept.is_none() || text.contains("bearer"), "{kept:?}");
        }
    }

    #[test]
    fn a_tail_has_whole_lines() {
        let rows = [
            ("a\nb\nc\n", 4, "c\n"),
            ("a\nb\n", 4, "a\nb\n"),
            ("abcdef", 3, ""),
            ("ä\nö\nü", 4, "ü"),
            ("", 0, ""),
        ];
        for (text, max, want) in rows {
            assert_eq!(tail(text, max), want, "{text:?}");
        }
    }
}
