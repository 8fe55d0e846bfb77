//! The init container of start order: what `grove-initc` would do with these arguments and this file.

use grove_initc::{
    arguments::{Arguments, parse},
    wait::may_start,
};
use k8s_openapi::api::core::v1::{Container, Pod};

use super::downward_api;

/// Name of the container and of the program.
const NAME: &str = "grove-initc";

/// What an init container does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is some other program.
    NotOurs,
    /// It goes on waiting.
    Waits,
    /// It ends with success.
    MayStart,
    /// It ends with an error.
    Fails,
}

pub(super) fn verdict(pod: &Pod, container: &Container) -> Verdict {
    if !is_ours(container) {
        return Verdict::NotOurs;
    }
    // A command is the program itself and then arguments.
    let command = container.command.iter().flatten().skip(1);
    let arguments = command.chain(container.args.iter().flatten()).cloned();
    let Ok(Arguments::Wait { parents, file }) = parse(arguments) else {
        return Verdict::Fails;
    };
    let content = file.to_str().and_then(|it| downward_api::content(pod, container, it)).unwrap_or_default();
    if may_start(&parents, &content) { Verdict::MayStart } else { Verdict::Waits }
}

/// Where the user has a container of that name, ours has a number.
fn is_ours(container: &Container) -> bool {
    let number = container.name.strip_prefix(NAME);
    number.is_some_and(|it| it.is_empty() || it.strip_prefix('-').is_some_and(|it| it.parse::<u32>().is_ok()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::needless_pass_by_value, reason = "`json!` reads better without borrowing it")]

    use serde_json::{Value, json};

    use super::*;

    fn verdict_of(name: &str, args: Value, told: bool) -> Verdict {
        let pod = json!({
            "metadata": { "annotations": if told { json!({ "grove.io/parents-ready": "true" }) } else { json!({}) } },
            "spec": {
                "containers": [],
                "volumes": [{ "name": "pod-info-vol", "downwardAPI": { "items": [
                    { "path": "parents-ready", "fieldRef": { "fieldPath": "metadata.annotations['grove.io/parents-ready']" } },
                ] } }],
            },
        });
        let container = json!({
            "name": name, "args": args,
            "volumeMounts": [{ "name": "pod-info-vol", "mountPath": "/var/grove/pod-info" }],
        });
        verdict(&serde_json::from_value(pod).unwrap(), &serde_json::from_value(container).unwrap())
    }

    #[test]
    fn it_decides_as_the_program_does() {
        let file = "--file=/var/grove/pod-info/parents-ready";
        let rows = [
            ("grove-initc", json!([file, "--podcliques=a:1"]), false, Verdict::Waits),
            ("grove-initc", json!([file, "--podcliques=a:1"]), true, Verdict::MayStart),
            ("grove-initc-1", json!([file, "--podcliques=a:1"]), false, Verdict::Waits),
            // The file has a default; nothing to wait for is no reason to wait.
            ("grove-initc", json!(["--podcliques=a:1"]), true, Verdict::MayStart),
            ("grove-initc", json!([file]), false, Verdict::MayStart),
            ("grove-initc", json!(["--file=/elsewhere", "-p", "a:1"]), true, Verdict::Waits),
            ("grove-initc", json!(["--podcliques=a"]), true, Verdict::Fails),
            ("grove-initc-old", json!([]), false, Verdict::NotOurs),
            ("download", json!([]), false, Verdict::NotOurs),
        ];
        for (name, args, told, want) in rows {
            assert_eq!(verdict_of(name, args.clone(), told), want, "{name} {args} {told}");
        }
    }
}
