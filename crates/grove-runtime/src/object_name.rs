//! Names of objects, kinds and API groups that others choose and that become a part of a request's path.
//!
//! kube's client puts a name into the path as it is. A name with a `?` in it changes the request: a read becomes a watch,
//! which never ends. So whatever a user may choose is checked before a request is made of it.

const LONGEST_LABEL: usize = 63;
const LONGEST_NAME: usize = 253;

/// Whether `text` is a DNS label, as versions of an API group are.
pub fn is_dns_label(text: &str) -> bool {
    let is_inner = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-';
    (1..=LONGEST_LABEL).contains(&text.len())
        && text.bytes().all(is_inner)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// Whether `text` is a DNS subdomain, which Kubernetes asks of API groups and of the names of nearly all objects. The length
/// of its labels is not limited, as in Kubernetes.
pub fn is_dns_subdomain(text: &str) -> bool {
    let is_inner = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-';
    let is_label =
        |it: &str| !it.is_empty() && it.bytes().all(is_inner) && !it.starts_with('-') && !it.ends_with('-');
    text.len() <= LONGEST_NAME && text.split('.').all(is_label)
}

/// Whether `text` is `version` or `group/version`.
pub fn is_api_version(text: &str) -> bool {
    match text.split_once('/') {
        Some((group, version)) => is_dns_subdomain(group) && is_dns_label(version),
        None => is_dns_label(text),
    }
}

/// Whether `text` is the name of a kind: a DNS label, if it were in lower case, that begins with a letter.
pub fn is_kind(text: &str) -> bool {
    text.starts_with(|it: char| it.is_ascii_alphabetic()) && is_dns_label(&text.to_ascii_lowercase())
}

/// Whether `text` can stand in a path as it is. Kubernetes asks this of every name, also of those that are no DNS names
/// (`system:node`); we ask in addition that nothing in it means something in a URL.
pub fn is_path_segment(text: &str) -> bool {
    let is_plain = |it: u8| it.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&it);
    (1..=LONGEST_NAME).contains(&text.len()) && text.bytes().all(is_plain) && text != "." && text != ".."
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a tenant would try in place of a name.
    const HOSTILE: [&str; 14] = [
        "",
        ".",
        "..",
        "a/b",
        "../secrets/x",
        "a%2fb",
        "?watch=true&x=",
        "?watch=true&x=/",
        "a?watch=true",
        "a#b",
        "a b",
        "a\nb",
        "a\\b",
        "ä",
    ];

    #[test]
    fn nothing_hostile_is_a_name_of_any_sort() {
        for text in HOSTILE {
            assert!(!is_dns_label(text) && !is_dns_subdomain(text), "{text:?}");
            assert!(!is_kind(text) && !is_path_segment(text), "{text:?}");
            assert!(!is_api_version(text) || text == "a/b", "{text:?}");
            assert!(
                !is_api_version(&format!("{text}/v1")) && !is_api_version(&format!("g/{text}")),
                "{text:?}"
            );
        }
        assert!(!is_api_version("a/b/c"));
    }

    #[test]
    fn names_that_kubernetes_takes() {
        assert!(is_dns_subdomain("a-1.b") && !is_dns_subdomain("A") && !is_dns_subdomain("-a"));
        assert!(is_dns_subdomain(&"a".repeat(253)) && !is_dns_subdomain(&"a".repeat(254)));
        assert!(is_dns_label(&"a".repeat(63)) && !is_dns_label(&"a".repeat(64)));
        for text in ["v1", "apps/v1", "scheduling.run.ai/v2alpha2"] {
            assert!(is_api_version(text), "{text}");
        }
        for text in ["Pod", "PyTorchJob", "TFJob", "Widget2", "my-Kind"] {
            assert!(is_kind(text), "{text}");
        }
        assert!(!is_kind("2Widgets"));
        assert!(is_path_segment("system:node") && !is_path_segment(&"a".repeat(254)));
    }
}
