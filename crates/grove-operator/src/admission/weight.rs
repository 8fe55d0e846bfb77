//! How much memory a review takes once it is parsed, told from its text.
//!
//! A few bytes of JSON become hundreds of bytes of memory: `{"":0}` is a map with its own allocations. A body within the limit
//! could take more than the operator may have, so it is weighed before it is parsed. The weight is an estimate that is rather
//! too high: 10 to 15 times the text for ordinary sets, up to a hundred times for hostile ones.

/// Bytes that a parsed value takes within its parent.
const VALUE: usize = 80;
/// A list or map that is not empty: room for its first four values.
const CONTAINER: usize = 4 * VALUE;
/// What a map has for each key besides the value: its hash, the key, its place in the index.
const KEY: usize = 100;
/// Each of the two quotes of a string: half of what its allocation costs.
const QUOTE: usize = 16;

/// Bytes of memory that the values in a JSON text take; also of a text that is no JSON.
pub(super) fn weight(text: &[u8]) -> usize {
    let mut weight = text.len();
    let mut bytes = text.iter().copied();
    let mut before = 0;
    while let Some(byte) = bytes.next() {
        match byte {
            b' ' | b'\n' | b'\r' | b'\t' => continue,
            b'"' => {
                weight += 2 * QUOTE;
                skip_string(&mut bytes);
            }
            b',' => weight += VALUE,
            b':' => weight += KEY,
            _ => {}
        }
        // The value of an empty container was counted with the comma or container before it.
        if matches!(before, b'[' | b'{') && !matches!(byte, b']' | b'}') {
            weight += CONTAINER;
        }
        before = byte;
    }
    weight
}

fn skip_string(bytes: &mut impl Iterator<Item = u8>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return,
            b'\\' => {
                bytes.next();
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_strings_and_between_values_weighs_nothing_more() {
        let text = r#""[{,:\"[{,:""#;
        assert_eq!(weight(text.as_bytes()), text.len() + 2 * QUOTE);
        assert_eq!(weight(b"[ 1 , 2 ]"), weight(b"[1,2]") + 4);
        assert_eq!(weight(b"[ ]"), 3);
        // Also where it ends in the middle.
        assert_eq!(weight(br#""\"#), 2 + 2 * QUOTE);
    }

    #[test]
    fn small_containers_weigh_what_they_take() {
        let times = |part: &str| {
            let text = format!("[{}0]", format!("{part},").repeat(10_000));
            weight(text.as_bytes()) / text.len()
        };
        for (part, at_least) in [("0", 40), ("[0]", 100), (r#"{"":0}"#, 75), ("{}", 25)] {
            assert!(times(part) >= at_least, "{part}: {}", times(part));
        }
        let container = r#"{"name":"PATH_OF_MODEL","value":"/models/llama"}"#;
        assert!(times(container) < 20, "{}", times(container));
    }
}
