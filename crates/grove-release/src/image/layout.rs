//! The folder of an image: what there is by its hash, and an index that names the beginning.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context, Result};
use oci_spec::image::{
    ANNOTATION_REF_NAME, Arch, Descriptor, DescriptorBuilder, Digest, ImageIndexBuilder,
    ImageManifestBuilder, MediaType, OciLayoutBuilder, Os, PlatformBuilder,
};
use tar::Builder;

use super::{Details, Files, config, json, layer};
use crate::{architecture::Architecture, sha256};

/// The only version of the specification.
const VERSION: &str = "1.0.0";
/// Of manifests and indexes.
const SCHEMA_VERSION: u32 = 2;

/// A layout while it is made.
#[derive(Debug, Default)]
pub(super) struct Layout {
    files: Files,
}

impl Layout {
    /// Adds the image with this layer, and describes its manifest.
    pub(super) fn add_image(
        &mut self,
        details: &Details,
        architecture: Architecture,
        tar: &[u8],
    ) -> Result<Descriptor> {
        let config = self.add(MediaType::ImageConfig, json(&config::of(details, architecture, tar)?)?)?;
        let layer = self.add(MediaType::ImageLayerGzip, layer::gzip(tar)?)?;
        let manifest = ImageManifestBuilder::default()
            .schema_version(SCHEMA_VERSION)
            .media_type(MediaType::ImageManifest)
            .config(config)
            .layers([layer])
            .annotations(config::labels(details))
            .build()?;
        let mut manifest = self.add(MediaType::ImageManifest, json(&manifest)?)?;
        let platform =
            PlatformBuilder::default().architecture(Arch::from(architecture.name())).os(Os::Linux).build()?;
        manifest.set_platform(Some(platform));
        Ok(manifest)
    }

    /// Adds what leads to the manifests.
    pub(super) fn finish(mut self, details: &Details, manifests: Vec<Descriptor>) -> Result<Files> {
        let mut root = match <[Descriptor; 1]>::try_from(manifests) {
            Ok([one]) => one,
            Err(many) => {
                let index = ImageIndexBuilder::default()
                    .schema_version(SCHEMA_VERSION)
                    .media_type(MediaType::ImageIndex)
                    .manifests(many)
                    .annotations(config::labels(details))
                    .build()?;
                self.add(MediaType::ImageIndex, json(&index)?)?
            }
        };
        // Programs that read layouts take it for the tag.
        let tag = [(ANNOTATION_REF_NAME.to_owned(), details.version.clone())];
        root.set_annotations(Some(tag.into()));
        let index = ImageIndexBuilder::default()
            .schema_version(SCHEMA_VERSION)
            .media_type(MediaType::ImageIndex)
            .manifests([root])
            .build()?;
        let header = OciLayoutBuilder::default().image_layout_version(VERSION).build()?;
        self.files.insert("index.json".to_owned(), json(&index)?);
        self.files.insert("oci-layout".to_owned(), json(&header)?);
        Ok(self.files)
    }

    fn add(&mut self, media_type: MediaType, bytes: Vec<u8>) -> Result<Descriptor> {
        let hash = sha256::hex(&bytes);
        let digest: Digest = format!("sha256:{hash}").parse()?;
        let size = u64::try_from(bytes.len())?;
        self.files.insert(format!("blobs/sha256/{hash}"), bytes);
        Ok(DescriptorBuilder::default().media_type(media_type).digest(digest).size(size).build()?)
    }
}

/// Writes a layout as a folder, in the place of what is there.
pub fn write(files: &Files, folder: &Path) -> Result<()> {
    if folder.join("oci-layout").exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot replace {}", folder.display()))?;
    }
    for (path, bytes) in files {
        let path = folder.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
        }
        fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Reads the folder of a layout.
pub fn load(folder: &Path) -> Result<Files> {
    let mut files = BTreeMap::new();
    collect(folder, "", &mut files)
        .with_context(|| format!("cannot read the layout {}", folder.display()))?;
    Ok(files)
}

fn collect(folder: &Path, prefix: &str, files: &mut Files) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{path}/"), files)?;
        } else {
            files.insert(path, fs::read(entry.path())?);
        }
    }
    Ok(())
}

/// A layout as one file, which `docker load`, `podman load` and `skopeo` read.
pub fn archive(files: &Files, seconds: u64) -> Result<Vec<u8>> {
    let mut archive = Builder::new(Vec::new());
    for folder in ["blobs/", "blobs/sha256/"] {
        layer::append(&mut archive, folder, None, 0o755, seconds)?;
    }
    for (path, bytes) in files {
        layer::append(&mut archive, path, Some(bytes), 0o644, seconds)?;
    }
    archive.into_inner().context("cannot write the archive")
}
