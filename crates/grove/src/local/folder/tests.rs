//! Which files are ours.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn temporary(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("grove-folder-{name}-{}", std::process::id()));
    drop(fs::remove_dir_all(&path));
    path
}

fn take(path: &Path) -> Folder {
    match Folder::hold(path).unwrap() {
        Hold::Taken(folder) => folder,
        Hold::Held => panic!("held by another process"),
    }
}

#[test]
fn one_process_at_a_time() {
    let path = temporary("one");
    let first = take(&path);
    let own = Holder { pid: i32::try_from(std::process::id()).ok() };
    assert!(matches!(Folder::hold(&path).unwrap(), Hold::Held));
    assert_eq!(Folder::holder(&path).unwrap(), Some(own));
    drop(first);
    assert_eq!(
        Folder::holder(&path).unwrap(),
        None,
        "the number of an ended process may be another's by now"
    );
    take(&path);
    fs::remove_dir_all(&path).unwrap();
}

fn refused(path: &Path) -> String {
    match Folder::hold(path) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("it is taken"),
    }
}

/// Each of them alone, in a folder where no cluster was.
#[test]
fn files_of_the_same_names_are_not_replaced() {
    let names = [
        "kubeconfig",
        "env",
        "ready",
        "operator.yaml",
        "bin/grove",
        "bin",
        "grove.log",
        "output.log",
        "lock",
    ];
    for name in names {
        let path = temporary("foreign");
        let file = path.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "mine").unwrap();
        let why = refused(&path);
        assert!(why.starts_with(&format!("{} is not from grove up", file.display())), "{why}");
        assert!(why.ends_with("or choose another folder with --folder"), "{why}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
        let entries = fs::read_dir(&path).unwrap().count();
        assert_eq!(entries, 1, "{name}: nothing is left behind");
        fs::remove_dir_all(&path).unwrap();
    }
    let path = temporary("foreign");
    fs::create_dir_all(path.join("env")).unwrap();
    assert!(refused(&path).contains("env is not from grove up"));
    fs::remove_dir_all(&path).unwrap();
}

/// After a stop, the user may keep files there.
#[test]
fn files_that_come_after_a_stop_are_not_replaced() {
    let path = temporary("later");
    take(&path).remove().unwrap();
    take(&path).remove().unwrap();
    fs::write(kubeconfig(&path), "mine").unwrap();
    assert!(refused(&path).contains("kubeconfig is not from grove up"));
    assert_eq!(fs::read_to_string(kubeconfig(&path)).unwrap(), "mine");
    fs::remove_dir_all(&path).unwrap();
}

/// It wrote no marker, and was killed.
#[test]
fn what_an_earlier_version_left_is_replaced() {
    let path = temporary("earlier");
    fs::create_dir_all(path.join("bin")).unwrap();
    let kubeconfig = crate::local::credentials::kubeconfig(
        ([127, 0, 0, 1], 6443).into(),
        "authority",
        "admin",
        "token",
        "default",
    );
    let env = "export KUBECONFIG='/x/kubeconfig'\nexport PATH='/x/bin':\"$PATH\"\n";
    let files = [
        ("lock", "4711"),
        ("kubeconfig", kubeconfig.as_str()),
        ("operator.kubeconfig", &kubeconfig),
        ("env", env),
        ("ready", ""),
        ("grove.log", "a line"),
    ];
    for (name, text) in files {
        fs::write(path.join(name), text).unwrap();
    }
    std::os::unix::fs::symlink("/x/grove", path.join("bin/grove")).unwrap();
    take(&path).remove().unwrap();
    let left = fs::read_dir(&path).unwrap().map(|it| it.unwrap().file_name());
    let left: std::collections::BTreeSet<_> = left.collect();
    assert_eq!(left, ["grove.log", "lock"].map(Into::into).into());
    fs::remove_dir_all(&path).unwrap();
}

/// The lock of another program, with its number in it.
#[test]
fn another_programs_lock_is_no_cluster() {
    let path = temporary("other");
    fs::create_dir_all(&path).unwrap();
    let lock = open_lock(&path).unwrap();
    lock.lock().unwrap();
    fs::write(lock_path(&path), "held by make").unwrap();
    assert_eq!(Folder::holder(&path).unwrap(), None);
    fs::remove_dir_all(&path).unwrap();
}

#[test]
fn files_of_others_stay_and_ours_are_private() {
    let path = temporary("files");
    fs::create_dir_all(&path).unwrap();
    fs::write(path.join("notes"), "mine").unwrap();
    for is_dropped in [false, true] {
        let folder = take(&path);
        Folder::write_private(&folder.kubeconfig(), "secret").unwrap();
        let mode = fs::metadata(folder.kubeconfig()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        if is_dropped {
            drop(folder);
        } else {
            folder.remove().unwrap();
        }
        assert!(path.join("notes").exists() && !kubeconfig(&path).exists());
    }
    fs::remove_dir_all(&path).unwrap();
}
