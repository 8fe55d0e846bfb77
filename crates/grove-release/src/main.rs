//! Makes what is shipped. The Makefile calls it: `make image`, `make release`, `make release-check`.

use std::{
    env, fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, Result};
use clap::{Args, Parser, Subcommand};
use grove_release::{
    architecture::Architecture,
    changelog, chart,
    compile::{self, Folders},
    folder,
    image::{self, Details, Files, Payload, layout, policy, read, unpack},
    program::Program,
    push::{self, credentials::Credentials, reference::Reference},
    sbom,
    source::Source,
};

/// Of the workspace, and so of everything that is shipped.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Makes what is shipped, the same bytes from the same commit: programs, images and checksums.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build `grove` as people run it: static, without paths of this machine.
    Program {
        /// Folder for `grove-linux-ARCH`.
        #[arg(long)]
        folder: PathBuf,
        /// amd64, arm64, or both with a comma between them.
        #[arg(long, value_parser = Architecture::parse, value_delimiter = ',', default_value = env::consts::ARCH)]
        arch: Vec<Architecture>,
    },
    /// Build images as OCI layouts, and push them.
    Image(ImageArguments),
    /// Check a layout: hashes, types, user, modes, labels.
    Verify {
        /// Folder of the layout.
        layout: PathBuf,
    },
    /// Write the files of an image into a folder, and print its configuration.
    Unpack {
        /// Folder of the layout.
        layout: PathBuf,
        /// Where to.
        #[arg(long)]
        to: PathBuf,
        /// amd64 or arm64.
        #[arg(long, value_parser = Architecture::parse, default_value = env::consts::ARCH)]
        arch: Architecture,
    },
    /// Write bills of materials (CycloneDX) of the programs of a release.
    Sbom {
        /// Folder for `grove-linux-ARCH.cdx.json`, `grove-image-linux-ARCH.cdx.json` and `grove-initc-image-linux-ARCH.cdx.json`.
        #[arg(long)]
        folder: PathBuf,
        /// amd64, arm64, or both with a comma between them.
        #[arg(long, value_parser = Architecture::parse, value_delimiter = ',', default_value = env::consts::ARCH)]
        arch: Vec<Architecture>,
    },
    /// Write the Helm chart as one file.
    Chart {
        /// Folder for `grove-VERSION.tgz`.
        #[arg(long)]
        folder: PathBuf,
    },
    /// Write what `CHANGELOG.md` says of this version.
    Changelog {
        /// Folder for `CHANGELOG.md`.
        #[arg(long)]
        folder: PathBuf,
    },
    /// Write the checksums of all files of a folder.
    Sums {
        /// The folder.
        folder: PathBuf,
    },
}

#[derive(Args)]
struct ImageArguments {
    /// Folder for the layouts.
    #[arg(long, default_value = "target/image")]
    out: PathBuf,
    /// amd64, arm64, or both with a comma between them: then one image for both.
    #[arg(long, value_parser = Architecture::parse, value_delimiter = ',', default_value = env::consts::ARCH)]
    arch: Vec<Architecture>,
    /// Only this image: grove or grove-initc.
    #[arg(long, value_parser = Program::of_image)]
    image: Option<Program>,
    /// Write each layout as one file, too.
    #[arg(long)]
    archive: Option<PathBuf>,
    /// Push to registry/name:tag; the image of the init container goes to registry/name-initc:tag.
    #[arg(long, value_parser = Reference::parse)]
    push: Option<Reference>,
}

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "grove-release: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<()> {
    match command {
        Command::Program { folder, arch } => {
            let folders = Folders::find(Path::new("."))?;
            for arch in arch {
                let bytes = compile::program(Program::CommandLine, arch, &folders)?;
                write_program(&folder.join(format!("grove-linux-{}", arch.name())), &bytes)?;
            }
            Ok(())
        }
        Command::Image(arguments) => images(&arguments),
        Command::Verify { layout: folder } => {
            let files = layout::load(&folder)?;
            verify(&files)?;
            say(&format!("{}: no findings", folder.display()));
            Ok(())
        }
        Command::Unpack { layout: folder, to, arch } => {
            let contents = read::contents(&layout::load(&folder)?)?;
            let image = contents.images.iter().find(|it| it.architecture == arch);
            let image = image.with_context(|| format!("there is no image for {}", arch.name()))?;
            unpack::unpack(image, &to)?;
            say(&image.config.to_string_pretty()?);
            Ok(())
        }
        Command::Sbom { folder, arch } => arch.into_iter().try_for_each(|it| sboms(&folder, it)),
        Command::Chart { folder } => {
            let source = Source::find(Path::new("."))?;
            let (name, bytes) = chart::package(Path::new("charts/grove"), VERSION, source.seconds()?)?;
            write(&folder.join(name), &bytes)
        }
        Command::Changelog { folder } => {
            let text = fs::read_to_string("CHANGELOG.md").context("cannot read CHANGELOG.md")?;
            let section = changelog::section(&text, VERSION)?;
            write(&folder.join("CHANGELOG.md"), format!("{section}\n").as_bytes())
        }
        Command::Sums { folder } => {
            let count = folder::write_sums(&folder)?;
            say(&format!("{}: {count} files", folder.join(folder::SUMS).display()));
            Ok(())
        }
    }
}

