//! The operator configuration through its public API: which schedulers a file asks for, what it defaults to, and
//! where exactly a bad file is wrong.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use grove_api::{
    config::{CertProvisionMode, Key, KnownBackend, Loaded, LogFormat, LogLevel, OperatorConfiguration},
    config::{Shape, check_keys, load},
    field::{Error, ErrorKind, Errors, Path},
    wire::GoDuration,
};
use serde_json::{Value, json};

#[path = "config/arbitrary.rs"]
mod arbitrary;
#[path = "config/backends.rs"]
mod backends;
#[path = "config/ignored.rs"]
mod ignored;
#[path = "config/third_party.rs"]
mod third_party;

const PRODUCTION: &str = include_str!("config/production.yaml");
const OLDER: &str = include_str!("config/older.yaml");
const SCHEDULERS: &str = include_str!("config/schedulers.yaml");
const MANY_MISTAKES: &str = include_str!("config/many-mistakes.yaml");
const REFUSED: &str = include_str!("config/refused.txt");

fn parse(yaml: &str) -> Value {
    serde_saphyr::from_str(yaml).unwrap_or_else(|error| panic!("{error}\n{yaml}"))
}

fn header() -> Value {
    json!({ "apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration" })
}

/// A file that says `body` besides its header: the inside of a YAML flow mapping.
fn file(body: &str) -> Value {
    parse(&format!(
        "{{ apiVersion: operator.config.grove.io/v1alpha1, kind: OperatorConfiguration, {body} }}"
    ))
}

fn try_load(value: &Value) -> Result<Loaded, Errors> {
    load(value, backends::BACKENDS)
}

fn loaded(body: &str) -> Loaded {
    try_load(&file(body)).unwrap_or_else(|errors| panic!("{errors:?}\n{body}"))
}

/// Paths and kinds of the errors.
fn errors_of(value: &Value) -> Vec<(String, ErrorKind)> {
    let errors = try_load(value).expect_err("must be refused");
    errors.iter().map(|error| (error.path.to_string(), error.kind)).collect()
}

#[test]
fn every_style_of_choosing_schedulers() {
    let cases: Vec<Value> = serde_saphyr::from_str(SCHEDULERS).unwrap();
    for case in cases {
        let mut file = case["file"].clone();
        for (key, value) in header().as_object().unwrap() {
            file[key] = value.clone();
        }
        let loaded = try_load(&file).unwrap_or_else(|errors| panic!("{errors:?}\n{case}"));
        let active: Vec<_> = loaded.profiles.active().iter().map(|it| json!([it.name, it.config])).collect();
        assert_eq!(json!(active), case["active"], "{case}");
        assert_eq!(loaded.profiles.default_name(), case["default"], "{case}");

        // The configuration says the same, in the new style.
        let written = loaded.config.scheduler;
        let names: Vec<_> = written.profiles.iter().map(|it| json!([it.name, it.config])).collect();
        assert_eq!(json!(names), case["active"], "{case}");
        let marked: Vec<_> = written.profiles.iter().filter(|it| it.default).map(|it| &it.name).collect();
        assert_eq!(
            json!([marked, written.default_profile_name]),
            json!([[case["default"]], case["default"]]),
            "{case}"
        );
        assert_eq!(loaded.config.scheduler_name, None, "{case}");
    }
}

#[test]
fn pods_are_matched_by_the_name_they_carry() {
    let profiles = loaded("scheduler: { profiles: [{ name: kai-scheduler, default: true }] }").profiles;
    assert_eq!(profiles.names().collect::<Vec<_>>(), ["kai-scheduler", "default-scheduler"]);
    let cases = [
        ("", Some("kai-scheduler")),
        ("kai-scheduler", Some("kai-scheduler")),
        ("default-scheduler", Some("default-scheduler")),
        ("kube-scheduler", None),
        ("volcano", None),
    ];
    for (scheduler_name, want) in cases {
        assert_eq!(profiles.get(scheduler_name).map(|it| it.name.as_str()), want, "{scheduler_name:?}");
        assert_eq!(profiles.is_active(scheduler_name), want.is_some(), "{scheduler_name:?}");
    }
    assert!(profiles.get("kai-scheduler").unwrap().topology_aware);
    assert!(!profiles.get("default-scheduler").unwrap().topology_aware);
}

