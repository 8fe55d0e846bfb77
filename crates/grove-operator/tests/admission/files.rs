//! Certificates that somebody else puts into a folder.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use grove_operator::certificates::{Served, follow};
use k8s_openapi::jiff::Timestamp;
use rustls::server::ResolvesServerCert;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::stage::self_signed;

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// As a kubelet does it: a folder for each version, and one link that is swapped.
fn mount(folder: &Path, version: &str, certificate: &str, key: &str) {
    let data = folder.join(version);
    fs::create_dir(&data).unwrap();
    fs::write(data.join("tls.crt"), certificate).unwrap();
    fs::write(data.join("tls.key"), key).unwrap();
    symlink(version, folder.join("..tmp")).unwrap();
    fs::rename(folder.join("..tmp"), folder.join("..data")).unwrap();
    for file in ["tls.crt", "tls.key"] {
        let _ = symlink(format!("..data/{file}"), folder.join(file));
    }
}

async fn until(what: &str, served: &Served, is_so: impl Fn(&Result<(), String>) -> bool) {
    for _ in 0..100 {
        if is_so(&served.ready(Timestamp::now())) {
            return;
        }
        sleep(Duration::from_secs(1)).await;
    }
    panic!("{what}: {:?}", served.ready(Timestamp::now()));
}

#[tokio::test(start_paused = true)]
async fn files_are_awaited_and_followed_through_the_kubelets_swap() {
    let (folder, served, stop) = (folder("follow"), Arc::new(Served::default()), CancellationToken::new());
    let task = tokio::spawn(follow(folder.clone(), Arc::clone(&served), stop.clone()));
    let missing = |it: &Result<(), String>| it.as_ref().is_err_and(|it| it.contains("tls.crt: No such file"));
    until("it says what is missing", &served, missing).await;

    let (certificate, key) = self_signed();
    mount(&folder, "..1", &certificate, &key);
    until("it is ready", &served, Result::is_ok).await;
    let first = format!("{served:?}");

    // A key that does not fit is not used; what was there stays in use.
    let (other, its_key) = self_signed();
    mount(&folder, "..2", &other, &key);
    sleep(Duration::from_secs(30)).await;
    assert_eq!(format!("{served:?}"), first);
    mount(&folder, "..3", &other, &its_key);
    for _ in 0..100 {
        if format!("{served:?}") != first {
            break;
        }
        sleep(Duration::from_secs(1)).await;
    }
    assert_ne!(format!("{served:?}"), first, "the new certificate is not used");
    stop.cancel();
    task.await.unwrap();
    let _: Arc<dyn ResolvesServerCert> = served;
    fs::remove_dir_all(folder).unwrap();
}
