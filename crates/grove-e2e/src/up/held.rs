//! At most one at a time in a folder.

use std::{
    fs::{self, File, TryLockError},
    path::Path,
};

use anyhow::{Context, Result};

/// Held for as long as it lives; the system lets go of it however the process ends.
pub(super) struct Held {
    _file: File,
}

impl Held {
    /// Takes hold of a folder, unless somebody else has it.
    pub(super) fn take(folder: &Path) -> Result<Option<Self>> {
        // Beside the folder, which is emptied.
        let path = folder.with_extension("lock");
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        let file = File::options().create(true).append(true).open(&path);
        let file = file.with_context(|| path.display().to_string())?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error).with_context(|| path.display().to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time() {
        let folder = std::env::temp_dir().join(format!("grove-held-{}", std::process::id()));
        let first = Held::take(&folder).unwrap();
        assert!(first.is_some());
        assert!(Held::take(&folder).unwrap().is_none());
        drop(first);
        assert!(Held::take(&folder).unwrap().is_some());
        fs::remove_file(folder.with_extension("lock")).unwrap();
    }
}
