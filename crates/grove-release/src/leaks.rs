//! Paths of the machine that built a program: they make it differ from one built elsewhere, and tell who built it.

use std::path::Path;

use anyhow::{Result, bail};

/// How much of the text around a path is shown.
const SHOWN: usize = 120;

/// Fails if `program` contains one of `folders` as text.
pub fn check(program: &[u8], folders: &[&Path]) -> Result<()> {
    for folder in folders {
        let text = folder.as_os_str().as_encoded_bytes();
        // `/` and the like are in every program, and say nothing.
        if text.len() < 4 {
            continue;
        }
        if let Some(at) = program.windows(text.len()).position(|it| it == text) {
            let shown = &program[at..program.len().min(at + SHOWN)];
            let end = shown.iter().position(|it| !it.is_ascii_graphic()).unwrap_or(shown.len());
            bail!(
                "the program contains a path of this machine, so that it differs from one built elsewhere: {}",
                String::from_utf8_lossy(&shown[..end])
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_found_and_shown() {
        let folders = [Path::new("/src/grove"), Path::new("/opt/cargo"), Path::new("/")];
        let program = b"\x7fELF\0/rustc/1234/library/core/src/a.rs\0/cargo/registry/x.rs\0";
        check(program, &folders).unwrap();
        let error =
            check(b"\x7fELF\0/opt/cargo/registry/src/x/lib.rs\0more", &folders).unwrap_err().to_string();
        assert!(error.ends_with("built elsewhere: /opt/cargo/registry/src/x/lib.rs"), "{error}");
    }
}
