//! The folder of a local cluster: at most one process uses it at a time.

use std::{
    fs::{self, DirBuilder, File, TryLockError},
    io::{self, Read as _, Seek as _, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

/// Where files go if no folder is chosen, below the user's state folder.
const DEFAULT: &str = "grove/up";

/// A folder that this process holds. The system releases the lock however the process ends.
pub(crate) struct Folder {
    path: PathBuf,
    _lock: File,
}

/// Who holds a folder.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Holder {
    /// Its process; unknown for a moment after it took the folder.
    pub(crate) pid: Option<i32>,
}

/// What became of the attempt to hold a folder.
pub(crate) enum Hold {
    /// It is ours.
    Taken(Folder),
    /// Another process has it.
    Held,
}

impl Folder {
    /// `$XDG_STATE_HOME/grove/up`, or `~/.local/state/grove/up`.
    pub(crate) fn default_path() -> io::Result<PathBuf> {
        let variable = |name: &str| std::env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
        let state = variable("XDG_STATE_HOME").or_else(|| Some(variable("HOME")?.join(".local/state")));
        let missing =
            || io::Error::other("neither XDG_STATE_HOME nor HOME is set; choose a folder with --folder");
        Ok(state.ok_or_else(missing)?.join(DEFAULT))
    }

    /// Takes a folder, and removes what a process that was killed left in it.
    pub(crate) fn hold(path: &Path) -> io::Result<Hold> {
        let path = std::path::absolute(path)?;
        let mut lock = open_lock(&path)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(Hold::Held),
            Err(TryLockError::Error(error)) => return Err(in_folder(&path)(error)),
        }
        lock.set_len(0)?;
        write!(lock, "{}", std::process::id())?;
        let folder = Self { path, _lock: lock };
        folder.empty()?;
        Ok(Hold::Taken(folder))
    }

    /// The process that holds a folder, if any does.
    pub(crate) fn holder(path: &Path) -> io::Result<Option<Holder>> {
        let path = std::path::absolute(path)?;
        if !lock_path(&path).exists() {
            return Ok(None);
        }
        let mut lock = open_lock(&path)?;
        match lock.try_lock() {
            Ok(()) => Ok(None),
            Err(TryLockError::WouldBlock) => Ok(Some(holder(&mut lock))),
            Err(TryLockError::Error(error)) => Err(in_folder(&path)(error)),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The kubeconfig of an administrator.
    pub(crate) fn kubeconfig(&self) -> PathBuf {
        kubeconfig(&self.path)
    }

    /// Notes that the cluster can be used, for a process that waits for that.
    pub(crate) fn note_ready(&self) -> io::Result<()> {
        fs::write(ready(&self.path), "")
    }

    /// Writes a file that only the user may read.
    pub(super) fn write_private(file: &Path, text: &str) -> io::Result<()> {
        let mut file = File::options().create(true).truncate(true).write(true).mode(0o600).open(file)?;
        file.write_all(text.as_bytes())
    }

    /// Removes the files; the folder can be held again.
    pub(super) fn remove(self) -> io::Result<()> {
        self.empty()
    }

    /// Removes only what we write: a folder that the user chose may have other files.
    fn empty(&self) -> io::Result<()> {
        const OURS: [&str; 8] = [
            "kubeconfig",
            "operator.kubeconfig",
            "operator.yaml",
            "podgrouper.kubeconfig",
            "env",
            "ready",
            "bin/grove",
            "bin/kubectl-grove",
        ];
        for name in OURS {
            match fs::remove_file(self.path.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(in_folder(&self.path)(error));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// The kubeconfig in a folder.
pub(crate) fn kubeconfig(folder: &Path) -> PathBuf {
    folder.join("kubeconfig")
}

/// Exists once the cluster can be used.
pub(crate) fn ready(folder: &Path) -> PathBuf {
    folder.join("ready")
}

fn lock_path(folder: &Path) -> PathBuf {
    folder.join("lock")
}

/// Creates a folder, if need be, for the user alone.
pub(crate) fn create(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(in_folder(folder))
}

fn open_lock(folder: &Path) -> io::Result<File> {
    create(folder)?;
    let path = lock_path(folder);
    File::options().create(true).truncate(false).read(true).write(true).open(&path).map_err(in_folder(&path))
}

/// The number of the process is in the lock file.
fn holder(lock: &mut File) -> Holder {
    let mut text = String::new();
    let read = lock.rewind().and_then(|()| lock.read_to_string(&mut text));
    Holder { pid: read.ok().and_then(|_| text.trim().parse().ok()).filter(|it| *it > 1) }
}

fn in_folder(path: &Path) -> impl Fn(io::Error) -> io::Error {
    let path = path.display().to_string();
    move |it| io::Error::new(it.kind(), format!("{path}: {it}"))
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn files_of_others_stay_and_ours_are_private() {
        let path = temporary("files");
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("notes"), "mine").unwrap();
        let folder = take(&path);
        Folder::write_private(&folder.kubeconfig(), "secret").unwrap();
        let mode = fs::metadata(folder.kubeconfig()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        folder.remove().unwrap();
        assert!(path.join("notes").exists() && !kubeconfig(&path).exists());
        fs::remove_dir_all(&path).unwrap();
    }
}
