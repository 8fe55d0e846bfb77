//! The files of an image in a folder, as a container sees them.

use std::{fs, path::Path};

use anyhow::{Context, Result};
use tar::Archive;

use super::read::Image;

/// Writes the layers of an image into `folder`, one over the other, with the modes that they have there.
pub fn unpack(image: &Image, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for layer in &image.layers {
        let mut archive = Archive::new(layer.as_slice());
        archive.set_preserve_permissions(true);
        archive.unpack(folder).with_context(|| format!("cannot unpack into {}", folder.display()))?;
    }
    Ok(())
}
