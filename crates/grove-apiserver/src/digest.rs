//! Short names for contents, for clients that want to know whether something changed.

/// The SHA-256 of some bytes, in hexadecimal digits.
pub(crate) fn digest(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(64);
    for byte in ring::digest::digest(&ring::digest::SHA256, bytes).as_ref() {
        // Writing to a string cannot fail.
        let _ = write!(out, "{byte:02X}");
    }
    out
}
