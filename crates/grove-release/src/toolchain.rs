//! What a machine needs to build for an architecture, and what to install where it is missing.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

use crate::architecture::Architecture;

/// What there is to build for one architecture.
#[derive(Debug)]
pub struct Toolchain {
    /// Which.
    pub architecture: Architecture,
    /// Whether it is that of this machine.
    pub native: bool,
    /// Rust's standard library for it.
    pub standard_library: bool,
    /// What links for it, where that is not the C compiler of this machine.
    pub linker: Option<PathBuf>,
}

impl Toolchain {
    /// Asks rustc, and looks for a linker.
    pub fn find(architecture: Architecture) -> Result<Self> {
        let host = rustc(&["-vV"])?;
        let native = host.lines().any(|it| it == format!("host: {}", architecture.target()));
        let library = rustc(&["--print", "target-libdir", "--target", architecture.target()])?;
        let named = env::var_os(linker_variable(architecture)).map(PathBuf::from);
        let linker = named.or_else(|| on_path(architecture.cross_linker())).filter(|_| !native);
        Ok(Self { architecture, native, standard_library: Path::new(library.trim()).is_dir(), linker })
    }

    /// Fails with what to install.
    pub fn check(&self) -> Result<()> {
        let (name, target) = (self.architecture.name(), self.architecture.target());
        let mut missing = Vec::new();
        if !self.standard_library {
            missing.push(format!("Rust's standard library for it: rustup target add {target}"));
        }
        if !self.native && self.linker.is_none() {
            missing.push(format!(
                "a linker for it: {} (Debian: apt install {}), or another in {}",
                self.architecture.cross_linker(),
                self.architecture.cross_package(),
                linker_variable(self.architecture)
            ));
        }
        if !missing.is_empty() {
            bail!("programs for {name} cannot be built here, install first\n  {}", missing.join("\n  "));
        }
        Ok(())
    }
}

/// The variable in which Cargo reads which linker to use.
pub fn linker_variable(architecture: Architecture) -> String {
    format!("CARGO_TARGET_{}_LINKER", architecture.target().to_uppercase().replace('-', "_"))
}

/// Where Rust itself is.
pub fn folder() -> Result<PathBuf> {
    Ok(PathBuf::from(rustc(&["--print", "sysroot"])?.trim()))
}

fn rustc(arguments: &[&str]) -> Result<String> {
    let output = Command::new("rustc").args(arguments).output().context("cannot run rustc")?;
    if !output.status.success() {
        bail!("rustc {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn on_path(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|it| it.join(program)).find(|it| it.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(native: bool, standard_library: bool, linker: Option<&str>) -> Toolchain {
        Toolchain {
            architecture: Architecture::Arm64,
            native,
            standard_library,
            linker: linker.map(PathBuf::from),
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        let std = "\n  Rust's standard library for it: rustup target add aarch64-unknown-linux-gnu";
        let linker = "\n  a linker for it: aarch64-linux-gnu-gcc (Debian: apt install gcc-aarch64-linux-gnu), or another in \
                      CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER";
        let rows = [
            (of(true, true, None), None),
            (of(false, true, Some("/usr/bin/gcc")), None),
            (of(false, true, None), Some(linker.to_owned())),
            (of(false, false, Some("/usr/bin/gcc")), Some(std.to_owned())),
            (of(false, false, None), Some(format!("{std}{linker}"))),
        ];
        for (toolchain, want) in rows {
            let got = toolchain.check().err().map(|it| it.to_string());
            let start = "programs for arm64 cannot be built here, install first";
            assert_eq!(got, want.map(|it| format!("{start}{it}")), "{toolchain:?}");
        }
    }

    #[test]
    fn this_machine_builds_for_itself() {
        let host = Architecture::parse(env::consts::ARCH).unwrap();
        let toolchain = Toolchain::find(host).unwrap();
        assert!(toolchain.native && toolchain.standard_library, "{toolchain:?}");
        toolchain.check().unwrap();
    }
}
