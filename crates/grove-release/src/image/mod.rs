//! An image as files, in the OCI image layout.
//!
//! Going out: [`layer`] puts a program into an archive, [`config`] says how it runs, [`mod@layout`] names all of it by its hash.
//! Coming back: [`read`] checks every hash and type, [`policy`] what our images promise, [`unpack`] gives the files.

pub mod config;
pub mod layer;
pub mod layout;
pub mod policy;
pub mod read;
pub mod unpack;

use std::collections::BTreeMap;

use anyhow::Result;
use oci_spec::image::Descriptor;
use serde::Serialize;

use crate::architecture::Architecture;

/// The files of a layout, by their path in it. In memory, because ours are small.
pub type Files = BTreeMap<String, Vec<u8>>;

/// What an image says of itself.
#[derive(Clone, Debug)]
pub struct Details {
    /// Name of the program.
    pub program: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// What it does.
    pub description: &'static str,
    /// Version of the program, and the tag in the layout.
    pub version: String,
    /// The commit.
    pub revision: String,
    /// When the commit was made, in seconds since 1970.
    pub seconds: u64,
    /// The same, as RFC 3339 writes it.
    pub created: String,
}

/// A program for one architecture.
#[derive(Clone, Debug)]
pub struct Payload {
    /// What it runs on.
    pub architecture: Architecture,
    /// The program itself.
    pub program: Vec<u8>,
}

/// The layout of an image: one manifest, or an index where there is more than one architecture.
pub fn layout(details: &Details, licence: &[u8], payloads: &[Payload]) -> Result<Files> {
    let mut layout = layout::Layout::default();
    let manifests: Vec<Descriptor> = payloads
        .iter()
        .map(|payload| {
            let tar = layer::tar(details, licence, &payload.program)?;
            layout.add_image(details, payload.architecture, &tar)
        })
        .collect::<Result<_>>()?;
    layout.finish(details, manifests)
}

/// JSON with sorted keys: the types of the specification have maps without an order.
pub(crate) fn json(value: &impl Serialize) -> Result<Vec<u8>> {
    let mut value = serde_json::to_value(value)?;
    value.sort_all_objects();
    Ok(serde_json::to_vec(&value)?)
}
