//! The processors that there are programs for.

use anyhow::{Result, bail};

/// A processor architecture, by the name that images and `uname`'s cousins in Go use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Architecture {
    /// x86-64.
    Amd64,
    /// AArch64, for example the hosts of GB200.
    Arm64,
}

impl Architecture {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Amd64, Self::Arm64];

    /// As `--arch` and OCI write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Amd64 => "amd64",
            Self::Arm64 => "arm64",
        }
    }

    /// Reads what [`Architecture::name`] writes, or what Rust and `uname` say.
    pub fn parse(text: &str) -> Result<Self> {
        match text {
            "amd64" | "x86_64" => Ok(Self::Amd64),
            "arm64" | "aarch64" => Ok(Self::Arm64),
            other => bail!("unknown architecture {other:?}: give amd64 or arm64"),
        }
    }

    /// Rust's name of the target.
    pub const fn target(self) -> &'static str {
        match self {
            Self::Amd64 => "x86_64-unknown-linux-gnu",
            Self::Arm64 => "aarch64-unknown-linux-gnu",
        }
    }

    /// The C compiler that links for it on another architecture, as Debian calls it.
    pub const fn cross_linker(self) -> &'static str {
        match self {
            Self::Amd64 => "x86_64-linux-gnu-gcc",
            Self::Arm64 => "aarch64-linux-gnu-gcc",
        }
    }

    /// The Debian package with that compiler.
    pub const fn cross_package(self) -> &'static str {
        match self {
            Self::Amd64 => "gcc-x86-64-linux-gnu",
            Self::Arm64 => "gcc-aarch64-linux-gnu",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for it in Architecture::ALL {
            assert_eq!(Architecture::parse(it.name()).unwrap(), it);
        }
        assert_eq!(Architecture::parse("aarch64").unwrap(), Architecture::Arm64);
        let error = Architecture::parse("riscv64").unwrap_err().to_string();
        assert_eq!(error, "unknown architecture \"riscv64\": give amd64 or arm64");
    }
}
