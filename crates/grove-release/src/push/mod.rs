//! Sends an image to a registry: what it does not have yet, then the manifests, and the tag at last.
//!
//! The protocol is that of the OCI distribution specification. Only what pushing needs is here, on the HTTP and TLS that the
//! workspace has anyway (docs/decisions/0018-images.md).

mod answer;
pub mod challenge;
pub mod credentials;
pub mod reference;
pub mod registry;

use anyhow::{Context, Result};
use oci_spec::image::Descriptor;

use crate::image::{Files, read};
use credentials::Credentials;
use reference::Reference;
use registry::Registry;

/// What a push did.
#[derive(Debug, PartialEq, Eq)]
pub struct Pushed {
    /// Digest of what the tag names.
    pub digest: String,
    /// How many layers and configurations were sent.
    pub sent: usize,
    /// How many of them the registry had.
    pub skipped: usize,
}

/// Sends the image in `files` to `target`.
pub async fn push(files: &Files, target: &Reference, credentials: Option<Credentials>) -> Result<Pushed> {
    let contents = read::contents(files)?;
    let mut registry = Registry::connect(target, credentials)?;
    registry.authenticate().await?;
    let mut pushed = Pushed { digest: contents.root.digest().to_string(), sent: 0, skipped: 0 };
    for image in &contents.images {
        for blob in image.manifest.layers().iter().chain([image.manifest.config()]) {
            if registry.has_blob(blob).await? {
                pushed.skipped += 1;
            } else {
                registry.upload(blob, read::blob(files, blob)?).await?;
                pushed.sent += 1;
            }
        }
        // A registry takes no index before the manifests in it.
        if image.descriptor.digest() != contents.root.digest() {
            manifest(&mut registry, files, &image.descriptor, image.descriptor.digest().as_ref()).await?;
        }
    }
    manifest(&mut registry, files, &contents.root, &target.tag).await?;
    Ok(pushed)
}

async fn manifest(registry: &mut Registry, files: &Files, it: &Descriptor, name: &str) -> Result<()> {
    let bytes = read::blob(files, it)?;
    registry
        .put_manifest(name, it.media_type().as_ref(), bytes)
        .await
        .with_context(|| format!("manifest {name}"))
}
