//! Reads a layout as a container runtime does, and believes nothing: every hash, size and type is checked.

use std::{collections::BTreeSet, io::Read};

use anyhow::{Context, Result, bail, ensure};
use flate2::read::GzDecoder;
use oci_spec::image::{Descriptor, ImageConfiguration, ImageIndex, ImageManifest, MediaType, OciLayout};
use serde::de::DeserializeOwned;

use super::Files;
use crate::{architecture::Architecture, sha256};

/// What a layer may have when it is unpacked.
const MAX_LAYER: u64 = 1 << 30;

/// A layout and the images in it.
#[derive(Debug)]
pub struct Contents {
    /// What a tag names: a manifest, or an index of several.
    pub root: Descriptor,
    /// One for each architecture.
    pub images: Vec<Image>,
}

/// An image for one architecture.
#[derive(Debug)]
pub struct Image {
    /// What it runs on.
    pub architecture: Architecture,
    /// Its manifest, as it is named.
    pub descriptor: Descriptor,
    /// The manifest.
    pub manifest: ImageManifest,
    /// How it runs.
    pub config: ImageConfiguration,
    /// Its layers as tar archives.
    pub layers: Vec<Vec<u8>>,
}

/// Reads all of a layout.
pub fn contents(files: &Files) -> Result<Contents> {
    let header: OciLayout = parse(files, "oci-layout")?;
    ensure!(
        header.image_layout_version() == "1.0.0",
        "oci-layout: unknown version {}",
        header.image_layout_version()
    );
    let index: ImageIndex = parse(files, "index.json")?;
    let [root] = index.manifests().as_slice() else {
        bail!("index.json: {} manifests, expected one", index.manifests().len());
    };
    let mut reader = Reader { files, used: BTreeSet::new() };
    let manifests = match root.media_type() {
        MediaType::ImageManifest => vec![root.clone()],
        MediaType::ImageIndex => reader.json::<ImageIndex>(root, &MediaType::ImageIndex)?.manifests().clone(),
        other => bail!("index.json: unexpected type {other}"),
    };
    ensure!(!manifests.is_empty(), "{}: an index without images", root.digest());
    let images = manifests.iter().map(|it| reader.image(it)).collect::<Result<_>>()?;
    let stray = files.keys().find(|it| it.starts_with("blobs/") && !reader.used.contains(*it));
    ensure!(stray.is_none(), "{} belongs to no image", stray.map_or("", String::as_str));
    Ok(Contents { root: root.clone(), images })
}

/// The bytes that a descriptor names.
pub fn blob<'a>(files: &'a Files, descriptor: &Descriptor) -> Result<&'a [u8]> {
    let path = path(descriptor);
    files.get(&path).map(Vec::as_slice).with_context(|| format!("{path} is missing"))
}

fn path(descriptor: &Descriptor) -> String {
    format!("blobs/{}", descriptor.digest().as_ref().replacen(':', "/", 1))
}

fn parse<T: DeserializeOwned>(files: &Files, path: &str) -> Result<T> {
    let bytes = files.get(path).with_context(|| format!("{path} is missing"))?;
    serde_json::from_slice(bytes).with_context(|| format!("{path} cannot be read"))
}

struct Reader<'a> {
    files: &'a Files,
    used: BTreeSet<String>,
}

impl<'a> Reader<'a> {
    fn image(&mut self, descriptor: &Descriptor) -> Result<Image> {
        let manifest: ImageManifest = self.json(descriptor, &MediaType::ImageManifest)?;
        let name = descriptor.digest();
        ensure!(manifest.schema_version() == 2, "{name}: schema version {}", manifest.schema_version());
        let media_type = manifest.media_type().as_ref();
        ensure!(
            media_type == Some(&MediaType::ImageManifest),
            "{name}: the manifest does not name its own type"
        );
        let config: ImageConfiguration = self.json(manifest.config(), &MediaType::ImageConfig)?;
        let layers: Vec<Vec<u8>> =
            manifest.layers().iter().map(|it| self.layer(it)).collect::<Result<_>>()?;
        let ids: Vec<String> = layers.iter().map(|it| format!("sha256:{}", sha256::hex(it))).collect();
        ensure!(
            config.rootfs().diff_ids() == &ids,
            "{name}: the diff_ids of the configuration are not those of the layers"
        );
        let platform = descriptor.platform().as_ref();
        let platform = platform.with_context(|| format!("{name}: no platform in the index"))?;
        let same = platform.architecture() == config.architecture() && platform.os() == config.os();
        ensure!(same, "{name}: the platform in the index is not that of the configuration");
        let architecture = Architecture::parse(&config.architecture().to_string())?;
        Ok(Image { architecture, descriptor: descriptor.clone(), manifest, config, layers })
    }

    fn layer(&mut self, descriptor: &Descriptor) -> Result<Vec<u8>> {
        let bytes = self.bytes(descriptor, &MediaType::ImageLayerGzip)?;
        let mut tar = Vec::new();
        let read = GzDecoder::new(bytes).take(MAX_LAYER).read_to_end(&mut tar);
        read.with_context(|| format!("{} cannot be unpacked", descriptor.digest()))?;
        Ok(tar)
    }

    fn json<T: DeserializeOwned>(&mut self, descriptor: &Descriptor, media_type: &MediaType) -> Result<T> {
        let bytes = self.bytes(descriptor, media_type)?;
        serde_json::from_slice(bytes).with_context(|| format!("{} cannot be read", path(descriptor)))
    }

    fn bytes(&mut self, descriptor: &Descriptor, media_type: &MediaType) -> Result<&'a [u8]> {
        let name = descriptor.digest();
        let found = descriptor.media_type();
        ensure!(found == media_type, "{name}: is said to be {found}, expected {media_type}");
        let bytes = blob(self.files, descriptor)?;
        ensure!(u64::try_from(bytes.len())? == descriptor.size(), "{name}: has not the size that is said");
        ensure!(format!("sha256:{}", sha256::hex(bytes)) == name.as_ref(), "{name}: has another hash");
        self.used.insert(path(descriptor));
        Ok(bytes)
    }
}
