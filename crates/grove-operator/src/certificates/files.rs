//! A certificate that somebody else puts into a folder, and replaces when it wants.

use std::{
    io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tokio::{fs, time::sleep};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::served::Served;

/// Between two looks at the files. A kubelet swaps a link above them, of which no watch on the files would tell.
const LOOK: Duration = Duration::from_secs(2);

/// What a file was when it was read: another file, another time or another size is another content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    changed: (i64, i64),
    size: u64,
}

/// Serves `tls.crt` and `tls.key` of `folder` until `stop`, as they are at any time.
pub async fn follow(folder: PathBuf, served: Arc<Served>, stop: CancellationToken) {
    let mut files =
        Files { certificate: folder.join("tls.crt"), key: folder.join("tls.key"), seen: None, told: None };
    let looking = async {
        loop {
            files.look(&served).await;
            sleep(LOOK).await;
        }
    };
    stop.run_until_cancelled(looking).await;
}

struct Files {
    certificate: PathBuf,
    key: PathBuf,
    /// What was loaded last.
    seen: Option<[Stamp; 2]>,
    /// The trouble that was told last, so that it is told once.
    told: Option<String>,
}

impl Files {
    async fn look(&mut self, served: &Served) {
        match self.load(served).await {
            Ok(false) => {}
            Ok(true) => {
                self.told = None;
                info!(file = %self.certificate.display(), "certificate loaded");
            }
            Err(why) => {
                served.lacks(&why);
                if self.told.as_ref() != Some(&why) {
                    warn!("the certificate of admission cannot be loaded: {why}");
                    self.told = Some(why);
                }
            }
        }
    }

    /// Whether something new was loaded.
    async fn load(&mut self, served: &Served) -> Result<bool, String> {
        let stamps = [stamp(&self.certificate).await?, stamp(&self.key).await?];
        if self.seen == Some(stamps) {
            return Ok(false);
        }
        let (certificate, key) = (read(&self.certificate).await?, read(&self.key).await?);
        // One of two files may have been replaced so far: then they do not fit, and are looked at again.
        served.load(&certificate, &key)?;
        self.seen = Some(stamps);
        Ok(true)
    }
}

async fn stamp(file: &Path) -> Result<Stamp, String> {
    let found = fs::metadata(file).await.map_err(|error| named(file, &error))?;
    Ok(Stamp { inode: found.ino(), changed: (found.mtime(), found.mtime_nsec()), size: found.size() })
}

async fn read(file: &Path) -> Result<Vec<u8>, String> {
    fs::read(file).await.map_err(|error| named(file, &error))
}

fn named(file: &Path, error: &io::Error) -> String {
    format!("{}: {error}", file.display())
}
