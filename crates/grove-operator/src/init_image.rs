//! The image of the init container of pods that start in order.

use grove_api::constants::start_order::{IMAGE_VARIABLE, INIT_CONTAINER};

/// As the environment says; else the name that a local build has.
pub(crate) fn from_environment() -> String {
    image(std::env::var(IMAGE_VARIABLE).ok().as_deref(), env!("CARGO_PKG_VERSION"))
}

/// An image without a tag or digest is that of the operator's own version.
fn image(wanted: Option<&str>, version: &str) -> String {
    let name = wanted.map(str::trim).filter(|it| !it.is_empty()).unwrap_or(INIT_CONTAINER);
    // A colon before the last slash is that of a port.
    let last = name.rsplit('/').next().unwrap_or(name);
    if last.contains([':', '@']) { name.to_owned() } else { format!("{name}:{version}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_tag_is_the_version() {
        let digest = "registry.example.com/grove-initc@sha256:0123";
        let rows = [
            (None, "grove-initc:1.2.3"),
            (Some(""), "grove-initc:1.2.3"),
            (Some(" "), "grove-initc:1.2.3"),
            (Some("mine/initc"), "mine/initc:1.2.3"),
            (Some("registry.example.com:5000/initc"), "registry.example.com:5000/initc:1.2.3"),
            (Some("registry.example.com:5000/initc:v7"), "registry.example.com:5000/initc:v7"),
            (Some("initc:v7"), "initc:v7"),
            (Some(digest), digest),
        ];
        for (wanted, want) in rows {
            assert_eq!(image(wanted, "1.2.3"), want, "{wanted:?}");
        }
    }
}
