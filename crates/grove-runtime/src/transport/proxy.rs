//! Proxies are not supported. kube takes one from the environment for every server, and leaves `NO_PROXY` unread in this build; here the
//! environment means what it means to Go's programs, kubectl among them.

use std::net::IpAddr;

use http::Uri;
use kube::Config;

use super::ConnectError;

/// Those that kube reads, in its order.
const PROXY_VARIABLES: [&str; 2] = ["HTTPS_PROXY", "https_proxy"];
const NO_PROXY_VARIABLES: [&str; 2] = ["NO_PROXY", "no_proxy"];

/// Removes a proxy of the environment that is not meant for this server: one on the loopback interface, or in `NO_PROXY`. Any other
/// proxy is an error.
pub fn without_proxy(config: &mut Config) -> Result<(), ConnectError> {
    decide(config, |name| std::env::var(name).ok())
}

fn decide(config: &mut Config, variable: impl Fn(&str) -> Option<String>) -> Result<(), ConnectError> {
    let Some(proxy) = config.proxy_url.clone() else { return Ok(()) };
    let value = |name: &str| variable(name).filter(|it| !it.is_empty());
    let url = &config.cluster_url;
    // kube prefers the kubeconfig's. Which one it is cannot be seen, unless they differ.
    let name = PROXY_VARIABLES.into_iter().find(|it| value(it).is_some());
    let name = name.filter(|it| value(it).and_then(|it| it.parse().ok()).as_ref() == Some(&proxy));
    let origin = match name {
        Some(_) if is_direct(url, NO_PROXY_VARIABLES.into_iter().find_map(value).as_deref()) => {
            config.proxy_url = None;
            return Ok(());
        }
        Some(name) => format!("by {name}; unset it, or add {} to NO_PROXY", host(url)),
        None => "by the kubeconfig; remove proxy-url".to_owned(),
    };
    let proxy = proxy.host().unwrap_or_default().to_owned();
    Err(ConnectError::Proxy { url: url.to_string(), proxy, origin })
}

/// Without the brackets of an IPv6 address.
fn host(url: &Uri) -> &str {
    url.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']')
}

/// Whether Go's programs connect to a server without the proxy of the environment.
fn is_direct(url: &Uri, no_proxy: Option<&str>) -> bool {
    let name = host(url).to_ascii_lowercase();
    let address: Option<IpAddr> = name.parse().ok();
    if name == "localhost" || address.is_some_and(|it| it.to_canonical().is_loopback()) {
        return true;
    }
    let port = url.port_u16().unwrap_or(if url.scheme_str() == Some("http") { 80 } else { 443 });
    let entries = no_proxy.unwrap_or_default().split(',').map(|it| it.trim().to_ascii_lowercase());
    entries.filter(|it| !it.is_empty()).any(|entry| matches(&entry, &name, address, port))
}

/// An entry of `NO_PROXY`: `*`, a network, an address or a domain; the last two may have a port.
fn matches(entry: &str, name: &str, address: Option<IpAddr>, port: u16) -> bool {
    if entry == "*" {
        return true;
    }
    if let Some((network, bits)) = network(entry) {
        return address.is_some_and(|it| is_in(it.to_canonical(), network, bits));
    }
    // An IPv6 address without brackets has no port.
    let (entry, entry_port) = match entry.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => (host, Some(port)),
        _ => (entry, None),
    };
    if entry_port.is_some_and(|it| it.parse() != Ok(port)) {
        return false;
    }
    let entry = entry.trim_start_matches('[').trim_end_matches(']');
    if let Ok(wanted) = entry.parse::<IpAddr>() {
        return address.is_some_and(|it| it.to_canonical() == wanted.to_canonical());
    }
    let entry = entry.strip_prefix('*').filter(|it| it.starts_with('.')).unwrap_or(entry);
    let is_below = |domain: &str| name.strip_suffix(domain).is_some_and(|it| it.ends_with('.'));
    match entry.strip_prefix('.') {
        Some(domain) => is_below(domain),
        None => !entry.is_empty() && (name == entry || is_below(entry)),
    }
}

