//! `grove plan` as a user runs it, where no cluster is needed.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, also in its functions")]

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::Value;

const DOCUMENTATION: &str = include_str!("../../../docs/plan.md");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Exit code, stdout and stderr.
fn plan(arguments: &[&str], input: &str) -> (Option<i32>, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_grove"))
        .arg("plan")
        .args(arguments)
        .current_dir(root())
        .env("KUBECONFIG", "/nowhere/at/all")
        .env_remove("KUBERNETES_SERVICE_HOST")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |it: Vec<u8>| String::from_utf8(it).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

const CHAT: &str = "samples/12-chat.yaml";

#[test]
fn the_documentation_shows_what_is_printed() {
    let (code, text, _) = plan(&["-f", CHAT, "--topology", "racks=2,hosts=3,gpus=8"], "");
    assert_eq!(code, Some(1), "{text}");
    assert!(DOCUMENTATION.contains(text.trim_end()), "docs/plan.md does not show:\n{text}");
}

#[test]
fn the_exit_code_says_whether_all_fits() {
    let rows: [(&[&str], Option<i32>); 5] = [
        (&["-f", CHAT], Some(0)),
        (&["-f", CHAT, "--topology", "hosts=7,gpus=8"], Some(0)),
        (&["-f", CHAT, "--topology", "hosts=6,gpus=8"], Some(1)),
        (
            &["-f", "samples/08-topology.yaml", "--topology", "zones=2,blocks=2,racks=2,hosts=4,gpus=8"],
            Some(0),
        ),
        (
            &["-f", "samples/08-topology.yaml", "--topology", "zones=2,blocks=2,racks=2,hosts=1,gpus=8"],
            Some(1),
        ),
    ];
    for (arguments, want) in rows {
        let (code, text, error) = plan(arguments, "");
        assert_eq!(code, want, "{arguments:?}: {text}{error}");
    }
}

#[test]
fn input_that_cannot_be_used() {
    let rows: [(&[&str], &str); 8] = [
        (&["-f", "nowhere.yaml"], "nowhere.yaml"),
        (&["-f", "samples/grouping-rule.yaml"], "no PodCliqueSet in the input"),
        (&["-f", CHAT, "--topology", "hots=4"], "did you mean hosts?"),
        (&["-f", CHAT, "--topology", "hosts=100000000"], "use 1 to 10000"),
        (&["-f", CHAT, "--topology", "racks.yaml"], "no such file, and not of the form"),
        (&["-f", CHAT, "--scheduler", "kai-schedular"], "did you mean \"kai-scheduler\"?"),
        (&["-f", CHAT, "--cluster"], "no usable kubeconfig"),
        (&["-f", CHAT, "--cluster", "--topology", "hosts=1"], "cannot be used with"),
    ];
    for (arguments, want) in rows {
        let (code, _, error) = plan(arguments, "");
        assert_eq!(code, Some(2), "{arguments:?}");
        assert!(error.contains(want), "{arguments:?}: {error}");
    }
}

/// Admission's rules come first, with the line.
#[test]
fn an_invalid_set_is_not_planned() {
    let sample = std::fs::read_to_string(root().join(CHAT)).unwrap();
    let wrong = sample.replace("cliqueNames: [leader, worker]", "cliqueNames: [leader, walker]");
    let (code, text, _) = plan(&["-f", "-"], &wrong);
    assert_eq!(code, Some(1));
    assert!(text.contains("<stdin>:24: spec.template.podCliqueScalingGroups[0].cliqueNames[1]"), "{text}");
    assert!(!text.contains("gangs"), "{text}");
    // What only the scheduler refuses, too.
    let (code, text, _) = plan(&["-f", CHAT, "--scheduler", "kai-scheduler"], "");
    assert_eq!(code, Some(1));
    assert!(text.contains("12-chat.yaml:5: metadata.labels[kai.scheduler/queue]: Required value"), "{text}");
}

#[test]
fn machines_get_every_object() {
    let (_, text, _) = plan(&["-f", CHAT, "--topology", "hosts=7,gpus=8", "-o", "json"], "");
    let plan_json: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(plan_json["fits"], true);
    let set = &plan_json["sets"][0];
    let objects = set["objects"].as_array().unwrap();
    let named = |kind: &str, name: &str| {
        let mut all = objects.iter();
        all.find(|it| it["kind"] == kind && it["metadata"]["name"] == name).cloned().unwrap_or_default()
    };
    let root = named("CompositePodGroup", "chat-0");
    assert_eq!(root["spec"]["schedulingPolicy"]["gang"]["minGroupCount"], 5, "{root}");
    let workers = named("PodGroup", "chat-0-decode-0-worker");
    assert_eq!(workers["spec"]["schedulingPolicy"]["gang"]["minCount"], 2, "{workers}");
    assert_eq!(named("PodClique", "chat-0-router")["spec"]["minAvailable"], 1);
    let pod = named("Pod", "chat-0-decode-1-worker-1");
    assert_eq!(pod["spec"]["schedulingGates"][0]["name"], "grove.io/podgang-pending-creation", "{pod}");
    assert_eq!(pod["spec"]["schedulerName"], "default-scheduler");
    assert!(objects.iter().all(|it| it["metadata"].get("ownerReferences").is_none()));
    assert_eq!(set["creates"]["Pod"], 11);
    assert_eq!(set["gangs"][0]["minimumPods"], 7);
    let node = set["gangs"][1]["fit"]["nodes"]["chat-0-decode-1-leader-0"].as_str().unwrap();
    assert!(node.starts_with("node-"), "{node}");

    let (_, yaml, _) = plan(&["-f", CHAT, "--topology", "hosts=7,gpus=8", "-o", "yaml"], "");
    assert!(yaml.starts_with("fits: true\nnodes:\n  source: hosts=7,gpus=8\n  count: 7\n"), "{yaml}");
}

#[test]
fn nodes_may_come_from_a_file() {
    let file = std::env::temp_dir().join(format!("grove-plan-{}.yaml", std::process::id()));
    std::fs::write(&file, "hosts: 7\ngpus: 8\n").unwrap();
    let (code, text, error) = plan(&["-f", CHAT, "--topology", file.to_str().unwrap()], "");
    std::fs::remove_file(&file).unwrap();
    assert_eq!(code, Some(0), "{text}{error}");
    assert!(text.contains("fits on 7 nodes with 56 GPUs"), "{text}");
}
