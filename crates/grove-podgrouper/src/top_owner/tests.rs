use super::*;
use crate::fixture::{object, pod};

#[test]
fn it_is_yaml_of_five_lines() {
    assert_eq!(
        top_owner(&pod("pod-job", "")),
        "name: pod-job\nuid: \"\"\ngroup: \"\"\nversion: v1\nkind: Pod\n"
    );
    let job = object("batch/v1", "Job", "j", "0f1e-2d");
    assert_eq!(top_owner(&job), "name: j\nuid: 0f1e-2d\ngroup: batch\nversion: v1\nkind: Job\n");
}

#[test]
fn what_yaml_reads_as_something_else_is_quoted() {
    for quoted in [
        "",
        "1",
        "007",
        "1234",
        "1_000",
        "1.5",
        "1e3",
        "0x1f",
        "0o17",
        "0b1",
        "true",
        "No",
        "null",
        "2026-01-31",
        "a: b",
        "-x",
    ] {
        assert_eq!(text(quoted), format!("\"{quoted}\""));
    }
    for plain in [
        "1234-5678",
        "a1",
        "1a",
        "nan",
        "inf",
        "0x",
        "0xyz",
        "v1beta1",
        "batch.io",
        "20260-01-31",
        "test_name",
    ] {
        assert_eq!(text(plain), plain);
    }
    assert_eq!(text("a\"\n"), r#""a\"\n""#);
}
