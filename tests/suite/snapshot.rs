//! Texts that users read, each compared whole with a file.

use std::path::Path;

/// Compares a text with a file below the directory of a package. With `BLESS` set, it replaces the file instead.
///
/// # Panics
/// If they differ, or without the file.
#[track_caller]
pub fn snapshot(package: &str, file: &str, text: &str) {
    let path = Path::new(package).join(file);
    if std::env::var_os("BLESS").is_some() {
        std::fs::create_dir_all(path.parent().expect("it has a directory")).expect("room for it");
        std::fs::write(&path, text).expect("room for the text");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
    assert!(
        text == expected,
        "{file} differs; BLESS=1 accepts it.\n--- is\n{text}\n--- was\n{expected}"
    );
}
