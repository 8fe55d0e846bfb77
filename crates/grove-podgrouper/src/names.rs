//! Names of groups.
//!
//! They are those of KAI's pod grouper. Only a name that the API server would refuse is made shorter.

/// Characters of an object's name.
const MAX_NAME: usize = 253;
/// Characters of a hash, with the dash before it.
const HASH: usize = 17;

/// The group of an object.
pub(crate) fn group_name(name: &str, uid: &str) -> String {
    shortened(format!("pg-{name}-{uid}"), MAX_NAME)
}

/// The text, if it is not too long; else its beginning and a hash of all of it, so that it is always the same one.
fn shortened(text: String, longest: usize) -> String {
    if text.len() <= longest {
        return text;
    }
    let mut end = longest.saturating_sub(HASH);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let beginning = text[..end].trim_end_matches(|it: char| !it.is_ascii_alphanumeric());
    format!("{beginning}-{:016x}", fnv(&text))
}

/// FNV-1a.
fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests;
