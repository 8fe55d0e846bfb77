//! SHA-256, as OCI and `sha256sum` write it.

use std::fmt::Write;

use ring::digest;

/// 64 lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in digest::digest(&digest::SHA256, bytes).as_ref() {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_nothing() {
        // FIPS 180-4's value of the empty message.
        assert_eq!(hex(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }
}