#[test]
fn an_empty_file_gets_upstreams_defaults() {
    let want = json!({
        "apiVersion": "operator.config.grove.io/v1alpha1",
        "kind": "OperatorConfiguration",
        "runtimeClientConnection": { "qps": 100.0, "burst": 120, "contentType": "", "acceptContentTypes": "" },
        "leaderElection": {
            "enabled": false, "leaseDuration": "15s", "renewDeadline": "10s", "retryPeriod": "2s",
            "resourceLock": "leases", "resourceName": "grove-operator-leader-election", "resourceNamespace": "",
        },
        "server": {
            "webhooks": {
                "bindAddress": "", "port": 2750, "serverCertDir": "/etc/grove-operator/webhook-certs",
                "secretName": "grove-webhook-server-cert", "certProvisionMode": "auto",
            },
            "healthProbes": { "bindAddress": "", "port": 2751 },
            "metrics": { "bindAddress": "", "port": 2752 },
        },
        "controllers": {
            "podCliqueSet": { "concurrentSyncs": 10 }, "podClique": { "concurrentSyncs": 10 },
            "podCliqueScalingGroup": { "concurrentSyncs": 5 }, "podGang": { "concurrentSyncs": 5 },
        },
        "logLevel": "info",
        "logFormat": "json",
        "authorizer": { "enabled": false, "exemptServiceAccountUserNames": [] },
        "topologyAwareScheduling": { "enabled": false },
        "network": { "autoMNNVLEnabled": false },
        "nodeLoss": { "enabled": true, "after": "5m0s", "replaceUnitAfter": "1m0s" },
        "scheduler": {
            "profiles": [{ "name": "default-scheduler", "default": true }],
            "defaultProfileName": "default-scheduler",
        },
    });
    let Loaded { config, warnings, .. } = loaded("");
    assert_eq!(serde_json::to_value(config).unwrap(), want);
    assert_eq!(warnings, []);
}

#[test]
fn defaults_fill_in_what_a_block_leaves_out() {
    let config = loaded(
        "runtimeClientConnection: { qps: 5, burst: 0 }, logLevel: '', debugging: { enableProfiling: true }, \
         leaderElection: { enabled: true, resourceName: '', resourceLock: null }, \
         server: { healthProbes: { bindAddress: 127.0.0.1 }, metrics: { port: 9000, tokenFile: /run/token }, webhooks: null }",
    )
    .config;
    assert_eq!((config.runtime_client_connection.qps, config.runtime_client_connection.burst), (5.0, 120));
    assert_eq!(config.leader_election.resource_name, "grove-operator-leader-election");
    assert_eq!(config.leader_election.resource_lock, "leases");
    assert_eq!(config.leader_election.lease_duration, GoDuration::from("15s"));
    let (probes, metrics) = (&config.server.health_probes, &config.server.metrics);
    assert_eq!((probes.bind_address.as_str(), probes.port), ("127.0.0.1", 2751));
    assert_eq!((metrics.bind_address.as_str(), metrics.port), ("", 9000));
    assert_eq!(metrics.token_file.as_deref(), Some("/run/token"));
    assert_eq!(config.server.webhooks.port, 2750);
    assert_eq!(config.log_level, LogLevel::Info);
    let debugging = config.debugging.unwrap();
    assert_eq!((debugging.pprof_bind_host.as_str(), debugging.pprof_bind_port), ("127.0.0.1", 2753));
    assert!(debugging.enable_profiling);
}

#[test]
fn a_full_file_is_read_as_written() {
    let given = parse(PRODUCTION);
    let Loaded { config, profiles, warnings } = try_load(&given).unwrap();
    let warned: Vec<String> = warnings.iter().map(|it| it.path.to_string()).collect();
    assert_eq!(warned, ["network.autoMNNVLEnabled"], "not implemented yet");
    assert_eq!(profiles.names().collect::<Vec<_>>(), ["volcano", "default-scheduler", "kai-scheduler"]);
    assert_eq!(profiles.default_name(), "kai-scheduler");
    assert_eq!(profiles.get("default-scheduler").unwrap().config, json!({ "gangScheduling": false }));
    assert_eq!((config.log_level, config.log_format), (LogLevel::Debug, LogFormat::Text));
    assert_eq!(config.server.webhooks.cert_provision_mode, CertProvisionMode::Manual);
    assert_eq!(config.leader_election.lease_duration.nanos(), Ok(60_000_000_000));
    assert_eq!(config.default_topology(), Some("gpu-fabric"));
    // Whatever was not read into its own field would show up as a default here.
    let mut want = given;
    want["scheduler"]["profiles"][1]["name"] = json!("default-scheduler");
    assert_eq!(serde_json::to_value(config).unwrap(), want);
}

