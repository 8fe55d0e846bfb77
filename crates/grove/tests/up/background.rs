//! `grove up --detach`: who waits for the cluster, and who does not.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
    process::{Child, Command},
    thread,
    time::Duration,
};

use crate::{Folder, command, text};

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(10);

fn start(folder: &Path, arguments: &[&str]) -> Child {
    let mut command = command(&["up", "--detach", "--topology", "hosts=1", "--folder"]);
    command.arg(folder).args(arguments).spawn().unwrap()
}

#[test]
fn of_two_at_once_one_is_refused_and_the_other_one_is_announced() {
    let folder = Folder::new("two");
    let both = [(); 2].map(|()| start(&folder.0, &["--empty"]));
    let outputs = both.map(|it| it.wait_with_output().unwrap());
    let printed = outputs.each_ref().map(text);
    let codes: BTreeSet<Option<i32>> = outputs.iter().map(|it| it.status.code()).collect();
    assert_eq!(codes, [Some(0), Some(1)].into(), "{printed:#?}");
    let of = |code: i32| outputs.iter().position(|it| it.status.code() == Some(code)).map(|it| &printed[it]);
    let (started, refused) = (of(0).unwrap(), of(1).unwrap());
    assert!(refused.contains("a cluster is running in"), "{refused}");
    for part in ["API server is listening on", "kubectl get pcs", "It runs in the background"] {
        assert!(started.contains(part), "{part:?} is not printed:\n{started}");
    }
    assert!(folder.kubeconfig().exists());
}

#[test]
fn who_does_not_wait_for_it_stops_it() {
    let folder = Folder::new("not-waited-for");
    let mut waiting = start(&folder.0, &["--start-delay", "1h"]);
    while !folder.kubeconfig().exists() {
        assert_eq!(waiting.try_wait().unwrap(), None, "it ended");
        thread::sleep(PAUSE);
    }
    assert!(Command::new("kill").args(["-INT", &waiting.id().to_string()]).status().unwrap().success());
    let output = waiting.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output).as_str()), (Some(0), "Stopped.\n"));
    assert!(!folder.kubeconfig().exists());
    let down = command(&["down", "--folder"]).arg(&folder.0).output().unwrap();
    assert!(text(&down).contains("no cluster is running"), "{}", text(&down));
}

#[test]
fn a_cluster_that_does_not_start_says_why() {
    let folder = Folder::new("not-started");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = format!("--port={}", taken.local_addr().unwrap().port());
    let output = start(&folder.0, &["--empty", &port]).wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    for part in ["choose another --port", "the cluster did not start; see "] {
        assert!(text(&output).contains(part), "{}", text(&output));
    }
}

#[test]
fn the_folder_may_have_any_name() {
    let plain = Folder::new("name");
    let path = [plain.0.as_os_str().as_bytes(), b" \xff'"].concat();
    let folder = Folder(PathBuf::from(OsStr::from_bytes(&path)));
    let output = start(&folder.0, &["--empty"]).wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(folder.kubeconfig().exists());
    let environment = fs::read(folder.0.join("env")).unwrap();
    assert!(environment.contains(&0xff), "it is to the letter");
}
