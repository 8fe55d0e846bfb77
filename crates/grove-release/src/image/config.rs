//! How an image runs, and what it says of itself.

use anyhow::Result;
use oci_spec::image::{
    ANNOTATION_CREATED, ANNOTATION_DESCRIPTION, ANNOTATION_LICENSES, ANNOTATION_REVISION, ANNOTATION_TITLE,
    ANNOTATION_VERSION, Arch, ConfigBuilder, HistoryBuilder, ImageConfiguration, ImageConfigurationBuilder,
    Os, RootFsBuilder,
};

use super::{Details, layer::PROGRAMS};
use crate::{architecture::Architecture, sha256};

/// A user and a group that are nobody. As numbers, so that a kubelet can tell for `runAsNonRoot` that this is not root; and in the image,
/// so that no manifest has to say it, which OpenShift would refuse.
pub const USER: &str = "65532:65532";
/// The licence of this project, in the words of SPDX.
const LICENCE: &str = "Apache-2.0";
const PATH: &str = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Labels of an image, and annotations of its manifest.
pub(super) fn labels(details: &Details) -> [(String, String); 6] {
    [
        (ANNOTATION_CREATED, details.created.as_str()),
        (ANNOTATION_DESCRIPTION, details.description),
        (ANNOTATION_LICENSES, LICENCE),
        (ANNOTATION_REVISION, details.revision.as_str()),
        (ANNOTATION_TITLE, details.title),
        (ANNOTATION_VERSION, details.version.as_str()),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
}

/// The configuration of an image with this layer.
pub(super) fn of(details: &Details, architecture: Architecture, tar: &[u8]) -> Result<ImageConfiguration> {
    let run = ConfigBuilder::default()
        .user(USER)
        .env([PATH.to_owned()])
        .entrypoint([format!("/{PROGRAMS}/{}", details.program)])
        .working_dir("/")
        .labels(labels(details))
        .build()?;
    let layer =
        RootFsBuilder::default().typ("layers").diff_ids([format!("sha256:{}", sha256::hex(tar))]).build()?;
    let history = HistoryBuilder::default()
        .created(details.created.as_str())
        .created_by("grove-release image")
        .build()?;
    Ok(ImageConfigurationBuilder::default()
        .created(details.created.as_str())
        .architecture(Arch::from(architecture.name()))
        .os(Os::Linux)
        .config(run)
        .rootfs(layer)
        .history([history])
        .build()?)
}
