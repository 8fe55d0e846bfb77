//! The folder of a local cluster: at most one process uses it at a time. `files` is what that may write and remove.

mod files;

use std::{
    fs::{self, DirBuilder, File, TryLockError},
    io::{self, Read as _, Seek as _, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

/// Where files go if no folder is chosen, below the user's state folder.
const DEFAULT: &str = "grove/up";
const LOCK: &str = "lock";

/// A folder that this process holds. Its files are removed when this is dropped. The system releases the lock however the process ends.
pub(crate) struct Folder {
    path: PathBuf,
    lock: File,
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
        let missing = || io::Error::other("neither XDG_STATE_HOME nor HOME is set");
        Ok(state.ok_or_else(missing)?.join(DEFAULT))
    }

    /// That of `--folder`, or else the default.
    pub(crate) fn chosen(folder: Option<PathBuf>) -> io::Result<PathBuf> {
        let hint = |it| io::Error::other(format!("{it}; choose a folder with --folder"));
        folder.map_or_else(|| Self::default_path().map_err(hint), Ok)
    }

    /// Takes a folder, and removes what a process that was killed left in it. Fails if that might be files of the user.
    pub(crate) fn hold(path: &Path) -> io::Result<Hold> {
        let path = std::path::absolute(path)?;
        create(&path)?;
        let is_new = !lock_path(&path).exists();
        let mut lock = open_lock(&path)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return files::check(&path, read(&mut lock).as_deref()).map(|()| Hold::Held);
            }
            Err(TryLockError::Error(error)) => return Err(in_folder(&path)(error)),
        }
        let content = read(&mut lock);
        if let Err(error) = files::check(&path, content.as_deref().filter(|_| !is_new)) {
            // The folder is as it was.
            return if is_new { fs::remove_file(lock_path(&path)).and(Err(error)) } else { Err(error) };
        }
        files::mark(&path)?;
        let folder = Self { path, lock };
        folder.note_holder()?;
        files::empty(&folder.path)?;
        Ok(Hold::Taken(folder))
    }

    /// Says in the lock file who holds it.
    fn note_holder(&self) -> io::Result<()> {
        let mut lock = &self.lock;
        lock.set_len(0)?;
        lock.rewind()?;
        write!(lock, "{}", std::process::id())
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
            // Another program may lock a file of this name, too. Clusters of earlier versions have no marker.
            Err(TryLockError::WouldBlock) if files::check(&path, read(&mut lock).as_deref()).is_err() => {
                Ok(None)
            }
            Err(TryLockError::WouldBlock) => Ok(Some(Holder { pid: pid(&mut lock) })),
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

    /// Writes a file that only the user may read.
    pub(super) fn write_private(file: &Path, text: &str) -> io::Result<()> {
        let mut file = File::options().create(true).truncate(true).write(true).mode(0o600).open(file)?;
        file.write_all(text.as_bytes())
    }

    /// Removes the files; the folder can be held again.
    pub(super) fn remove(self) -> io::Result<()> {
        self.empty()
    }

    fn empty(&self) -> io::Result<()> {
        files::empty(&self.path)?;
        files::unmark(&self.path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left is removed by the next one that holds the folder.
        let _ = self.empty();
    }
}

/// The kubeconfig in a folder.
pub(crate) fn kubeconfig(folder: &Path) -> PathBuf {
    folder.join("kubeconfig")
}

fn lock_path(folder: &Path) -> PathBuf {
    folder.join(LOCK)
}

/// Creates a folder, if need be, for the user alone.
fn create(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(in_folder(folder))
}

fn open_lock(folder: &Path) -> io::Result<File> {
    let path = lock_path(folder);
    File::options().create(true).truncate(false).read(true).write(true).open(&path).map_err(in_folder(&path))
}

/// What a lock file contains. What is no text is not ours.
fn read(lock: &mut File) -> Option<String> {
    let mut bytes = Vec::new();
    lock.rewind().and_then(|()| lock.read_to_end(&mut bytes)).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The number of the process is in the lock file.
fn pid(lock: &mut File) -> Option<i32> {
    read(lock)?.trim().parse().ok().filter(|it| *it > 1)
}

fn in_folder(path: &Path) -> impl Fn(io::Error) -> io::Error {
    let path = path.display().to_string();
    move |it| io::Error::new(it.kind(), format!("{path}: {it}"))
}

#[cfg(test)]
mod tests;
