//! The formats of texts that Kubernetes checks. Others say nothing.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use k8s_openapi::jiff::{Timestamp, civil::Date};

use super::is_duration;

/// Whether a text has a format.
pub(super) fn fits(format: &str, text: &str) -> bool {
    match format {
        "date-time" | "datetime" => {
            text.len() >= 20 && text.contains(['T', 't']) && text.parse::<Timestamp>().is_ok()
        }
        "date" => text.len() == 10 && text.parse::<Date>().is_ok(),
        "duration" => is_duration(text).is_some(),
        "byte" => STANDARD.decode(text).is_ok(),
        "ipv4" => text.parse::<Ipv4Addr>().is_ok(),
        "ipv6" => text.parse::<Ipv6Addr>().is_ok(),
        "cidr" => is_cidr(text),
        "uuid" | "uuid3" | "uuid4" | "uuid5" => is_uuid(format, text),
        "hostname" => is_hostname(text),
        "mac" => is_mac(text),
        "uri" => is_uri(text),
        "email" => text.split_once('@').is_some_and(|(name, host)| !name.is_empty() && is_hostname(host)),
        "hexcolor" => {
            let digits = text.strip_prefix('#').unwrap_or(text);
            matches!(digits.len(), 3 | 6) && digits.bytes().all(|it| it.is_ascii_hexdigit())
        }
        _ => true,
    }
}

fn is_cidr(text: &str) -> bool {
    let Some((ip, bits)) = text.split_once('/') else { return false };
    let width = match ip.parse() {
        Ok(IpAddr::V4(_)) => 32,
        Ok(IpAddr::V6(_)) => 128,
        Err(_) => return false,
    };
    bits.bytes().all(|it| it.is_ascii_digit()) && bits.parse::<u32>().is_ok_and(|it| it <= width)
}

/// Dashes may be left out.
fn is_uuid(format: &str, text: &str) -> bool {
    let digits: String = text.chars().filter(|it| *it != '-').collect();
    let has_version = match format.strip_prefix("uuid") {
        None | Some("") => true,
        Some(version) => digits.get(12..13) == Some(version),
    };
    digits.len() == 32 && has_version && digits.bytes().all(|it| it.is_ascii_hexdigit())
}

fn is_hostname(text: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-' || it == b'_')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    text.len() <= 255 && text.trim_end_matches('.').split('.').all(is_label)
}

fn is_mac(text: &str) -> bool {
    let by = if text.contains('-') { '-' } else { ':' };
    let parts: Vec<&str> = text.split(by).collect();
    matches!(parts.len(), 6 | 8)
        && parts.iter().all(|it| it.len() == 2 && it.bytes().all(|it| it.is_ascii_hexdigit()))
}

/// An absolute URI, or an absolute path.
fn is_uri(text: &str) -> bool {
    let has_scheme = || {
        text.split_once(':').is_some_and(|(scheme, rest)| {
            let fits = |it: u8| it.is_ascii_alphanumeric() || b"+-.".contains(&it);
            scheme.starts_with(|it: char| it.is_ascii_alphabetic())
                && scheme.bytes().all(fits)
                && !rest.is_empty()
        })
    };
    let is_plain = text.bytes().all(|it| it > b' ' && it != 0x7f);
    is_plain && (text.starts_with('/') || has_scheme())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats() {
        for (format, good, bad) in [
            ("date-time", "2026-01-02T12:00:00Z", "2026-01-02"),
            ("date", "2026-01-02", "2026-13-02"),
            ("duration", "1h", "1"),
            ("byte", "Zm9v", "Z"),
            ("ipv4", "1.2.3.4", "1.2.3"),
            ("ipv6", "::1", "1.2.3.4"),
            ("cidr", "10.0.0.0/8", "10.0.0.0/33"),
            ("uuid", "00000000-0000-4000-8000-000000000000", "0000"),
            ("uuid4", "00000000-0000-4000-8000-000000000000", "00000000-0000-3000-8000-000000000000"),
            ("hostname", "a.example.com", "-a"),
            ("mac", "00:11:22:33:44:55", "00:11"),
            ("uri", "https://example.com/", "example"),
            ("email", "a@example.com", "a"),
            ("hexcolor", "#ffaa00", "#ff"),
        ] {
            assert!(fits(format, good), "{format} {good}");
            assert!(!fits(format, bad), "{format} {bad}");
        }
        assert!(fits("int32", "anything") && fits("unknown", ""));
    }
}
