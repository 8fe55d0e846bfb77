//! The nodes that `--topology` describes.

use std::{io, path::Path};

use grove_placement::{Cluster, topology};

use crate::input;

/// From one line, or from a file of that name.
pub(crate) fn described_topology(text: &str) -> io::Result<Cluster> {
    let invalid =
        |why: String| io::Error::new(io::ErrorKind::InvalidInput, format!("--topology {text}: {why}"));
    let is_file = Path::new(text).is_file();
    let parsed = if is_file {
        topology::parse_file(&input::read_file(Path::new(text))?.text)
    } else if text.contains('=') || text.is_empty() {
        topology::parse(text)
    } else {
        return Err(invalid("no such file, and not of the form racks=2,hosts=4,gpus=8".to_owned()));
    };
    parsed.map_err(|it| invalid(it.to_string()))
}