/// `10.0.0.0/8`
fn network(entry: &str) -> Option<(IpAddr, u32)> {
    let (address, bits) = entry.split_once('/')?;
    let (address, bits): (IpAddr, u32) = (address.parse().ok()?, bits.parse().ok()?);
    (bits <= if address.is_ipv4() { 32 } else { 128 }).then_some((address, bits))
}

fn is_in(address: IpAddr, network: IpAddr, bits: u32) -> bool {
    match (address, network) {
        (IpAddr::V4(address), IpAddr::V4(network)) => {
            let differing = u32::from(address) ^ u32::from(network);
            differing.leading_zeros() >= bits
        }
        (IpAddr::V6(address), IpAddr::V6(network)) => {
            let differing = u128::from(address) ^ u128::from(network);
            differing.leading_zeros() >= bits
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(server: &str, proxy: &str) -> Config {
        let mut config = Config::new(server.parse().unwrap());
        config.proxy_url = Some(proxy.parse().unwrap());
        config
    }

    #[test]
    fn servers_that_go_connects_to_without_a_proxy() {
        let rows = [
            ("https://127.0.0.1:6443", None, true),
            ("https://[::1]:6443", None, true),
            ("https://localhost:6443", Some(""), true),
            ("https://10.1.2.3", None, false),
            ("https://10.1.2.3", Some("*"), true),
            ("https://10.1.2.3", Some("192.168.0.0/16, 10.0.0.0/8"), true),
            ("https://11.1.2.3", Some("10.0.0.0/8"), false),
            ("https://11.1.2.3", Some("0.0.0.0/0"), true),
            ("https://10.1.2.3", Some("10.1.2.3"), true),
            ("https://10.1.2.3:6443", Some("10.1.2.3:6443"), true),
            ("https://10.1.2.3", Some("10.1.2.3:6443"), false),
            ("https://[fd00::1]", Some("fd00::/8"), true),
            ("https://[fd00::1]", Some("fd00::1"), true),
            ("https://[fd00::1]:6443", Some("[fd00::1]:6443"), true),
            ("https://api.example.com", Some("example.com"), true),
            ("https://example.com", Some("EXAMPLE.com"), true),
            ("https://example.com", Some(".example.com"), false),
            ("https://api.example.com", Some("*.example.com"), true),
            ("https://badexample.com", Some("example.com"), false),
            ("https://api.example.com", Some("example.com:443"), true),
            ("https://api.example.com:6443", Some("example.com:443,,"), false),
        ];
        for (server, no_proxy, want) in rows {
            assert_eq!(is_direct(&server.parse().unwrap(), no_proxy), want, "{server} {no_proxy:?}");
        }
    }

    #[test]
    fn the_environments_proxy_is_not_for_excluded_servers() {
        let proxy = "http://proxy.invalid:1";
        let environment = |name: &str| match name {
            "https_proxy" => Some(proxy.to_owned()),
            "NO_PROXY" => Some("example.com".to_owned()),
            // An empty one counts as none.
            _ => Some(String::new()),
        };
        for server in ["https://127.0.0.1:6443", "https://api.example.com"] {
            let mut config = config(server, proxy);
            decide(&mut config, environment).unwrap();
            assert_eq!(config.proxy_url, None);
        }
        let said = decide(&mut config("https://10.1.2.3:6443", proxy), environment).unwrap_err().to_string();
        assert!(said.ends_with("by https_proxy; unset it, or add 10.1.2.3 to NO_PROXY"), "{said}");
    }

    /// As with kubectl, `NO_PROXY` is not about the kubeconfig's.
    #[test]
    fn a_proxy_of_the_kubeconfig_is_refused_for_every_server() {
        let environment = |name: &str| (name == "HTTPS_PROXY").then(|| "http://other:1".to_owned());
        let said = decide(&mut config("https://127.0.0.1:6443", "http://proxy:1"), environment);
        let said = said.unwrap_err().to_string();
        assert!(said.contains("proxy is configured as one by the kubeconfig; remove proxy-url"), "{said}");
    }
}
