//! Backends that are registered by other programs.

use super::*;

#[test]
fn a_third_party_backend_needs_no_change_here() {
    const KEYS: &[Key] = &[Key::required("queue", Shape::Name), Key::optional("weight", Shape::Positive)];
    let check = |config: &Value, path: &Path| {
        let mut errors = check_keys(config, path, KEYS);
        if config["queue"] == "forbidden" {
            errors.push(Error::forbidden(path.child("queue"), "not this one"));
        }
        errors
    };
    let acme = KnownBackend {
        name: "acme",
        synonyms: &["acme-scheduler"],
        check_config: &check,
        always_active: false,
        topology_aware: true,
    };
    let with = |scheduler: Value| {
        let mut file = header();
        file["scheduler"] = scheduler;
        load(&file, &[acme])
    };
    let profile = |config: Value| json!({ "profiles": [{ "name": "acme-scheduler", "config": config }] });
    let loaded = with(profile(json!({ "queue": "fast", "weight": 2 }))).unwrap();
    assert_eq!(loaded.profiles.default_name(), "acme");
    assert_eq!(loaded.profiles.get("acme").unwrap().config, json!({ "queue": "fast", "weight": 2 }));
    assert!(loaded.profiles.active()[0].topology_aware);

    let cases = [
        (profile(json!({})), "scheduler.profiles[0].config.queue: Required value: must be a string"),
        (profile(json!(null)), "scheduler.profiles[0].config.queue: Required value: must be a string"),
        (
            profile(json!({ "queue": "forbidden" })),
            "scheduler.profiles[0].config.queue: Forbidden: not this one",
        ),
        (
            profile(json!({ "queue": "a", "wieght": 1 })),
            "scheduler.profiles[0].config.wieght: Unknown field: did you mean \"weight\"?",
        ),
        (json!({}), "scheduler.profiles: Required value: at least one scheduler must be active"),
        (
            json!({ "profiles": [{ "name": "kai-scheduler" }, { "name": "acme", "config": { "queue": "a" } }] }),
            "scheduler.profiles[0].name: Unsupported value: \"kai-scheduler\": supported values: \"acme\", \
             \"acme-scheduler\"",
        ),
    ];
    for (scheduler, want) in cases {
        let errors = with(scheduler.clone()).unwrap_err();
        assert_eq!(errors.iter().map(ToString::to_string).collect::<Vec<_>>(), [want], "{scheduler}");
    }
}
