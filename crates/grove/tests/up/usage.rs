//! Flags, wrong input, and how it ends.

use std::{collections::BTreeSet, ffi::OsString, fs, path::Path, process::Command};

use crate::{Folder, foreground::Foreground, grove, root, text, up};

#[test]
fn a_cluster_in_the_background_is_used_and_stopped() {
    let folder = Folder::new("background");
    let path = folder.0.display().to_string();
    let kubeconfig = folder.kubeconfig().display().to_string();
    let output = up(&folder, &["--empty", "--detach", "--topology", "racks=2,hosts=2,gpus=8"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(text(&output).contains("2 racks, 4 nodes, 32 GPUs, all simulated"), "{}", text(&output));
    assert!(!text(&output).contains("Ctrl-C"), "it runs in the background: {}", text(&output));

    let topology = grove(&["topology", "--depth", "rack", "--kubeconfig", &kubeconfig]);
    let all = "cluster (ClusterTopologyBinding): 4 nodes, 32 of 32 nvidia.com/gpu free";
    assert!(text(&topology).contains(all), "{}", text(&topology));
    let status = grove(&["status", "--kubeconfig", &kubeconfig]);
    assert!(text(&status).contains("no PodCliqueSet"), "{}", text(&status));

    let second = up(&folder, &["--empty"]);
    assert_eq!(second.status.code(), Some(1));
    assert!(text(&second).contains("a cluster is running in"), "{}", text(&second));

    let down = grove(&["down", "--folder", &path]);
    assert_eq!((down.status.code(), text(&down).as_str()), (Some(0), "Stopped.\n"));
    assert!(!folder.kubeconfig().exists(), "no credentials stay");
    let again = grove(&["down", "--folder", &path]);
    assert_eq!(again.status.code(), Some(0));
    assert!(text(&again).contains("no cluster is running"), "{}", text(&again));
}

#[test]
fn a_killed_cluster_leaves_nothing_in_the_way() {
    let folder = Folder::new("killed");
    let first = up(&folder, &["--empty", "--detach", "--topology", "hosts=1,gpus=1"]);
    assert_eq!(first.status.code(), Some(0), "{}", text(&first));
    let pid = fs::read_to_string(folder.0.join("lock")).unwrap();
    assert!(Command::new("kill").args(["-9", pid.trim()]).status().unwrap().success());
    // The lock is released by the system when the process is gone, which `kill` does not wait for.
    let down = grove(&["down", "--folder", &folder.0.display().to_string()]);
    assert_eq!(down.status.code(), Some(0), "{}", text(&down));
    let second = up(&folder, &["--plain", "--exit-when-ready", "--sample", "samples/01-single-role.yaml"]);
    assert_eq!(second.status.code(), Some(0), "{}", text(&second));
    assert!(!folder.kubeconfig().exists(), "the files are removed");
}

/// Under nohup SIGHUP ends nothing, not even what the test starts.
fn is_hangup_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|it| it.strip_prefix("SigIgn:")).unwrap_or_default();
    u64::from_str_radix(mask.trim(), 16).is_ok_and(|it| it & 1 == 1)
}

#[test]
fn a_cluster_that_is_stopped_while_it_starts_leaves_no_files() {
    let signals = if is_hangup_ignored() { vec!["-INT"] } else { vec!["-INT", "-HUP"] };
    for signal in signals {
        let folder = Folder::new("starting");
        let cluster = Foreground::start(&folder, &["--plain"]);
        cluster.read_until("API server is listening");
        let (printed, code) = cluster.end(signal);
        assert_eq!(code, Some(0), "{signal}: {printed}");
        let left = fs::read_dir(&folder.0).unwrap().map(|it| it.unwrap().file_name());
        let left: BTreeSet<OsString> = left.collect();
        assert_eq!(left, ["grove.log", "lock"].map(OsString::from).into(), "{signal}");
    }
}

#[test]
fn unusable_input_ends_with_2_and_the_remedy() {
    let folder = Folder::new("input");
    let rows: [(&[&str], &str); 5] = [
        (&["--topology", "rakcs=2"], "rakcs"),
        (&["--topology", "racks=0"], "racks"),
        (&["--sample", "no-such-file.yaml"], "no-such-file.yaml"),
        (
            &["--sample", "samples/grouping-rule.yaml"],
            "has no PodCliqueSet; start an empty cluster with --empty",
        ),
        (&["--empty", "--exit-when-ready"], "cannot be used with"),
    ];
    for (arguments, want) in rows {
        let output = up(&folder, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output));
        assert!(text(&output).contains(want), "{arguments:?}: {}", text(&output));
    }
}

#[test]
fn a_sample_that_is_refused_ends_with_the_reason() {
    let folder = Folder::new("refused");
    let file = std::env::temp_dir().join(format!("grove-up-refused-{}.yaml", std::process::id()));
    let sample = fs::read_to_string(root().join("samples/01-single-role.yaml")).unwrap();
    fs::write(&file, sample.replace("replicas: 1", "replicas: -1")).unwrap();
    let output = up(&folder, &["--plain", "--exit-when-ready", "--sample", &file.display().to_string()]);
    fs::remove_file(&file).unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("spec.replicas"), "{}", text(&output));
}

#[test]
fn the_namespace_of_the_sample_is_created() {
    let folder = Folder::new("namespace");
    let file = std::env::temp_dir().join(format!("grove-up-namespace-{}.yaml", std::process::id()));
    let sample = fs::read_to_string(root().join("samples/01-single-role.yaml")).unwrap();
    fs::write(&file, sample.replacen("name: server", "name: server\n  namespace: team-a", 1)).unwrap();
    let output = up(&folder, &["--exit-when-ready", "--sample", &file.display().to_string()]);
    fs::remove_file(&file).unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(text(&output).contains("all 2 pods of server are ready"), "{}", text(&output));
}

/// As by `grove up | head`.
#[test]
fn a_cluster_whose_output_nobody_reads_ends() {
    let folder = Folder::new("unread");
    let cluster = Foreground::start(&folder, &["--plain"]);
    cluster.read_until("API server is listening");
    assert_eq!(cluster.read_no_more(), Some(0));
    assert!(!folder.kubeconfig().exists());
}

#[test]
fn credentials_are_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new("private");
    let output = up(&folder, &["--empty", "--detach", "--topology", "hosts=1"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder.0), 0o700);
    for file in ["kubeconfig", "operator.kubeconfig", "podgrouper.kubeconfig"] {
        assert_eq!(mode(&folder.0.join(file)), 0o600, "{file}");
    }
}
