//! A layout is what the specification says and what our images promise; what is not so is found.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, also in its functions")]

use std::{collections::BTreeMap, fs, io::Read, os::unix::fs::PermissionsExt, path::PathBuf};

use flate2::read::GzDecoder;
use grove_release::{
    architecture::Architecture,
    folder,
    image::{self, Details, Files, Payload, layer, layout, policy, read, unpack},
    sha256,
};
use serde_json::{Value, json};

const AMD64: Architecture = Architecture::Amd64;
const ARM64: Architecture = Architecture::Arm64;

fn details() -> Details {
    Details {
        program: "grove",
        title: "Grove",
        description: "An operator",
        version: "1.2.3".to_owned(),
        revision: "0123abc".to_owned(),
        seconds: 1_700_000_000,
        created: "2023-11-14T22:13:20Z".to_owned(),
    }
}

fn made(architectures: &[Architecture]) -> Files {
    let payload =
        |it: &Architecture| Payload { architecture: *it, program: format!("ELF {}", it.name()).into_bytes() };
    image::layout(&details(), b"licence", &architectures.iter().map(payload).collect::<Vec<_>>()).unwrap()
}

fn parsed(files: &Files, path: &str) -> Value {
    serde_json::from_slice(&files[path]).unwrap()
}

/// The blob that a descriptor names, by the hash that its bytes have.
fn blob<'a>(files: &'a Files, descriptor: &Value) -> &'a [u8] {
    let digest = descriptor["digest"].as_str().unwrap();
    let bytes = &files[&format!("blobs/{}", digest.replace(':', "/"))];
    assert_eq!(digest, format!("sha256:{}", sha256::hex(bytes)));
    assert_eq!(descriptor["size"], json!(bytes.len()));
    bytes
}

fn scratch(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    folder
}

/// Field by field, without the types that wrote it.
#[test]
fn what_is_written() {
    let files = made(&[AMD64]);
    assert_eq!(parsed(&files, "oci-layout"), json!({ "imageLayoutVersion": "1.0.0" }));
    let index = parsed(&files, "index.json");
    assert_eq!(index["schemaVersion"], 2);
    assert_eq!(index["mediaType"], "application/vnd.oci.image.index.v1+json");
    let root = &index["manifests"][0];
    assert_eq!(index["manifests"].as_array().unwrap().len(), 1);
    assert_eq!(root["mediaType"], "application/vnd.oci.image.manifest.v1+json");
    assert_eq!(root["platform"], json!({ "architecture": "amd64", "os": "linux" }));
    assert_eq!(root["annotations"], json!({ "org.opencontainers.image.ref.name": "1.2.3" }));

    let manifest: Value = serde_json::from_slice(blob(&files, root)).unwrap();
    assert_eq!(manifest["schemaVersion"], 2);
    assert_eq!(manifest["mediaType"], "application/vnd.oci.image.manifest.v1+json");
    assert_eq!(manifest["config"]["mediaType"], "application/vnd.oci.image.config.v1+json");
    assert_eq!(manifest["layers"][0]["mediaType"], "application/vnd.oci.image.layer.v1.tar+gzip");
    let labels = json!({
        "org.opencontainers.image.created": "2023-11-14T22:13:20Z",
        "org.opencontainers.image.description": "An operator",
        "org.opencontainers.image.licenses": "Apache-2.0",
        "org.opencontainers.image.revision": "0123abc",
        "org.opencontainers.image.title": "Grove",
        "org.opencontainers.image.version": "1.2.3",
    });
    assert_eq!(manifest["annotations"], labels);

    let mut tar = Vec::new();
    GzDecoder::new(blob(&files, &manifest["layers"][0])).read_to_end(&mut tar).unwrap();
    let config: Value = serde_json::from_slice(blob(&files, &manifest["config"])).unwrap();
    assert_eq!(config["architecture"], "amd64");
    assert_eq!(config["os"], "linux");
    assert_eq!(config["created"], "2023-11-14T22:13:20Z");
    assert_eq!(
        config["rootfs"],
        json!({ "type": "layers", "diff_ids": [format!("sha256:{}", sha256::hex(&tar))] })
    );
    let run = &config["config"];
    assert_eq!(run["User"], "65532:65532");
    assert_eq!(run["Entrypoint"], json!(["/usr/local/bin/grove"]));
    assert_eq!(run["Labels"], labels);
    assert!(run["Env"][0].as_str().unwrap().contains("/usr/local/bin"), "manifests call it `grove`: {run}");
}

