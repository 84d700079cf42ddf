use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use super::{ENGINE, Embedded, FILE};

const OWN: Embedded = Embedded { library: b"library", engine: b"the engine" };

#[test]
fn both_files_are_written_once() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = place.path().join("cache/library");
    let looked = || {
        [(FILE, OWN.library), (ENGINE, OWN.engine)].map(|(name, bytes)| {
            let path = folder.join(name);
            assert_eq!(fs::read(&path).expect("it is there"), bytes);
            fs::metadata(path).expect("it is there").ino()
        })
    };
    OWN.write_to(&folder).expect("it can be written");
    let first = looked();
    assert_eq!(fs::metadata(&folder).expect("a folder").mode() & 0o777, 0o700);
    OWN.write_to(&folder).expect("all is there");
    assert_eq!(looked(), first, "a file that is there stays: programs have it loaded");
    for damaged in ["the", "THE ENGINE"] {
        fs::write(folder.join(ENGINE), damaged).expect("it can be written");
        OWN.write_to(&folder).expect("it can be written");
        looked();
    }
}

#[test]
fn a_folder_in_which_others_write_is_refused() {
    let place = tempfile::tempdir().expect("a folder");
    let refused = |name: &str| {
        let folder = place.path().join(name);
        let why = OWN.write_to(&folder).expect_err(name).to_string();
        assert!(!folder.join(FILE).exists() || name == "a link", "{name}: nothing is written");
        why
    };
    let open = place.path().join("open");
    fs::create_dir(&open).expect("a folder");
    fs::set_permissions(&open, Permissions::from_mode(0o770)).expect("mine");
    assert_eq!(refused("open"), "another user can write there");
    OWN.write_to(&place.path().join("own")).expect("mine");
    symlink("own", place.path().join("a link")).expect("a link");
    assert_eq!(refused("a link"), "another user can write there");
    fs::write(place.path().join("a file"), "").expect("a file");
    assert!(refused("a file").contains("File exists"), "{}", refused("a file"));
}
