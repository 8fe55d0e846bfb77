//! Reads the text of a path. The schema has the same grammar as a pattern, without the words for what is wrong.

use super::{JsonPath, Step, To};
use crate::limits::{MAX_JSON_PATH, MAX_JSON_PATH_STEPS};

/// Digits of an index.
const MAX_DIGITS: usize = 4;

/// What is wrong with a path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("character {position}: {detail}")]
pub struct Malformed {
    /// The character at which it goes wrong, from 1.
    pub position: usize,
    /// What is wrong there, and what to write.
    pub detail: String,
}

impl JsonPath {
    /// Understands a path, or says why not.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        let length = text.chars().count();
        if length > MAX_JSON_PATH {
            let detail = format!("the path has {length} characters, more than {MAX_JSON_PATH}");
            return Err(Malformed { position: MAX_JSON_PATH + 1, detail });
        }
        let mut reader = Reader { text, at: 0 };
        let from_root = reader.take('$');
        let mut steps = Vec::new();
        while let Some(next) = reader.peek() {
            if steps.len() == MAX_JSON_PATH_STEPS {
                return Err(reader.wrong(format!("a path may have {MAX_JSON_PATH_STEPS} steps")));
            }
            let to = match next {
                '.' => reader.field()?,
                '[' => reader.bracket()?,
                '{' => return Err(reader.wrong("leave the braces out: .spec.replicas")),
                _ if steps.is_empty() => {
                    return Err(reader.wrong("a path begins with a dot, as .spec.replicas"));
                }
                other => {
                    let advice = "write a dot and a field, or a key in brackets and quotes, as ['a b']";
                    return Err(reader.wrong(format!("{other:?} does not fit here: {advice}")));
                }
            };
            steps.push(Step { to, end: reader.at });
        }
        if steps.is_empty() {
            return Err(reader.wrong("the path names no field: write one, as .spec.replicas"));
        }
        Ok(Self { text: text.to_owned(), from_root, steps })
    }
}

struct Reader<'a> {
    text: &'a str,
    /// Bytes that were read.
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take(&mut self, wanted: char) -> bool {
        let is_there = self.peek() == Some(wanted);
        if is_there {
            self.at += wanted.len_utf8();
        }
        is_there
    }

    fn take_while(&mut self, fits: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|it| !fits(it)).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }

    fn wrong(&self, detail: impl Into<String>) -> Malformed {
        let read = self.text.get(..self.at).unwrap_or_default();
        Malformed { position: read.chars().count() + 1, detail: detail.into() }
    }

    /// `.name`, where `\.` is a dot of the name.
    fn field(&mut self) -> Result<To, Malformed> {
        self.take('.');
        let mut name = String::new();
        loop {
            name.push_str(self.take_while(|it| it.is_ascii_alphanumeric() || matches!(it, '_' | '-' | '/')));
            if !self.rest().starts_with("\\.") {
                break;
            }
            self.at += 2;
            name.push('.');
        }
        match self.peek() {
            _ if !name.is_empty() => Ok(To::Key(name)),
            Some('*') => Err(self.wrong("write [*] for all items, without a dot before it")),
            Some('.') => Err(self.wrong("name every field: a path cannot search")),
            Some('[') => Err(self.wrong("leave the dot before the bracket out")),
            _ => Err(self.wrong("a field has to follow the dot")),
        }
    }

    /// `[0]`, `[*]`, `['key']` or `["key"]`.
    fn bracket(&mut self) -> Result<To, Malformed> {
        self.take('[');
        let to = match self.peek() {
            Some('*') => {
                self.take('*');
                To::All
            }
            Some(quote @ ('\'' | '"')) => self.quoted(quote)?,
            Some(it) if it.is_ascii_digit() => self.index()?,
            Some('?') => return Err(self.wrong("a path cannot filter: write an index, * or a key in quotes")),
            _ => return Err(self.wrong("write an index from 0, * or a key in quotes")),
        };
        if self.take(']') { Ok(to) } else { Err(self.wrong("] is missing")) }
    }

    fn quoted(&mut self, quote: char) -> Result<To, Malformed> {
        self.take(quote);
        let key = self.take_while(|it| it != quote);
        if key.is_empty() {
            return Err(self.wrong("the key is empty"));
        }
        if self.take(quote) {
            Ok(To::Key(key.to_owned()))
        } else {
            Err(self.wrong(format!("the key has no end: {quote} is missing")))
        }
    }

    fn index(&mut self) -> Result<To, Malformed> {
        let begin = self.at;
        let digits = self.take_while(|it| it.is_ascii_digit());
        match digits.parse() {
            Ok(index) if digits.len() <= MAX_DIGITS => Ok(To::Index(index)),
            _ => {
                self.at = begin;
                Err(self.wrong(format!("an index has at most {MAX_DIGITS} digits")))
            }
        }
    }
}
