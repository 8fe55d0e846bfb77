use super::*;

/// Requested, requested without preemption, deserved, allocated, of that without preemption, limit.
fn share(bound: Bound, amounts: [&str; 6]) -> QueueShare {
    let text = |it: &str| Some(it.to_owned()).filter(|it| !it.is_empty());
    let [requested, fixed, deserved, allocated, allocated_fixed, limit] = amounts.map(text);
    let row = ResourceShare {
        requested,
        requested_non_preemptible: fixed,
        queue_requested: None,
        deserved,
        allocated,
        allocated_non_preemptible: allocated_fixed,
        limit,
    };
    QueueShare { queue: "q".to_owned(), bound, resources: [("nvidia.com/gpu".to_owned(), row)].into() }
}

#[test]
fn what_is_requested_against_what_is_available() {
    let rows = [
        ("beyond the limit", Bound::Limit, ["8", "", "4", "12", "6", "16"], (Some("4"), Some("4"))),
        ("within the limit", Bound::Limit, ["4", "", "4", "12", "6", "16"], (Some("4"), None)),
        ("more in use than allowed", Bound::Limit, ["1", "", "", "20", "", "16"], (Some("0"), Some("1"))),
        ("without a limit", Bound::Limit, ["8", "", "4", "12", "6", "-1"], (None, None)),
        ("a limit that nobody tells", Bound::Limit, ["8", "", "4", "12", "6", ""], (None, None)),
        // Only what cannot be preempted is held against the quota, on both sides.
        ("beyond the quota", Bound::Quota, ["8", "3", "8", "12", "6", "-1"], (Some("2"), Some("1"))),
        ("within the quota", Bound::Quota, ["8", "2", "8", "12", "6", "-1"], (Some("2"), None)),
        ("an older release", Bound::Quota, ["8", "", "8", "", "6", ""], (Some("2"), Some("6"))),
        ("without a quota", Bound::Quota, ["8", "8", "-1m", "12", "6", "16"], (None, None)),
    ];
    for (what, bound, amounts, (available, missing)) in rows {
        let quota = Quota::of(&share(bound, amounts));
        let row = &quota.resources[0];
        let text = |it: Option<Amount>| it.map(|it| it.to_string());
        assert_eq!(
            (text(row.available).as_deref(), text(row.missing()).as_deref()),
            (available, missing),
            "{what}"
        );
        assert_eq!(quota.short().count(), usize::from(missing.is_some()), "{what}");
    }
}
