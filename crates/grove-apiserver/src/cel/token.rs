//! From the text of an expression to its tokens.

use super::CompileError;
use super::ast::Literal;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Literal(Literal),
    Name(String),
    /// An operator or a bracket.
    Sign(&'static str),
    End,
}

/// The longer ones first.
const SIGNS: [&str; 26] = [
    "&&", "||", "==", "!=", "<=", ">=", "[?", ".?", "?", ":", ".", ",", "(", ")", "[", "]", "{", "}", "<",
    ">", "+", "-", "*", "/", "%", "!",
];

/// Reads all tokens, each with the place where it begins.
pub(super) fn tokens(text: &str) -> Result<Vec<(usize, Token)>, CompileError> {
    let mut reader = Reader { text, at: 0 };
    let mut out = Vec::new();
    loop {
        reader.skip_blank();
        let place = reader.at;
        let token = reader.next()?;
        let is_end = token == Token::End;
        out.push((place, token));
        if is_end {
            return Ok(out);
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn error(&self, what: &str) -> CompileError {
        CompileError::at(self.text, self.at, what)
    }

    fn skip_blank(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            if !trimmed.starts_with("//") {
                return;
            }
            self.at += trimmed.find('\n').unwrap_or(trimmed.len());
        }
    }

    fn next(&mut self) -> Result<Token, CompileError> {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Ok(Token::End) };
        if first.is_ascii_digit() || (first == '.' && rest[1..].starts_with(|it: char| it.is_ascii_digit())) {
            return self.number();
        }
        if let Some((raw, bytes, skip)) = string_start(rest) {
            self.at += skip;
            return self.string(raw, bytes);
        }
        if first.is_ascii_alphabetic() || first == '_' {
            let end = rest.find(|it: char| !(it.is_ascii_alphanumeric() || it == '_')).unwrap_or(rest.len());
            self.at += end;
            return Ok(match &rest[..end] {
                "true" => Token::Literal(Literal::Bool(true)),
                "false" => Token::Literal(Literal::Bool(false)),
                "null" => Token::Literal(Literal::Null),
                "in" => Token::Sign("in"),
                name => Token::Name(name.to_owned()),
            });
        }
        let sign = SIGNS
            .iter()
            .find(|it| rest.starts_with(**it))
            .ok_or_else(|| self.error(&format!("Syntax error: token recognition error at: '{first}'")))?;
        self.at += sign.len();
        Ok(Token::Sign(sign))
    }

    fn number(&mut self) -> Result<Token, CompileError> {
        let rest = self.rest();
        let wrong = |kind: &str| self.error(&format!("invalid {kind} literal"));
        if let Some(hex) = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X")) {
            let end = hex.find(|it: char| !it.is_ascii_hexdigit()).unwrap_or(hex.len());
            let digits = &hex[..end];
            let is_unsigned = hex[end..].starts_with(['u', 'U']);
            let number = u64::from_str_radix(digits, 16).map_err(|_| wrong("int"))?;
            let literal = if is_unsigned {
                Literal::Uint(number)
            } else {
                Literal::Int(i64::try_from(number).map_err(|_| wrong("int"))?)
            };
            self.at += 2 + end + usize::from(is_unsigned);
            return Ok(Token::Literal(literal));
        }
        let digits = |text: &str| text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len());
        let mut end = digits(rest);
        let mut is_double = false;
        if rest[end..].starts_with('.') && digits(&rest[end + 1..]) > 0 {
            end += 1 + digits(&rest[end + 1..]);
            is_double = true;
        }
        if rest[end..].starts_with(['e', 'E']) {
            let after = &rest[end + 1..];
            let sign = usize::from(after.starts_with(['+', '-']));
            let exponent = digits(&after[sign..]);
            if exponent > 0 {
                end += 1 + sign + exponent;
                is_double = true;
            }
        }
        let number = &rest[..end];
        let is_unsigned = !is_double && rest[end..].starts_with(['u', 'U']);
        let literal = if is_double {
            Literal::Double(number.parse().map_err(|_| wrong("double"))?)
        } else if is_unsigned {
            Literal::Uint(number.parse().map_err(|_| wrong("uint"))?)
        } else if number == "9223372036854775808" && self.text[..self.at].trim_end().ends_with('-') {
            // The parser negates it, which changes nothing.
            Literal::Int(i64::MIN)
        } else {
            Literal::Int(number.parse().map_err(|_| wrong("int"))?)
        };
        self.at += end + usize::from(is_unsigned);
        Ok(Token::Literal(literal))
    }

    fn string(&mut self, raw: bool, bytes: bool) -> Result<Token, CompileError> {
        let rest = self.rest();
        let quote =
            if rest.starts_with("'''") || rest.starts_with("\"\"\"") { &rest[..3] } else { &rest[..1] };
        self.at += quote.len();
        let mut text = Vec::new();
        loop {
            let rest = self.rest();
            if rest.starts_with(quote) {
                self.at += quote.len();
                break;
            }
            let Some(next) = rest.chars().next() else {
                return Err(self.error("Syntax error: unterminated string"));
            };
            if next == '\n' && quote.len() == 1 {
                return Err(self.error("Syntax error: unterminated string"));
            }
            if next == '\\' && !raw {
                self.escape(bytes, &mut text)?;
                continue;
            }
            self.at += next.len_utf8();
            text.extend_from_slice(next.encode_utf8(&mut [0; 4]).as_bytes());
        }
        if bytes {
            return Ok(Token::Literal(Literal::Bytes(text)));
        }
        let text = String::from_utf8(text).map_err(|_| self.error("Syntax error: invalid string"))?;
        Ok(Token::Literal(Literal::Text(text)))
    }

    /// Reads one escape sequence.
    fn escape(&mut self, bytes: bool, text: &mut Vec<u8>) -> Result<(), CompileError> {
        let rest = &self.rest()[1..];
        let bad = || self.error("Syntax error: invalid escape sequence");
        let letter = rest.chars().next().ok_or_else(bad)?;
        let simple = match letter {
            'a' => Some('\u{7}'),
            'b' => Some('\u{8}'),
            'f' => Some('\u{c}'),
            'n' => Some('\n'),
            'r' => Some('\r'),
            't' => Some('\t'),
            'v' => Some('\u{b}'),
            '\\' | '\'' | '"' | '`' | '?' => Some(letter),
            _ => None,
        };
        if let Some(simple) = simple {
            text.extend_from_slice(simple.encode_utf8(&mut [0; 4]).as_bytes());
            self.at += 1 + letter.len_utf8();
            return Ok(());
        }
        let (skip, length, radix) = match letter {
            'x' | 'X' => (1, 2, 16),
            'u' => (1, 4, 16),
            'U' => (1, 8, 16),
            '0'..='3' => (0, 3, 8),
            _ => return Err(bad()),
        };
        let digits = rest.get(skip..skip + length).ok_or_else(bad)?;
        let code = u32::from_str_radix(digits, radix).map_err(|_| bad())?;
        if bytes && length <= 3 {
            text.push(u8::try_from(code).map_err(|_| bad())?);
        } else {
            let letter = char::from_u32(code).ok_or_else(bad)?;
            text.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
        }
        self.at += 1 + skip + length;
        Ok(())
    }
}

/// Whether a string begins here: whether it is raw, whether it is of bytes, and how long its prefix is.
fn string_start(text: &str) -> Option<(bool, bool, usize)> {
    let quoted = |text: &str| text.starts_with(['\'', '"']);
    for (prefix, raw, bytes) in
        [("", false, false), ("r", true, false), ("b", false, true), ("rb", true, true), ("br", true, true)]
    {
        let matches = text.get(..prefix.len()).is_some_and(|it| it.eq_ignore_ascii_case(prefix));
        if matches && quoted(&text[prefix.len()..]) {
            return Some((raw, bytes, prefix.len()));
        }
    }
    None
}