#[test]
fn older_keys_load_with_a_warning_each() {
    let Loaded { config, profiles, warnings } = try_load(&parse(OLDER)).unwrap();
    assert_eq!(profiles.default_name(), "kai-scheduler");
    assert!(config.topology_aware());
    let levels: Vec<_> = config
        .topology_aware_scheduling
        .levels
        .iter()
        .map(|it| (it.domain.as_str(), it.key.as_str()))
        .collect();
    assert_eq!(levels, [("block", "example.com/block"), ("host", "kubernetes.io/hostname")]);
    // Ignored means ignored: nobody becomes exempt by an old key.
    assert_eq!(config.authorizer.exempt_service_account_user_names, [""; 0]);
    let want = [
        ("authorizer.reconcilerServiceAccountUserName", "service account"),
        ("authorizer.exemptServiceAccounts", "authorizer.exemptServiceAccountUserNames"),
        ("topologyAwareScheduling.levels", "ClusterTopologyBinding"),
        ("schedulerName", "scheduler.profiles"),
        ("metadata", "ignored"),
        ("clusterTopology", "topologyAwareScheduling"),
    ];
    let found: Vec<_> = warnings.iter().map(|it| it.path.to_string()).collect();
    assert_eq!(found, want.map(|(path, _)| path));
    for (warning, (_, word)) in warnings.iter().zip(want) {
        assert!(warning.to_string().contains(word), "{warning}");
    }
}

#[test]
fn topology_is_on_when_enabled_or_named() {
    let cases = [
        ("", "", false, None),
        ("topologyAwareScheduling: { enabled: false }", "", false, None),
        ("topologyAwareScheduling: { enabled: true }", "", true, None),
        ("topologyAwareScheduling: { defaultTopologyName: a }", "", true, Some("a")),
        ("topologyAwareScheduling: { enabled: false, defaultTopologyName: a }", "", true, Some("a")),
        ("topologyAwareScheduling: { defaultTopologyName: '' }", "", false, None),
        ("", "b", true, Some("b")),
        ("topologyAwareScheduling: { defaultTopologyName: a }", "b", true, Some("b")),
    ];
    for (body, flag, on, name) in cases {
        let config = loaded(body).config.with_default_topology(flag);
        assert_eq!((config.topology_aware(), config.default_topology()), (on, name), "{body} flag={flag:?}");
    }
}

#[test]
fn bad_files_are_refused_at_the_exact_field() {
    let rows: Vec<&str> = REFUSED.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    assert!(rows.len() > 70, "only {} rows", rows.len());
    for row in rows {
        let mut columns = row.splitn(3, '|').map(str::trim);
        let [Some(path), Some(kind), Some(body)] = [(); 3].map(|()| columns.next()) else {
            panic!("not three columns: {row}");
        };
        let found: Vec<_> =
            errors_of(&file(body)).iter().map(|(path, kind)| (path.clone(), format!("{kind:?}"))).collect();
        assert_eq!(found, [(path.to_owned(), kind.to_owned())], "{body}");
    }
}

#[test]
fn what_is_not_a_mistake_is_let_through() {
    let bodies = [
        "leaderElection: { enabled: false, leaseDuration: 1s, retryPeriod: -1s }",
        "leaderElection: { enabled: true, leaseDuration: 15s, renewDeadline: 12s, retryPeriod: 9.9s }",
        "server: { webhooks: { bindAddress: 10.0.0.1, port: 80 }, metrics: { bindAddress: 10.0.0.2, port: 80 } }",
        "server: { webhooks: { port: 65535 }, metrics: { port: 1 } }",
        // The port of the metrics, where no profiles are served.
        "debugging: { pprofBindPort: 2752 }",
        "runtimeClientConnection: { burst: 1e+06 }",
        "scheduler: { profiles: [{ name: kube-scheduler, config: { gangScheduling: null, GangScheduling: true } }] }",
    ];
    for body in bodies {
        assert_eq!(loaded(body).warnings, [], "{body}");
    }
}

