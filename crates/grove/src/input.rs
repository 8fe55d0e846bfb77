//! Files, folders and standard input.

use std::{
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

use grove_api::limits::MAX_MANIFEST_BYTES;

/// A text and what to call it.
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// Reads what `arguments` name: files, all manifests below folders, `-` for standard input.
pub(crate) fn read(arguments: &[String]) -> io::Result<Vec<Source>> {
    let mut sources = Vec::new();
    for argument in arguments {
        if argument == "-" {
            sources.push(Source { name: "<stdin>".to_owned(), text: bounded(io::stdin(), "<stdin>")? });
            continue;
        }
        let path = Path::new(argument);
        if fs::metadata(path).map_err(|error| named(argument, &error))?.is_dir() {
            let files = manifests_below(path).map_err(|error| named(argument, &error))?;
            if files.is_empty() {
                let text = format!("{argument}: no .yaml, .yml or .json file in this folder");
                return Err(io::Error::new(io::ErrorKind::NotFound, text));
            }
            for file in files {
                sources.push(read_file(&file)?);
            }
        } else {
            sources.push(read_file(path)?);
        }
    }
    Ok(sources)
}

/// Reads one file.
pub(crate) fn read_file(path: &Path) -> io::Result<Source> {
    let name = path.display().to_string();
    let file = fs::File::open(path).map_err(|error| named(&name, &error))?;
    Ok(Source { text: bounded(file, &name)?, name })
}

/// Reads at most a byte more than a manifest may have, so that the parser can say it is too large.
fn bounded(reader: impl Read, name: &str) -> io::Result<String> {
    let mut bytes = Vec::new();
    reader
        .take(MAX_MANIFEST_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| named(name, &error))?;
    // A cut in the middle of a character is no fault of the text.
    if bytes.len() > MAX_MANIFEST_BYTES {
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    String::from_utf8(bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, format!("{name}: is not UTF-8 text")))
}

fn manifests_below(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            // Links to folders are not followed: they may lead back here.
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            } else if path.is_file()
                && path.extension().is_some_and(|it| it == "yaml" || it == "yml" || it == "json")
            {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

fn named(name: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{name}: {error}"))
}
