//! What the backends' sentences about a gang without a place say, as far as it can be counted.

/// What is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Shortage<'a> {
    /// The group that finds no room; `None`: the gang as a whole.
    pub(super) group: Option<&'a str>,
    /// How many pods find no room, where that is known.
    pub(super) pods: Option<u64>,
    /// The level of which one domain has to hold it.
    pub(super) level: Option<&'a str>,
}

impl<'a> Shortage<'a> {
    /// The first that can be read. KAI's sentences stand behind each other, those of others are one.
    pub(super) fn read(words: &'a str) -> Option<Self> {
        let of_kai = |it: &'a str| {
            Self::of_kai_domains(it)
                .or_else(|| Self::of_kai_level(it))
                .or_else(|| Self::of_kai(it))
                .or_else(|| Self::of_kai_pods(it))
        };
        let kube = Self::of_kube(words);
        kube.or_else(|| words.split("; ").find_map(of_kai)).or_else(|| Self::of_volcano(words))
    }

    /// `a: room for at most 3 of the 4 pods that are needed`, or `a: none of the 8 domains of LEVEL has room for it[; the
    /// first has room for …]`
    fn of_kube(words: &'a str) -> Option<Self> {
        let counts = words.split_once("room for at most ").and_then(|it| it.1.split_once(" of the "));
        let counts = counts.and_then(|(fit, rest)| Some((fit, rest.split_once(" pods that are needed")?.0)));
        let level = words.split_once(" domains of ").and_then(|it| it.1.split_once(" has room for it"));
        if counts.is_none() && level.is_none() {
            return None;
        }
        Some(Self {
            group: words.split_once(": ").map(|it| it.0),
            pods: counts.and_then(|(fit, needed)| missing(needed, fit)),
            level: level.map(|it| it.0),
        })
    }

    /// `none of 2 domains of LEVEL has room for sub-group a: d has room for at most 4 of 5 pods`; without the level where
    /// KAI does not make clear which it is.
    fn of_kai_domains(words: &'a str) -> Option<Self> {
        let (head, counts) = words.rsplit_once(" has room for at most ")?;
        let (fit, needed) = counts.strip_suffix(" pods")?.split_once(" of ")?;
        let level = head.split_once(" of ").map(|it| it.1.split_once(" domains of ").map_or(it.1, |it| it.1));
        let level = level.and_then(|it| it.split_once(" has room for "));
        let group = level.and_then(|it| it.1.strip_prefix("sub-group ")).and_then(|it| it.split(": ").next());
        Some(Self { group, pods: missing(needed, fit), level: level.map(|it| it.0) })
    }

    /// `resources for [at most ]3 pods were found, the gang requires 4…`. What was found for all sub-groups together says
    /// nothing of one of them, unless it is nothing.
    fn of_kai(words: &'a str) -> Option<Self> {
        let (_, rest) = words.split_once("resources for ")?;
        let (found, rest) = rest.split_once(" pods were found, ")?;
        let (whose, rest) = rest.split_once(" requires ")?;
        let needed = rest.split(|it: char| !it.is_ascii_digit()).next()?;
        let found = found.strip_prefix("at most ").unwrap_or(found);
        let group = whose.strip_prefix("sub-group ");
        let is_known = group.is_none() || found == "0";
        Some(Self { group, pods: missing(needed, found).filter(|_| is_known), level: None })
    }

    /// `no rack of topology T has enough resources for sub-group a[: …]`
    fn of_kai_level(words: &'a str) -> Option<Self> {
        let (level, rest) = words.split_once(" of topology ")?;
        let level = level.rsplit_once("no ").map(|it| it.1)?;
        let (_, whose) = rest.split_once(" has enough resources for ")?;
        let group = whose.strip_prefix("sub-group ").map(|it| it.split([':', ',']).next().unwrap_or(it));
        Some(Self { group, pods: None, level: Some(level) })
    }

    /// `no resources for a-0, a-1, a-2 and 2 more: …`, of pods above the minimum.
    fn of_kai_pods(words: &'a str) -> Option<Self> {
        let (pods, _) = words.split_once("no resources for ")?.1.split_once(": ")?;
        let (named, more) = pods.split_once(" and ").unwrap_or((pods, "0 more"));
        let more: u64 = more.strip_suffix(" more")?.parse().ok()?;
        let named = u64::try_from(named.split(", ").count()).ok()?;
        Some(Self { pods: named.checked_add(more), ..Self::default() })
    }

    /// `3 of 4 pods cannot be placed: …`
    fn of_volcano(words: &'a str) -> Option<Self> {
        let (counts, _) = words.split_once(" pods cannot be placed")?;
        let (pods, _) = counts.rsplit(": ").next()?.split_once(" of ")?;
        Some(Self { pods: pods.parse().ok(), ..Self::default() })
    }
}

