//! What our images promise, whoever made them: a numeric user that is not root, a program that any user may run, nothing that it could change,
//! and labels.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use oci_spec::image::{
    ANNOTATION_CREATED, ANNOTATION_DESCRIPTION, ANNOTATION_LICENSES, ANNOTATION_REVISION, ANNOTATION_TITLE,
    ANNOTATION_VERSION,
};
use tar::{Archive, EntryType};

use super::read::Image;

const LABELS: [&str; 6] = [
    ANNOTATION_CREATED,
    ANNOTATION_DESCRIPTION,
    ANNOTATION_LICENSES,
    ANNOTATION_REVISION,
    ANNOTATION_TITLE,
    ANNOTATION_VERSION,
];

/// Fails with the first promise that an image does not keep.
pub fn check(image: &Image) -> Result<()> {
    let run = image.config.config().as_ref().context("the image does not say how it runs")?;
    user(run.user().as_deref().unwrap_or_default())?;
    let Some([program]) = run.entrypoint().as_deref() else {
        bail!("the image has no entrypoint of one program");
    };
    for label in LABELS {
        let value = run.labels().as_ref().and_then(|it| it.get(label));
        ensure!(value.is_some_and(|it| !it.is_empty()), "the label {label} is missing");
    }
    let mut runs = false;
    for layer in &image.layers {
        runs |= entries(layer, program)?;
    }
    ensure!(runs, "the entrypoint {program} is no file that any user may run");
    Ok(())
}

/// A kubelet cannot tell of a name whether it is root, and refuses it where `runAsNonRoot` is set.
fn user(user: &str) -> Result<()> {
    let id = user.split(':').next().unwrap_or_default();
    match id.parse::<u32>() {
        Ok(0) => bail!("the user is root"),
        Ok(_) => Ok(()),
        Err(_) => bail!("the user {user:?} is not a number"),
    }
}

/// Checks every entry of a layer, and says whether `program` is one that anybody may run.
fn entries(layer: &[u8], program: &str) -> Result<bool> {
    let mut runs = false;
    for entry in Archive::new(layer).entries()? {
        let entry = entry.context("the layer cannot be read")?;
        let (path, header) = (entry.path()?, entry.header());
        let name = path.display();
        ensure!(header.uid()? == 0 && header.gid()? == 0, "{name} does not belong to root");
        let mode = header.mode()?;
        ensure!(mode & 0o022 == 0, "{name} may be changed by others than root: mode {mode:o}");
        ensure!(mode & 0o7000 == 0, "{name} runs as somebody else: mode {mode:o}");
        let kind = header.entry_type();
        ensure!(
            matches!(kind, EntryType::Regular | EntryType::Directory),
            "{name} is neither file nor folder"
        );
        let is_program = Path::new("/").join(&path) == Path::new(program);
        runs |= is_program && kind == EntryType::Regular && mode & 0o005 == 0o005;
    }
    Ok(runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users() {
        for it in ["65532", "65532:65532", "1:0"] {
            user(it).unwrap();
        }
        for it in ["", "nonroot", "0", "0:65532", ":1"] {
            assert!(user(it).is_err(), "{it:?}");
        }
    }
}