#[test]
fn the_header_is_checked() {
    use ErrorKind::{NotSupported, Required, TypeInvalid};
    let right = header();
    let cases = [
        (json!(null), vec![("apiVersion", Required), ("kind", Required)]),
        (json!({}), vec![("apiVersion", Required), ("kind", Required)]),
        (json!({ "kind": right["kind"], "apiVersion": "" }), vec![("apiVersion", Required)]),
        (
            json!({ "kind": "Pod", "apiVersion": "v1" }),
            vec![("apiVersion", NotSupported), ("kind", NotSupported)],
        ),
        (json!({ "kind": 1, "apiVersion": right["apiVersion"] }), vec![("kind", TypeInvalid)]),
        (json!([]), vec![("", TypeInvalid)]),
        (json!("text"), vec![("", TypeInvalid)]),
    ];
    for (value, want) in cases {
        let found = errors_of(&value);
        let want: Vec<_> = want.into_iter().map(|(path, kind)| (path.to_owned(), kind)).collect();
        assert_eq!(found, want, "{value}");
    }
}

#[test]
fn all_errors_come_at_once_in_field_order() {
    let found: Vec<_> = errors_of(&parse(MANY_MISTAKES)).into_iter().map(|(path, _)| path).collect();
    let want = [
        // leaseDuration is not compared with a renewDeadline that could not be read.
        "leaderElection.renewDeadline",
        "leaderElection.retryPeriod",
        "server.healthProbes.port",
        "server.metrics.port",
        "server.metrics.host",
        "controllers",
        "logLevel",
        "scheduler.profiles[0].name",
        "scheduler.profiles[1].name",
        "scheduler.profiles[1].nam",
        "scheduler.profiles[2]",
        "scheduler.profiles[3].config.gangSchedulin",
        "scheduler.profiles[3].config.GangScheduling",
        "scheduler.profiles[3].default",
        "schedulerName",
        "typo",
    ];
    assert_eq!(found, want);
}

#[test]
fn messages_say_what_to_write() {
    let cases = [
        ("schedulerNam: a", r#"schedulerNam: Unknown field: did you mean "schedulerName"?"#),
        ("scheduler: { profles: [] }", r#"scheduler.profles: Unknown field: did you mean "profiles"?"#),
        ("zzz: 1", "zzz: Unknown field: remove it"),
        (
            "scheduler: { profiles: [{ name: slurm }] }",
            "scheduler.profiles[0].name: Unsupported value: \"slurm\": supported values: \"default-scheduler\", \
             \"kube-scheduler\", \"kai-scheduler\", \"volcano\"",
        ),
        (
            "scheduler: { profiles: [{ name: kube-scheduler, config: { gangscheduling: true } }] }",
            "scheduler.profiles[0].config.gangscheduling: Unknown field: did you mean \"gangScheduling\"?",
        ),
        (
            "server: { metrics: { port: 2750 } }",
            "server.metrics.port: Invalid value: 2750: server.webhooks listens there too",
        ),
        (
            "server: { metrics: { tokenFile: secrets/token } }",
            "server.metrics.tokenFile: Invalid value: \"secrets/token\": must be an absolute path",
        ),
        (
            "leaderElection: { enabled: true, leaseDuration: 10900ms, renewDeadline: 10500ms }",
            "leaderElection.leaseDuration: Invalid value: \"10900ms\": must be greater than renewDeadline when it is cut \
             to whole seconds",
        ),
        (
            "scheduler: { profiles: [{ name: volcano }], defaultProfileName: kai-scheduler }",
            "scheduler.defaultProfileName: Invalid value: \"kai-scheduler\": must be one of the active schedulers: \
             \"volcano\", \"default-scheduler\"",
        ),
    ];
    for (body, want) in cases {
        let errors = try_load(&file(body)).unwrap_err();
        let found: Vec<_> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(found, [want], "{body}");
    }
}

#[test]
fn a_loaded_configuration_loads_as_itself() {
    for file in [header(), parse(PRODUCTION), parse(OLDER)] {
        let first = try_load(&file).unwrap();
        let json = serde_json::to_value(&first.config).unwrap();
        assert_same(&first, &try_load(&json).unwrap());
        let text = serde_saphyr::to_string(&first.config).unwrap();
        assert_same(&first, &try_load(&parse(&text)).unwrap());
    }
}

fn assert_same(first: &Loaded, second: &Loaded) {
    assert_eq!(first.config, second.config);
    assert_eq!(first.profiles, second.profiles);
}
