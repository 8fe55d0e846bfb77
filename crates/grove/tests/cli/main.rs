//! The program as a user runs it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, also in its functions")]

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use serde_json::Value;

mod plugin;
mod topologies;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn grove(arguments: &[&str]) -> Output {
    grove_with(arguments, "")
}

fn grove_with(arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_grove"))
        .args(arguments)
        .current_dir(root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that refuses early does not read its input.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn stdout(output: &Output) -> &str {
    str::from_utf8(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> &str {
    str::from_utf8(&output.stderr).unwrap()
}

const WRONG: &str = "\
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: { name: demo }
spec:
  replicas: 1
  template:
    cliques:
    - name: a
      spec:
        replicas: 3
        minAvailable: 5
        podSpec:
          containers:
          - name: c
            imge: x
---
apiVersion: v1
kind: ConfigMap
metadata: { name: other }
";

#[test]
fn samples_are_valid_with_and_without_a_configuration() {
    let output = grove(&["validate", "-f", "samples"]);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    let output = grove(&["validate", "-f", "samples", "--config", "samples/operator-configuration.yaml"]);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    // With a configuration nothing is left unchecked. What is not implemented yet is said.
    let told = stdout(&output).lines().filter(|it| it.starts_with("samples/"));
    let other: Vec<&str> = told.filter(|it| !it.contains("accepted but not implemented")).collect();
    assert_eq!(other, [""; 0]);
}

/// Every shape of a set that upstream's samples show is shown by ours.
#[test]
fn samples_show_every_shape() {
    let text: String = std::fs::read_dir(root().join("samples"))
        .unwrap()
        .map(|it| std::fs::read_to_string(it.unwrap().path()).unwrap())
        .collect();
    for shape in [
        "CliqueStartupTypeExplicit",
        "CliqueStartupTypeInOrder",
        "autoScalingConfig",
        "scaleConfig",
        "minAvailable",
        "terminationDelay",
        "updateStrategy",
        "headlessServiceConfig",
        "priorityClassName",
        "topologyConstraint",
        "schedulingPolicyConfig",
        "resourceClaimTemplates",
        "resourceSharing",
        "schedulerName",
        "GROVE_PCSG_INDEX",
        "GROVE_PCLQ_POD_INDEX",
        "fieldRef",
        "tolerations",
        "defaultMode: 0644",
    ] {
        assert!(text.contains(shape), "no sample has {shape}");
    }
}

#[test]
fn findings_name_file_line_field_and_source() {
    let output = grove_with(&["validate", "-f", "-"], WRONG);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        stdout(&output),
        "\
<stdin>:11: spec.template.cliques[0].spec.minAvailable: Invalid value: 5: must not be greater than replicas (3)
    11 |         minAvailable: 5
<stdin>:14: spec.template.cliques[0].spec.podSpec.containers[0].image: Required value
    14 |           - name: c
<stdin>:15: spec.template.cliques[0].spec.podSpec.containers[0].imge: Unknown field: did you mean \"image\"?
    15 |             imge: x
"
    );
    assert_eq!(
        stderr(&output),
        "\
note: <stdin>:17: ConfigMap (v1) is not a Grove kind and was not checked
1 object checked: 3 errors, 0 warnings
"
    );
}

#[test]
fn findings_as_json() {
    let output = grove_with(&["validate", "-f", "-", "-o", "json"], WRONG);
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_str(stdout(&output)).unwrap();
    assert_eq!(report["checked"], 1);
    assert_eq!(report["skipped"][0]["kind"], "ConfigMap (v1)");
    let finding = &report["findings"][0];
    assert_eq!(
        *finding,
        serde_json::json!({
            "file": "<stdin>",
            "line": 11,
            "severity": "error",
            "path": "spec.template.cliques[0].spec.minAvailable",
            "kind": "Invalid",
            "message": "Invalid value: 5: must not be greater than replicas (3)",
        })
    );
}

#[test]
fn unusable_input_is_told_apart() {
    let cases = [
        ("a: [\n", "<stdin>:1: unclosed bracket '['"),
        ("a: 1\na: 2\n", "<stdin>:2: duplicate mapping key: a"),
        (&format!("a: {}", "[".repeat(10_000)), "is nested more than 100 levels deep"),
    ];
    for (input, want) in cases {
        let output = grove_with(&["validate", "-f", "-"], input);
        assert_eq!(output.status.code(), Some(2), "{want}");
        assert!(stdout(&output).contains(want), "{}", stdout(&output));
    }
    let output = grove_with(&["validate", "-f", "-"], "# nothing\n---\n");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("no objects in the input"), "{}", stderr(&output));

    let large = format!("a: \"{}\"\n", "x".repeat(3_000_000));
    let output = grove_with(&["validate", "-f", "-"], &large);
    assert_eq!(output.status.code(), Some(2));
    assert!(stdout(&output).contains("split it"), "{}", stdout(&output));

    for arguments in [
        &["validate", "-f", "no-such-file.yaml"][..],
        &["validate"],
        &["validate", "-f", "docs/decisions", "-x"],
    ] {
        let output = grove(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(!stderr(&output).is_empty());
    }
}

#[test]
fn an_object_that_is_none_is_a_finding() {
    let output = grove_with(&["validate", "-f", "-"], "just: text\n");
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("apiVersion: Required value"), "{}", stdout(&output));
}

#[test]
fn a_configuration_decides_what_is_active() {
    let output = grove(&[
        "validate",
        "-f",
        "samples/11-complete-pipeline.yaml",
        "--config",
        "samples/operator-configuration.yaml",
    ]);
    assert_eq!(output.status.code(), Some(0));

    let folder = std::env::temp_dir().join(format!("grove-cli-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let plain = folder.join("plain.yaml");
    std::fs::write(&plain, "apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\n")
        .unwrap();
    let broken = folder.join("broken.yaml");
    std::fs::write(
        &broken,
        "apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\nlogLvel: info\n",
    )
    .unwrap();

    let output =
        grove(&["validate", "-f", "samples/11-complete-pipeline.yaml", "--config", plain.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("this scheduler is not active"), "{}", stdout(&output));

    let output = grove(&["validate", "-f", "samples", "--config", broken.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stdout(&output).contains("logLvel: Unknown field: did you mean \"logLevel\"?"),
        "{}",
        stdout(&output)
    );

    assert_eq!(grove(&["config", "check", plain.to_str().unwrap()]).status.code(), Some(0));
    assert_eq!(grove(&["config", "check", broken.to_str().unwrap()]).status.code(), Some(1));
    std::fs::remove_dir_all(folder).unwrap();
}

/// Each backend checks its own settings, wherever a configuration is read.
#[test]
fn settings_of_a_scheduler_are_checked_by_its_backend() {
    let rows = [
        ("kai-scheduler", "defaultQueue: everybody", None),
        ("kai-scheduler", "defaultQeue: everybody", Some("did you mean \"defaultQueue\"?")),
        ("kai-scheduler", "defaultQueue: 7", Some("config.defaultQueue: Invalid value: 7")),
        ("kube-scheduler", "gangScheduling: false", None),
        ("volcano", "defaultQueue: everybody", Some("config.defaultQueue: Unknown field")),
    ];
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("settings.yaml");
    for (name, setting, refused) in rows {
        let text = format!(
            "apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\n\
             scheduler: {{ profiles: [{{ name: {name}, config: {{ {setting} }} }}] }}\n"
        );
        std::fs::write(&file, &text).unwrap();
        let checked = [
            grove(&["config", "check", file.to_str().unwrap()]),
            grove_with(&["validate", "-f", "-"], &text),
        ];
        for output in checked {
            assert_eq!(output.status.code(), Some(i32::from(refused.is_some())), "{name}: {setting}");
            let said = stdout(&output);
            assert!(said.contains(refused.unwrap_or_default()), "{name}: {setting}: {said}");
        }
    }
}

#[test]
fn crds_read_back_as_they_were_made() {
    let output = grove(&["crds"]);
    assert_eq!(output.status.code(), Some(0));
    let documents = grove_api::manifest::parse(stdout(&output)).unwrap();
    assert_eq!(documents.len(), grove_api::schema::CRDS.len());
    for (document, crd) in documents.iter().zip(&grove_api::schema::CRDS) {
        assert_eq!(document.value, crd.to_value(), "{}", crd.name());
        crd.to_object().unwrap();
    }
}

/// Whoever applies without `--server-side` keeps the whole object in an annotation, which may have 256 KiB.
#[test]
fn crds_fit_into_a_client_side_apply() {
    for crd in &grove_api::schema::CRDS {
        let size = crd.to_value().to_string().len();
        assert!(size < 256 * 1024, "{} has {size} bytes", crd.name());
    }
}

#[test]
fn checked_in_crds_are_current() {
    let output = grove(&["crds", "--check", "crds"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let output = grove(&["crds", "--check", "samples"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("make crds"));
}

#[test]
fn every_command_has_help_with_an_example() {
    let commands: [&[&str]; 9] = [
        &["validate"],
        &["config", "check"],
        &["crds"],
        &["completions"],
        &["backends"],
        &["why"],
        &["topology"],
        &["topology", "detect"],
        &["bundle"],
    ];
    for command in commands {
        let output = grove(&[command, &["--help"]].concat());
        assert_eq!(output.status.code(), Some(0));
        assert!(stdout(&output).contains("Example"), "{command:?}");
    }
    for shell in ["bash", "zsh", "fish"] {
        let output = grove(&["completions", shell]);
        assert!(stdout(&output).contains("validate"), "{shell}");
    }
}
