//! `grove operator` with what cannot be used.

use std::process::{Command, Stdio};

#[test]
fn the_authorizer_has_to_know_the_operators_account() {
    let file = std::env::temp_dir().join(format!("grove-operator-{}.yaml", std::process::id()));
    let text = "apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\nauthorizer: { enabled: true }\n";
    std::fs::write(&file, text).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_grove"));
        command.args(["operator", "--config"]).arg(&file).args(arguments).stdin(Stdio::null());
        let output = command.env_remove("GROVE_OPERATOR_SERVICE_ACCOUNT_NAME").output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, told) = run(&[]);
    assert_eq!(code, Some(2), "{told}");
    assert!(
        told.starts_with("grove: authorizer.enabled: the environment variable GROVE_OPERATOR_"),
        "{told}"
    );
    let (code, told) = run(&["--certificate-lifetime", "soon"]);
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("must be a duration such as 30s"), "{told}");
    std::fs::remove_file(file).unwrap();
}
