//! Objects that this version and others stored are adopted as they are: no pod is written, and gangs keep their names.

mod adoption;
mod afterwards;
mod cluster;
mod gangs;
mod lost_gangs;
mod maps;
mod objects;
mod pods;
mod version;

use self::version::{Version, folder};

/// The files in `testdata/stored` are what the rules of each version say; `WRITE_STORED=1` writes them. That of a version which was
/// released does not change any more.
#[test]
fn stored_files_follow_from_the_rules() {
    for version in Version::ALL {
        let wanted = objects::all(version);
        if std::env::var_os("WRITE_STORED").is_some() {
            let text = serde_json::to_string_pretty(&wanted).unwrap() + "\n";
            std::fs::write(folder().join(version.file()), text).unwrap();
            continue;
        }
        assert!(version.stored() == wanted, "testdata/stored/{} is not what the rules say", version.file());
    }
}