/// The bills of what a release has of an architecture, each beside what it is of.
fn sboms(folder: &Path, architecture: Architecture) -> Result<()> {
    let folders = Folders::find(Path::new("."))?;
    let source = Source::find(&folders.root)?;
    for (program, name) in [
        (Program::CommandLine, "grove"),
        (Program::Operator, "grove-image"),
        (Program::Initc, "grove-initc-image"),
    ] {
        let bill = sbom::of(program, architecture, &folders, &source)?;
        let path = folder.join(format!("{name}-linux-{}.cdx.json", architecture.name()));
        write(&path, &serde_json::to_vec_pretty(&bill)?)?;
    }
    Ok(())
}

fn images(arguments: &ImageArguments) -> Result<()> {
    let folders = Folders::find(Path::new("."))?;
    let source = Source::find(&folders.root)?;
    let licence = fs::read(folders.root.join("LICENSE")).context("cannot read LICENSE")?;
    let mut built = Vec::new();
    for program in arguments.image.map_or(Program::IMAGES.to_vec(), |it| vec![it]) {
        let files = image(program, &arguments.arch, &folders, &source, &licence)?;
        let folder = arguments.out.join(program.binary());
        layout::write(&files, &folder)?;
        if let Some(archives) = &arguments.archive {
            let names: Vec<&str> = arguments.arch.iter().map(|it| it.name()).collect();
            let name = format!("{}-image-linux-{}.tar", program.binary(), names.join("-"));
            fs::create_dir_all(archives)?;
            fs::write(archives.join(name), layout::archive(&files, source.seconds()?)?)?;
        }
        let contents = read::contents(&files)?;
        let size: usize = files.values().map(Vec::len).sum();
        say(&format!("{}: {} bytes, {}", folder.display(), size, contents.root.digest()));
        built.push((program, files));
    }
    match &arguments.push {
        Some(target) => push_all(&built, target),
        None => Ok(()),
    }
}

fn image(
    program: Program,
    architectures: &[Architecture],
    folders: &Folders,
    source: &Source,
    licence: &[u8],
) -> Result<Files> {
    let details = Details {
        program: program.binary(),
        title: program.title(),
        description: program.description(),
        version: VERSION.to_owned(),
        revision: source.revision.clone(),
        seconds: source.seconds()?,
        created: source.created()?,
    };
    let payload = |architecture: Architecture| {
        let program = compile::program(program, architecture, folders)?;
        Ok(Payload { architecture, program })
    };
    let payloads: Vec<Payload> = architectures.iter().map(|it| payload(*it)).collect::<Result<_>>()?;
    let files = image::layout(&details, licence, &payloads)?;
    verify(&files)?;
    Ok(files)
}

fn verify(files: &Files) -> Result<()> {
    for image in &read::contents(files)?.images {
        policy::check(image).with_context(|| format!("{}", image.descriptor.digest()))?;
    }
    Ok(())
}

fn push_all(built: &[(Program, Files)], target: &Reference) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    for (program, files) in built {
        let target = target.with_suffix(program.image_suffix());
        let pushed = runtime.block_on(push::push(files, &target, Credentials::find(&target)?));
        let pushed = pushed.with_context(|| format!("cannot push {target}"))?;
        say(&format!(
            "{target}: {}, {} blobs sent, {} were there",
            pushed.digest, pushed.sent, pushed.skipped
        ));
    }
    Ok(())
}

fn write_program(path: &Path, bytes: &[u8]) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    write(path, bytes)?;
    Ok(fs::set_permissions(path, fs::Permissions::from_mode(0o755))?)
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    say(&format!("{}: {} bytes", path.display(), bytes.len()));
    Ok(())
}

/// Prints to stdout. A reader that has gone away is not our failure.
fn say(line: &str) {
    let _ = writeln!(io::stdout(), "{line}");
}
