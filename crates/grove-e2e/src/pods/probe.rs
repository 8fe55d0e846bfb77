//! Probes, as a kubelet sends them.

use std::{
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use anyhow::{Context as _, Result, bail, ensure};
use k8s_openapi::{
    api::core::v1::{Container, Probe},
    apimachinery::pkg::util::intstr::IntOrString,
};
use tokio::time::sleep;

use crate::plain_http;

/// A probe, with the defaults of Kubernetes.
pub(super) struct Prober {
    address: SocketAddr,
    path: String,
    timeout: Duration,
    pub(super) delay: Duration,
    pub(super) period: Duration,
    /// `failureThreshold`.
    pub(super) failures: u32,
}

impl Prober {
    /// For a container whose pod has this address.
    pub(super) fn of(probe: &Probe, container: &Container, pod: Ipv4Addr) -> Result<Self> {
        let get = probe.http_get.as_ref().context("only httpGet probes are supported")?;
        let scheme = get.scheme.as_deref().unwrap_or("HTTP");
        ensure!(scheme == "HTTP", "probes by {scheme} are not supported");
        let seconds = |it: Option<i32>, default: u32| {
            let asked = it.and_then(|it| u32::try_from(it).ok()).filter(|it| *it > 0);
            Duration::from_secs(asked.unwrap_or(default).into())
        };
        let failures = probe.failure_threshold.and_then(|it| u32::try_from(it).ok()).filter(|it| *it > 0);
        Ok(Self {
            address: (pod, port(&get.port, container)?).into(),
            path: get.path.clone().unwrap_or_else(|| "/".to_owned()),
            timeout: seconds(probe.timeout_seconds, 1),
            delay: seconds(probe.initial_delay_seconds, 0),
            period: seconds(probe.period_seconds, 10),
            failures: failures.unwrap_or(3),
        })
    }

    /// Asks once.
    pub(super) async fn ask(&self) -> Result<()> {
        let what = || format!("GET http://{}{}", self.address, self.path);
        let answer = tokio::time::timeout(self.timeout, plain_http::get(self.address, &self.path)).await;
        let answer = answer.with_context(|| format!("{}: no answer within {:?}", what(), self.timeout))?;
        let (code, text) = answer.with_context(what)?;
        if !(200..400).contains(&code) {
            let first: String = text.lines().next().unwrap_or_default().chars().take(200).collect();
            bail!("{}: {code} {first}", what());
        }
        Ok(())
    }
}

/// Waits until a liveness probe has failed `failureThreshold` times in a row, and says why; forever if there is none.
pub(super) async fn until_failed(liveness: Option<Prober>) -> String {
    let Some(prober) = liveness else { return std::future::pending().await };
    let mut failures = 0;
    sleep(prober.delay).await;
    loop {
        match prober.ask().await {
            Ok(()) => failures = 0,
            Err(error) => {
                failures += 1;
                if failures >= prober.failures {
                    return format!("Liveness probe failed: {error:#}");
                }
            }
        }
        sleep(prober.period).await;
    }
}

fn port(port: &IntOrString, container: &Container) -> Result<u16> {
    let number = match port {
        IntOrString::Int(number) => *number,
        IntOrString::String(name) => {
            let named = container.ports.iter().flatten().find(|it| it.name.as_ref() == Some(name));
            named.with_context(|| format!("the container has no port {name:?}"))?.container_port
        }
    };
    Ok(u16::try_from(number)?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ports_are_found_by_name_and_defaults_are_those_of_kubernetes() {
        let container = json!({ "name": "c", "ports": [{ "name": "health", "containerPort": 9444 }] });
        let container: Container = serde_json::from_value(container).unwrap();
        let prober = |get: serde_json::Value| {
            let probe: Probe = serde_json::from_value(json!({ "httpGet": get })).unwrap();
            Prober::of(&probe, &container, Ipv4Addr::new(10, 128, 0, 1))
        };
        let named = prober(json!({ "path": "/readyz", "port": "health" })).unwrap();
        assert_eq!((named.address.to_string().as_str(), named.path.as_str()), ("10.128.0.1:9444", "/readyz"));
        assert_eq!(
            (named.period, named.timeout, named.failures),
            (Duration::from_secs(10), Duration::from_secs(1), 3)
        );
        assert_eq!(prober(json!({ "port": 1 })).unwrap().address.port(), 1);
        assert!(prober(json!({ "port": "none" })).is_err());
        assert!(prober(json!({ "port": 1, "scheme": "HTTPS" })).is_err());
    }
}