/// Every entry belongs to root, is of the time of the commit, and may be written by nobody else.
#[test]
fn entries_of_the_layer() {
    let tar = layer::tar(&details(), b"licence", b"ELF").unwrap();
    let mut archive = tar::Archive::new(tar.as_slice());
    let mut paths = Vec::new();
    for entry in archive.entries().unwrap() {
        let entry = entry.unwrap();
        let header = entry.header();
        assert_eq!((header.uid().unwrap(), header.gid().unwrap()), (0, 0));
        assert_eq!(header.mtime().unwrap(), 1_700_000_000);
        assert_eq!(header.username().unwrap().unwrap_or_default(), "");
        paths.push((entry.path().unwrap().display().to_string(), header.mode().unwrap()));
    }
    let sorted: BTreeMap<String, u32> = paths.iter().cloned().collect();
    assert_eq!(paths, sorted.clone().into_iter().collect::<Vec<_>>(), "in order, and each once");
    assert!(sorted.values().all(|mode| mode & 0o022 == 0), "{sorted:?}");
    assert_eq!(sorted["usr/local/bin/grove"], 0o755);
    assert_eq!(sorted["licenses/LICENSE"], 0o644);
}

#[test]
fn the_same_bytes_make_the_same_files() {
    let (one, other) = (made(&[AMD64, ARM64]), made(&[AMD64, ARM64]));
    assert_eq!(one, other);
    let archive = layout::archive(&one, 1).unwrap();
    assert_eq!(archive, layout::archive(&other, 1).unwrap());
    // Time and system in the header of gzip (RFC 1952, 2.3).
    let compressed = layer::gzip(b"content").unwrap();
    assert_eq!((&compressed[4..8], compressed[9]), (&[0, 0, 0, 0][..], 255));
}

#[test]
fn several_architectures_are_one_index() {
    let files = made(&[AMD64, ARM64]);
    let root = parsed(&files, "index.json")["manifests"][0].clone();
    assert_eq!(root["mediaType"], "application/vnd.oci.image.index.v1+json");
    let index: Value = serde_json::from_slice(blob(&files, &root)).unwrap();
    let platforms: Vec<&Value> =
        index["manifests"].as_array().unwrap().iter().map(|it| &it["platform"]["architecture"]).collect();
    assert_eq!(platforms, ["amd64", "arm64"]);
    let contents = read::contents(&files).unwrap();
    assert_eq!(contents.images.iter().map(|it| it.architecture).collect::<Vec<_>>(), [AMD64, ARM64]);
    contents.images.iter().for_each(|it| policy::check(it).unwrap());
}

#[test]
fn files_come_back_as_they_were() {
    let files = made(&[AMD64]);
    let folder = scratch("back");
    layout::write(&files, &folder).unwrap();
    fs::write(folder.join("blobs/sha256/old"), "old").unwrap();
    layout::write(&files, &folder).unwrap();
    assert_eq!(layout::load(&folder).unwrap(), files, "nothing of the layout before is left");

    let mut archive = Files::new();
    for entry in tar::Archive::new(layout::archive(&files, 1).unwrap().as_slice()).entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().display().to_string();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        if !path.ends_with('/') {
            archive.insert(path, bytes);
        }
    }
    assert_eq!(archive, files);

    let root = scratch("root");
    unpack::unpack(&read::contents(&files).unwrap().images[0], &root).unwrap();
    assert_eq!(fs::read(root.join("usr/local/bin/grove")).unwrap(), b"ELF amd64");
    assert_eq!(fs::read(root.join("licenses/LICENSE")).unwrap(), b"licence");
    let mode = fs::metadata(root.join("usr/local/bin/grove")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
}

