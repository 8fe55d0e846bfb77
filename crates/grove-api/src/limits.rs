//! Caps on every size that a user controls.
//!
//! They are generous for real workloads and small enough that no object outgrows the store, no name outgrows
//! its 63 characters, and every CEL rule of the CRDs stays inside the API server's cost budget.

/// Cliques in one set.
pub const MAX_CLIQUES: usize = 64;
/// PodCliques that one PodClique starts after.
pub const MAX_PARENTS: usize = 64;
/// Scaling groups in one set.
pub const MAX_GROUPS: usize = 64;
/// Replicas of a set. Indices have at most four digits, which the 63-character guarantee counts on.
pub const MAX_SET_REPLICAS: i32 = 10_000;
/// Replicas of a scaling group; likewise four digits.
pub const MAX_GROUP_REPLICAS: i32 = 10_000;
/// Pods of one clique; likewise four digits.
pub const MAX_CLIQUE_REPLICAS: i32 = 5_000;
/// Pods of one set by its template.
pub const MAX_PODS_PER_SET: u64 = 100_000;
/// PodCliques of one set. It has no more PodGangs, because each of them has a PodClique, and as many headless Services as
/// replicas.
pub const MAX_POD_CLIQUES_PER_SET: u64 = 10_000;
/// PodCliqueScalingGroups of one set. Those that are scaled to zero have no PodCliques that would count.
pub const MAX_SCALING_GROUPS_PER_SET: u64 = 10_000;
/// Bytes of all PodCliques of one set, as JSON of their templates: the operator keeps PodCliques in memory, where they take
/// more than that.
pub const MAX_POD_CLIQUE_BYTES_PER_SET: u64 = 64 * 1024 * 1024;
/// Pods of one gang by its template: a PodGang lists them all, and an object may have 1.5 MiB.
pub const MAX_PODS_PER_GANG: u64 = 5_000;

/// Sum of the lengths of set, group and clique name, as upstream Grove has it.
pub const NAME_BUDGET: usize = 45;
/// What Kubernetes allows for a label value, a host name, a Service name.
pub const MAX_LABEL_LENGTH: usize = 63;
/// What Kubernetes allows for most object names.
pub const MAX_NAME_LENGTH: usize = 253;
/// Longest role name.
pub const MAX_ROLE_NAME: usize = 253;
/// Restarts of a unit within a window.
pub const MAX_RESTARTS: i32 = 1_000;
/// What counts of the annotation that resets them: it is copied to every clique.
pub const MAX_RESET_LENGTH: usize = 63;
/// Longest duration text.
pub const MAX_DURATION_LENGTH: usize = 64;

/// Claim templates in one set.
pub const MAX_CLAIM_TEMPLATES: usize = 64;
/// Resource sharing entries at one level.
pub const MAX_SHARING: usize = 32;
/// Metrics of one autoscaler.
pub const MAX_METRICS: usize = 32;
/// Lost nodes that a PodClique notes at a time; of more, those that are lost the longest.
pub const MAX_LOST_NODES: usize = 256;
/// Levels of a topology.
pub const MAX_TOPOLOGY_LEVELS: usize = 16;
/// Scheduler bindings of a topology.
pub const MAX_TOPOLOGY_BINDINGS: usize = 16;
/// Nodes of a cluster that is only described.
pub const MAX_DESCRIBED_NODES: u64 = 10_000;
/// Devices of a kind on one of them.
pub const MAX_DESCRIBED_DEVICES: u64 = 1_000;
/// Pack groups of a set.
pub const MAX_PACK_GROUPS: usize = 64;

/// Characters of a path of a grouping rule.
pub const MAX_JSON_PATH: usize = 256;
/// Steps of such a path.
pub const MAX_JSON_PATH_STEPS: usize = 32;
/// Values that such a path may find in an object.
pub const MAX_JSON_PATH_RESULTS: usize = 10_000;
/// Sub-groups in one grouping rule. Those that it makes of a list of the workload are counted when there is one.
pub const MAX_RULE_SUB_GROUPS: usize = 64;
/// Labels of a pod selector, its expressions, and the values of one.
pub const MAX_SELECTOR: usize = 64;

/// Bytes of one manifest file. The API server takes requests of 3 MiB and the store holds 1.5 MiB per object.
pub const MAX_MANIFEST_BYTES: usize = 2 * 1024 * 1024;
/// Nesting of a manifest.
pub const MAX_MANIFEST_DEPTH: usize = 100;