fn missing(needed: &str, fit: &str) -> Option<u64> {
    needed.parse::<u64>().ok()?.checked_sub(fit.parse().ok()?).filter(|it| *it > 0)
}

/// Whether the words are about a queue that is not there, or that nobody named.
pub(super) fn lacks_queue(words: &str) -> bool {
    let words = words.to_lowercase();
    let is_gone = ["not found", "does not exist", "doesn't exist", "not exist"];
    words.contains("no queue") || (words.contains("queue") && is_gone.iter().any(|it| words.contains(it)))
}

/// Whether the words are about a topology object of the scheduler that is not there.
pub(super) fn lacks_topology(words: &str) -> bool {
    words.contains("topology") && words.contains("does not exist")
}

/// Whether a limit of the scheduler's queues refuses the gang.
pub(super) fn is_over_quota(words: &str) -> bool {
    let words = words.to_lowercase();
    ["quota", "allowable limit"].iter().any(|it| words.contains(it))
}

/// Whether the words are those of the API server, or of who it asks: a backend may refuse pods too, before they are sent.
pub(super) fn is_of_api_server(words: &str) -> bool {
    let marks =
        [" is forbidden", " is invalid", "exceeded quota", "denied the request", "failed calling webhook"];
    marks.iter().any(|it| words.contains(it))
}

