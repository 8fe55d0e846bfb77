//! Every part of Grove that lists schedulers knows the one that was added, and no core file had to.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, also in its functions")]

use std::{
    path::Path,
    process::{Command, Output},
};

use serde_json::Value;

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_grove-with-herds")).args(arguments).output().unwrap()
}

fn stdout(output: &Output) -> &str {
    str::from_utf8(&output.stdout).unwrap()
}

/// A configuration in which sets use herds, with this setting.
fn configuration(name: &str, setting: &str) -> String {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let text = format!(
        "apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\n\
         scheduler: {{ profiles: [{{ name: herd-scheduler, default: true, config: {{ {setting} }} }}] }}\n"
    );
    std::fs::write(&file, text).unwrap();
    file.display().to_string()
}

#[test]
fn a_configuration_may_name_it_and_its_settings_are_checked() {
    let output = run(&["config", "check", &configuration("fine", "patienceSeconds: 60")]);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    let output = run(&["config", "check", "-o", "json", &configuration("wrong", "patience: 60")]);
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_str(stdout(&output)).unwrap();
    let findings = report["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0]["path"], "scheduler.profiles[0].config.patience");
}

#[test]
fn it_has_a_table_of_what_it_can_do() {
    let output = run(&["backends", "--offline"]);
    let heads: Vec<&str> = stdout(&output).lines().filter(|it| it.starts_with("## ")).collect();
    assert_eq!(heads, ["## default-scheduler", "## kai-scheduler", "## volcano", "## herd-scheduler"]);
    let (_, table) = stdout(&output).split_once("## herd-scheduler\n\n").unwrap();
    let row = |feature: &str| table.lines().find(|it| it.starts_with(&format!("| {feature} "))).unwrap();
    assert_eq!(row("feature"), "| feature | 2 or newer | 1 |");
    let answers: Vec<&str> = row("RequiredTopologyGroup").split('|').map(str::trim).collect();
    assert_eq!(answers[2], "native");
    assert!(answers[3].starts_with("rejected ("), "{answers:?}");
}

#[test]
fn the_operator_may_write_its_objects_where_it_is_used() {
    let rights = |arguments: &[&str]| {
        let output = run(&[&["manifests", "--explain-rights"][..], arguments].concat());
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        let rows = stdout(&output).lines().filter(|it| it.contains("`herd.example.com` | `herds`"));
        rows.map(str::to_owned).collect::<Vec<_>>()
    };
    let rows = rights(&["--config", &configuration("rights", "patienceSeconds: 60")]);
    assert_eq!(rows.len(), 1, "{rows:?}");
    for verb in ["list", "watch", "create", "patch", "delete"] {
        assert!(rows[0].contains(verb), "{verb}: {rows:?}");
    }
    assert!(rows[0].contains("gangs, as the herd scheduler knows them"), "{rows:?}");
    assert_eq!(rights(&[]), Vec::<String>::new());
}
