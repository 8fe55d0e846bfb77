//! Builds a program so that the same sources give the same bytes, in whichever folder they are.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

use crate::{
    architecture::Architecture,
    leaks,
    program::Program,
    toolchain::{self, Toolchain},
};

/// Where things are on this machine. None of it may be in a program.
#[derive(Clone, Debug)]
pub struct Folders {
    /// The workspace.
    pub root: PathBuf,
    /// Cargo's own folder, with the sources of third-party crates.
    pub cargo_home: PathBuf,
    /// What Cargo builds into.
    pub target: PathBuf,
    /// Rust's own folder. With the component `rust-src` it has the sources of the standard library.
    pub toolchain: PathBuf,
}

impl Folders {
    /// Those of the workspace at `root`, as Cargo's own variables say.
    pub fn find(root: &Path) -> Result<Self> {
        let root = root.canonicalize().with_context(|| format!("there is no folder {}", root.display()))?;
        let given = |name: &str| env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
        let home = || given("HOME").map(|it| it.join(".cargo"));
        let cargo_home = given("CARGO_HOME").or_else(home).context("neither CARGO_HOME nor HOME is set")?;
        let target = given("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |it| root.join(it));
        let toolchain = toolchain::folder()?;
        Ok(Self { root, cargo_home, target, toolchain })
    }

    /// Each folder and what stands in its place. Of two that fit, the later one counts.
    fn replacements(&self) -> [(&Path, &'static str); 4] {
        [
            (self.toolchain.as_path(), "/rust"),
            (self.cargo_home.as_path(), "/cargo"),
            (self.root.as_path(), "/grove"),
            (self.target.as_path(), "/grove/target"),
        ]
    }
}

/// Builds `program`, and returns its bytes.
pub fn program(program: Program, architecture: Architecture, folders: &Folders) -> Result<Vec<u8>> {
    let toolchain = Toolchain::find(architecture)?;
    toolchain.check()?;
    let status = command(program, &toolchain, folders).status().context("cannot run cargo")?;
    if !status.success() {
        bail!("cargo could not build {} for {}", program.binary(), architecture.name());
    }
    let path = folders.target.join(architecture.target()).join(program.profile()).join(program.binary());
    let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    leaks::check(&bytes, &folders.replacements().map(|it| it.0))?;
    Ok(bytes)
}

fn command(program: Program, toolchain: &Toolchain, folders: &Folders) -> Command {
    let architecture = toolchain.architecture;
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["build", "--locked", "--bin", program.binary()]).args(program.selection());
    // With `--target` the flags are those of the program alone, and not of build scripts and macros.
    command.args(["--profile", program.profile(), "--target", architecture.target()]).arg("--target-dir");
    command.arg(&folders.target).current_dir(&folders.root);
    command.env("CARGO_ENCODED_RUSTFLAGS", flags(folders).join("\x1f")).env_remove("RUSTFLAGS");
    let prefixes =
        folders.replacements().map(|(from, to)| format!("-ffile-prefix-map={}={to}", from.display()));
    let c_flags = format!("CFLAGS_{}", architecture.target().replace('-', "_"));
    command.env(c_flags, prefixes.join(" "));
    if let Some(linker) = &toolchain.linker {
        command.env(toolchain::linker_variable(architecture), linker);
        command.env(format!("CC_{}", architecture.target().replace('-', "_")), linker);
    }
    command
}

/// Static, so that an image needs nothing else; and no path of this machine in messages of panics.
fn flags(folders: &Folders) -> Vec<String> {
    let prefixes = folders.replacements();
    let prefixes = prefixes.map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display()));
    ["-Ctarget-feature=+crt-static".to_owned()].into_iter().chain(prefixes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(program: Program) -> (Vec<String>, Vec<(String, String)>) {
        let folders = Folders {
            root: "/a".into(),
            cargo_home: "/a/c".into(),
            target: "/a/t".into(),
            toolchain: "/r".into(),
        };
        let toolchain = Toolchain {
            architecture: Architecture::Arm64,
            native: false,
            standard_library: true,
            linker: Some("/x/cc".into()),
        };
        let command = command(program, &toolchain, &folders);
        let text = |it: &std::ffi::OsStr| it.to_string_lossy().into_owned();
        let variables = command.get_envs().filter_map(|(name, value)| Some((text(name), text(value?))));
        (command.get_args().map(text).collect(), variables.collect())
    }

    #[test]
    fn cargo_is_called_so_that_folders_do_not_matter() {
        let (arguments, variables) = built(Program::Operator);
        let want = "build --locked --bin grove --package grove --no-default-features --profile dist \
                    --target aarch64-unknown-linux-gnu --target-dir /a/t";
        assert_eq!(arguments.join(" "), want);
        let of = |name: &str| &variables.iter().find(|it| it.0 == name).unwrap().1;
        let flags = "-Ctarget-feature=+crt-static\x1f--remap-path-prefix=/r=/rust\x1f--remap-path-prefix=/a/c=/cargo\x1f\
                     --remap-path-prefix=/a=/grove\x1f--remap-path-prefix=/a/t=/grove/target";
        assert_eq!(of("CARGO_ENCODED_RUSTFLAGS"), flags);
        assert!(
            of("CFLAGS_aarch64_unknown_linux_gnu")
                .starts_with("-ffile-prefix-map=/r=/rust -ffile-prefix-map=/a/c=/cargo ")
        );
        assert_eq!(of("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER"), "/x/cc");
        assert_eq!(of("CC_aarch64_unknown_linux_gnu"), "/x/cc");
    }
}
