//! `grove crds`: the CustomResourceDefinitions.

use std::{
    fs,
    io::{self, Write},
    path::PathBuf,
};

use clap::Args;
use grove_api::schema::{CRDS, Crd};

use crate::cli::Outcome;

/// Print the CustomResourceDefinitions, or write them to files.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    grove crds | kubectl apply --server-side -f -\n  \
    grove crds --out crds/\n  \
    grove crds --check crds/")]
pub(crate) struct Crds {
    /// Write one file per kind into this folder.
    #[arg(long, value_name = "DIR", conflicts_with = "check")]
    out: Option<PathBuf>,

    /// Check that the files in this folder are up to date.
    #[arg(long, value_name = "DIR")]
    check: Option<PathBuf>,
}

impl Crds {
    pub(crate) fn run(self) -> io::Result<Outcome> {
        match (self.out, self.check) {
            (Some(folder), _) => {
                fs::create_dir_all(&folder)?;
                for crd in &CRDS {
                    fs::write(folder.join(crd.file_name()), yaml(crd)?)?;
                }
                Ok(Outcome::Success)
            }
            (None, Some(folder)) => check(&folder),
            (None, None) => {
                let mut out = io::stdout().lock();
                for crd in &CRDS {
                    out.write_all(yaml(crd)?.as_bytes())?;
                }
                Ok(Outcome::Success)
            }
        }
    }
}

fn check(folder: &std::path::Path) -> io::Result<Outcome> {
    let mut outcome = Outcome::Success;
    for crd in &CRDS {
        let file = folder.join(crd.file_name());
        if fs::read_to_string(&file).ok() != Some(yaml(crd)?) {
            anstream::eprintln!("{}: out of date; run `make crds`", file.display());
            outcome = Outcome::Findings;
        }
    }
    Ok(outcome)
}

fn yaml(crd: &Crd) -> io::Result<String> {
    let text = serde_saphyr::to_string(&crd.to_value()).map_err(io::Error::other)?;
    Ok(format!("---\n{text}"))
}
