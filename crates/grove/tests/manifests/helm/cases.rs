//! Values of the chart, with the arguments of `grove manifests` that mean the same.

/// Values of the chart, and what means the same elsewhere.
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) values: &'static str,
    /// Arguments of `grove manifests` that mean the same.
    pub(super) arguments: &'static [&'static str],
    /// Arguments of the pod grouper, where there is one.
    pub(super) grouper: Option<&'static [&'static str]>,
    /// What the operator's configuration has then.
    pub(super) config: &'static [(&'static str, &'static str)],
}

const fn case(
    name: &'static str,
    values: &'static str,
    arguments: &'static [&'static str],
    config: &'static [(&'static str, &'static str)],
) -> Case {
    Case { name, values, arguments, grouper: None, config }
}

pub(super) const CASES: &[Case] = &[
    case(
        "default",
        "",
        &[],
        &[
            ("/server/webhooks/port", "9443"),
            ("/server/healthProbes/enable", "null"),
            ("/leaderElection/enabled", "true"),
            ("/scheduler/profiles", r#"[{"name":"default-scheduler"},{"name":"kai-scheduler"}]"#),
        ],
    ),
    case(
        "schedulers",
        "config: { scheduler: { profiles: [{ name: volcano }, { name: kai-scheduler, config: { defaultQueue: q } }], defaultProfileName: volcano } }",
        &[],
        &[
            ("/scheduler/defaultProfileName", "\"volcano\""),
            ("/scheduler/profiles/1/config/defaultQueue", "\"q\""),
        ],
    ),
    case(
        "no-gangs",
        "config: { scheduler: { profiles: [{ name: kube-scheduler, config: { gangScheduling: false } }] } }",
        &[],
        &[("/scheduler/profiles/0/config/gangScheduling", "false")],
    ),
    case(
        "manual",
        "config:\n  authorizer: { enabled: true }\n  server: { webhooks: { certProvisionMode: manual, secretName: mine, serverCertDir: /certs } }\n\
         webhooks:\n  caBundle: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tClFVSkQKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=\n  \
         podCliqueSetDefaultingWebhook: &it { annotations: { example.com/inject: ns/cert } }\n  \
         podCliqueSetValidationWebhook: *it\n  clusterTopologyValidationWebhook: *it\n  podCliqueValidationWebhook: *it\n  \
         podCliqueScalingGroupValidationWebhook: *it\n  authorizerWebhook: *it\n",
        &["--ca-bundle", "@pem@", "--webhook-annotation", "example.com/inject=ns/cert"],
        &[("/server/webhooks/certProvisionMode", "\"manual\"")],
    ),
    case(
        "annotations-without-manual",
        "webhooks: { podCliqueSetDefaultingWebhook: { annotations: { a: b } } }",
        &[],
        &[],
    ),
    case(
        "pods",
        "nodeSelector: { pool: infra }\n\
         tolerations: [{ key: dedicated, operator: Equal, value: infra, effect: NoSchedule }, { key: gpu, operator: Exists }]\n\
         resources: { requests: { cpu: 200m }, limits: { memory: 2Gi, cpu: '1' } }\n\
         imagePullSecrets: [{ name: registry }]\nimage: { pullPolicy: Always }\n",
        &[
            "--node-selector=pool=infra",
            "--toleration=dedicated=infra:NoSchedule",
            "--toleration=gpu",
            "--request=cpu=200m",
            "--limit=memory=2Gi",
            "--limit=cpu=1",
            "--image-pull-secret=registry",
            "--image-pull-policy=Always",
        ],
        &[],
    ),
    case(
        "monitor",
        "metrics: { serviceMonitor: { enabled: true, labels: { release: prometheus } } }",
        &["--service-monitor", "--service-monitor-label=release=prometheus"],
        &[],
    ),
    case(
        "alerts-and-dashboard",
        "metrics: { prometheusRule: { enabled: true, labels: { release: prometheus } }, dashboards: { enabled: true } }",
        &["--prometheus-rule", "--prometheus-rule-label=release=prometheus", "--dashboards"],
        &[],
    ),
    case(
        "less",
        "priorityClass: { enabled: false }\nnetworkPolicy: { enabled: false }\npodPolicy: { enabled: false }\ncrds: { install: false }\n",
        &["--no-priority-class", "--no-network-policy", "--no-pod-policy", "--no-crds"],
        &[],
    ),
    case(
        "crd-installer",
        "crds: { install: false }\ncrdInstaller: { enabled: true, image: { repository: x, tag: v1 } }\n",
        &[],
        &[],
    ),
    case(
        "addresses",
        "networkPolicy: { apiServerCIDRs: [192.0.2.10/32, '2001:db8::/64'] }",
        &["--api-server-cidr=192.0.2.10/32", "--api-server-cidr=2001:db8::/64"],
        &[],
    ),
    case(
        "alone",
        "replicaCount: 1\nconfig: { leaderElection: { enabled: false } }\n",
        &["--replicas=1"],
        &[("/leaderElection/enabled", "false")],
    ),
    case("many", "replicaCount: 3", &["--replicas=3"], &[]),
    case("authorizer", "config: { authorizer: { enabled: true } }", &[], &[("/authorizer/enabled", "true")]),
    case(
        "lease",
        "config: { leaderElection: { resourceName: lock, resourceNamespace: locks, leaseDuration: 30s } }",
        &[],
        &[("/leaderElection/resourceNamespace", "\"locks\""), ("/leaderElection/leaseDuration", "\"30s\"")],
    ),
    case(
        "ports",
        "config: { server: { webhooks: { port: 4443 }, healthProbes: { port: 8081 }, metrics: { port: 8080 } } }",
        &[],
        &[("/server/metrics/port", "8080")],
    ),
    case(
        "images",
        "image: { repository: registry.example.com/grove, tag: 'sha256:0123' }\ninitImage: { repository: registry.example.com/initc, tag: v2 }\n",
        &["--image=registry.example.com/grove@sha256:0123", "--init-image=registry.example.com/initc:v2"],
        &[],
    ),
    case(
        "upstreams-init-image",
        "deployment: { env: [{ name: GROVE_INIT_CONTAINER_IMAGE, value: 'initc:7' }] }",
        &["--init-image=initc:7"],
        &[],
    ),
    case("no-nodes", "config: { nodeLoss: { enabled: false } }", &[], &[("/nodeLoss/enabled", "false")]),
    case(
        "topology",
        "config: { nodeLoss: { enabled: false }, topologyAwareScheduling: { defaultTopologyName: racks } }",
        &[],
        &[("/topologyAwareScheduling/defaultTopologyName", "\"racks\"")],
    ),
    Case {
        name: "grouper",
        values: "podGrouper: { enabled: true }",
        arguments: &[],
        grouper: Some(&[]),
        config: &[],
    },
    Case {
        name: "grouper-of-all",
        values: "imagePullSecrets: [{ name: registry }]\npodGrouper:\n  enabled: true\n  replicaCount: 1\n  \
             schedulerNames: [mine=volcano, default-scheduler, kai-scheduler]\n  namespaceLabelSelector: team=a\n  \
             defaultPrioritiesConfigMap: { namespace: kai, name: defaults }\n  nodeSelector: { pool: infra }\n  \
             tolerations: [{ key: gpu, operator: Exists }]\n  resources: { limits: { memory: 2Gi } }\n",
        arguments: &["--image-pull-secret=registry"],
        grouper: Some(&[
            "--image-pull-secret=registry",
            "--replicas=1",
            "--scheduler-name=mine=volcano",
            "--scheduler-name=default-scheduler",
            "--scheduler-name=kai-scheduler",
            "--namespace-label-selector=team=a",
            "--default-priorities-configmap=kai/defaults",
            "--node-selector=pool=infra",
            "--toleration=gpu",
            "--limit=memory=2Gi",
        ]),
        config: &[],
    },
    Case {
        name: "grouper-of-a-scheduler-with-another-name",
        values: "podGrouper: { enabled: true, schedulerNames: [mine] }",
        arguments: &[],
        grouper: Some(&["--scheduler-name=mine"]),
        config: &[],
    },
    Case {
        name: "grouper-without-policy",
        values: "podPolicy: { enabled: false }\npodGrouper: { enabled: true, schedulerNames: [volcano] }\n",
        arguments: &["--no-pod-policy"],
        grouper: Some(&["--no-pod-policy", "--scheduler-name=volcano"]),
        config: &[],
    },
];