/// Name of the ResourceQuota that the API server enforces: `… exceeded quota: gpus, requested: …`
pub(super) fn resource_quota(words: &str) -> Option<&str> {
    let (_, rest) = words.split_once("exceeded quota: ")?;
    rest.split([',', ' ', ';']).next().filter(|it| !it.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shortage<'a>(group: Option<&'a str>, pods: Option<u64>, level: Option<&'a str>) -> Shortage<'a> {
        Shortage { group, pods, level }
    }

    #[test]
    fn each_backends_sentences_are_read() {
        let rows = [
            (
                "chat-0-a: room for at most 3 of the 4 pods that are needed",
                Some(shortage(Some("chat-0-a"), Some(1), None)),
            ),
            (
                "chat-0-a: none of the 8 domains of topology.example.com/rack has room for it; the first has room for at \
                 most 1 of the 4 pods that are needed",
                Some(shortage(Some("chat-0-a"), Some(3), Some("topology.example.com/rack"))),
            ),
            (
                "resources for 2 pods were found, the gang requires 6: no nodes",
                Some(shortage(None, Some(4), None)),
            ),
            (
                "resources for at most 3 pods were found, sub-group chat-0-b requires 2 (tried 6 times): no nodes",
                Some(shortage(Some("chat-0-b"), None, None)),
            ),
            (
                "no rack of topology dc has enough resources for sub-group chat-0-b: r1, r2 and 4 more",
                Some(shortage(Some("chat-0-b"), None, Some("rack"))),
            ),
            (
                "no rack of topology dc has enough resources for the gang",
                Some(shortage(None, None, Some("rack"))),
            ),
            (
                "no rack of topology dc has enough resources for sub-group chat-0-b, nor has the whole cluster",
                Some(shortage(Some("chat-0-b"), None, Some("rack"))),
            ),
            // KAI's messages, folded by the operator: `kai/said.rs`.
            (
                "none of 3 domains of topology.kubernetes.io/rack has room for sub-group gang-0-x-0: zone-0.block-0.rack-1 \
                 has room for at most 4 of 6 pods",
                Some(shortage(Some("gang-0-x-0"), Some(2), Some("topology.kubernetes.io/rack"))),
            ),
            (
                "in node pool gpu: no domain of topology.kubernetes.io/rack has room for the gang: zone-0.block-0.rack-1 has \
                 room for at most 4 of 5 pods",
                Some(shortage(None, Some(1), Some("topology.kubernetes.io/rack"))),
            ),
            (
                "none of 2 domains has room: zone-0.block-0.rack-0 has room for at most 1 of 2 pods",
                Some(shortage(None, Some(1), None)),
            ),
            ("rack-0 has room for at most 1 of 3 pods", Some(shortage(None, Some(2), None))),
            (
                "resources for 0 pods were found, sub-group chat-0-b requires 2: no nodes",
                Some(shortage(Some("chat-0-b"), Some(2), None)),
            ),
            (
                "no resources for a-0, a-1, a-2 and 2 more: no nodes with enough resources were found",
                Some(shortage(None, Some(5), None)),
            ),
            ("no resources for a-0: no claim: the claim x is gone", Some(shortage(None, Some(1), None))),
            // Several sentences: the first that counts.
            (
                "node-group(s) didn't have enough resources: memory (tried 2 times); no rack of topology hall has enough \
                 resources for sub-group chat-0-b: r1",
                Some(shortage(Some("chat-0-b"), None, Some("rack"))),
            ),
            (
                "chat-0-a: none of the 8 domains of topology.example.com/rack has room for it",
                Some(shortage(Some("chat-0-a"), None, Some("topology.example.com/rack"))),
            ),
            (
                "3 of 4 pods cannot be placed: a-0: 0/2 nodes are unavailable",
                Some(shortage(None, Some(3), None)),
            ),
            ("0/2 nodes are available: 2 Insufficient cpu", None),
            ("", None),
        ];
        for (words, want) in rows {
            assert_eq!(Shortage::read(words), want, "{words}");
        }
    }

    #[test]
    fn what_cannot_be_is_not_counted() {
        for words in [
            "a: room for at most 4 of the 4 pods that are needed",
            "a: room for at most x of the 4 pods that are needed",
        ] {
            assert_eq!(Shortage::read(words).unwrap().pods, None, "{words}");
        }
    }

    #[test]
    fn queues_and_quotas() {
        for words in ["no queue: label the PodCliqueSet", "queue \"a\" not found", "Queue a does not exist"] {
            assert!(lacks_queue(words), "{words}");
        }
        for words in ["it waits in the queue \"a\"", "pod not found"] {
            assert!(!lacks_queue(words), "{words}");
        }
        assert!(lacks_topology("Requested topology dc does not exist"));
        assert!(!lacks_topology("no rack of topology dc has enough resources for the gang"));
        assert!(is_over_quota(
            "Non-preemptible workload is over quota. Workload requested 4 GPUs, but team-a quota is 2"
        ));
        assert!(is_over_quota("team-a has reached the allowable limit of 8 GPUs"));
        assert!(!is_over_quota("0/2 nodes are available"));
        let refused =
            "pods \"a\" is forbidden: exceeded quota: gpus, requested: pods=1, used: pods=2, limited: pods=2";
        assert_eq!(resource_quota(refused), Some("gpus"));
        assert_eq!(resource_quota("forbidden: not allowed"), None);
    }

    #[test]
    fn who_refuses_pods() {
        for words in [
            "chat-0-a: pods \"chat-0-a-\" is forbidden: violates PodSecurity \"restricted:latest\"",
            "chat-0-a: Pod \"chat-0-a-\" is invalid: spec.containers: Required value",
            "chat-0-a: admission webhook \"policy.example.com\" denied the request: no",
            "chat-0-a: Internal error occurred: failed calling webhook \"policy.example.com\": no endpoints",
        ] {
            assert!(is_of_api_server(words), "{words}");
        }
        for words in [
            "chat-0-a: the scheduler backend changed the pod's owners",
            "chat-0-a: the pod's priorityClassName is \"low\" and that of its gang \"high\"",
        ] {
            assert!(!is_of_api_server(words), "{words}");
        }
    }
}