/// Changes one blob and everything that names it, so that only what it says is wrong.
fn with_config(change: impl Fn(&mut Value)) -> Files {
    let mut files = made(&[AMD64]);
    let mut index = parsed(&files, "index.json");
    let mut manifest: Value = serde_json::from_slice(blob(&files, &index["manifests"][0])).unwrap();
    let mut config: Value = serde_json::from_slice(blob(&files, &manifest["config"])).unwrap();
    change(&mut config);
    replace(&mut files, &mut manifest["config"], &config);
    replace(&mut files, &mut index["manifests"][0], &manifest);
    files.insert("index.json".to_owned(), index.to_string().into_bytes());
    files
}

fn replace(files: &mut Files, descriptor: &mut Value, content: &Value) {
    let bytes = content.to_string().into_bytes();
    let path =
        |descriptor: &Value| format!("blobs/{}", descriptor["digest"].as_str().unwrap().replace(':', "/"));
    files.remove(&path(descriptor));
    descriptor["digest"] = format!("sha256:{}", sha256::hex(&bytes)).into();
    descriptor["size"] = bytes.len().into();
    files.insert(path(descriptor), bytes);
}

fn finding(files: &Files) -> String {
    let images = match read::contents(files) {
        Ok(it) => it.images,
        Err(error) => return format!("{error:#}"),
    };
    images.iter().find_map(|it| policy::check(it).err()).map_or_else(String::new, |it| format!("{it:#}"))
}

#[test]
fn what_is_wrong_is_found() {
    assert_eq!(finding(&with_config(|_| {})), "");
    let rows: [(Files, &str); 7] = [
        (with_config(|it| it["config"]["User"] = json!("root")), "the user \"root\" is not a number"),
        (with_config(|it| it["config"]["User"] = json!("0:0")), "the user is root"),
        (
            with_config(|it| it["config"]["Entrypoint"] = json!(["/bin/grove"])),
            "/bin/grove is no file that any user may run",
        ),
        (
            with_config(|it| it["config"]["Labels"]["org.opencontainers.image.revision"] = json!("")),
            "the label org.opencontainers.image.revision is missing",
        ),
        (with_config(|it| it["rootfs"]["diff_ids"] = json!(["sha256:00"])), "diff_ids"),
        (with_config(|it| it["architecture"] = json!("arm64")), "the platform in the index"),
        (with_config(|it| it["config"] = Value::Null), "does not say how it runs"),
    ];
    for (files, want) in rows {
        let found = finding(&files);
        assert!(found.contains(want), "{found:?} should say {want:?}");
    }
}

/// Makes something wrong.
type Break<'a> = &'a dyn Fn(&mut Files);

#[test]
fn what_is_broken_is_found() {
    let broken = |change: &dyn Fn(&mut Files)| {
        let mut files = made(&[AMD64]);
        change(&mut files);
        finding(&files)
    };
    let first = |files: &Files| files.keys().find(|it| it.starts_with("blobs/")).unwrap().clone();
    let change_first = |files: &mut Files, change: fn(&mut Vec<u8>)| {
        let path = first(files);
        change(files.get_mut(&path).unwrap());
    };
    let rows: [(Break<'_>, &str); 5] = [
        (&|it: &mut Files| drop(it.remove(&first(it))), "is missing"),
        (&|it: &mut Files| it.get_mut("oci-layout").unwrap().clear(), "oci-layout cannot be read"),
        (&|it: &mut Files| change_first(it, |bytes| bytes.push(0)), "has not the size that is said"),
        (&|it: &mut Files| change_first(it, |bytes| bytes[0] ^= 1), "has another hash"),
        (&|it: &mut Files| drop(it.insert("blobs/sha256/00".to_owned(), vec![])), "00 belongs to no image"),
    ];
    for (change, want) in rows {
        let found = broken(change);
        assert!(found.contains(want), "{found:?} should say {want:?}");
    }
}

#[test]
fn sums_of_a_folder() {
    let folder = scratch("sums");
    fs::create_dir_all(folder.join("crds")).unwrap();
    fs::write(folder.join("grove"), "").unwrap();
    fs::write(folder.join("crds/a.yaml"), "").unwrap();
    // FIPS 180-4's value of the empty message.
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    for _ in 0..2 {
        assert_eq!(folder::write_sums(&folder).unwrap(), 2, "not of itself");
        let sums = fs::read_to_string(folder.join(folder::SUMS)).unwrap();
        assert_eq!(sums, format!("{empty}  crds/a.yaml\n{empty}  grove\n"));
    }
}
