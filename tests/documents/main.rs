//! The documents agree with the sources: the words of the glossary are used, every page is in the
//! book's summary, every relative link leads to a file and a heading, every line of cargo names targets
//! that are there, and every test that is named for a defect is there. Old names are gone.
//!
//! These checks stand in for `mdbook build`, whose installation takes minutes.

mod campaigns;
mod cargo_lines;
mod glossary;
mod links;
mod markdown;
mod vocabulary;

use std::fs;
use std::path::{Path, PathBuf};

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ has a parent").to_path_buf()
}

/// All files below `folder` with this extension, without build outputs.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}")) {
            let path = entry.expect("an entry of the folder").path();
            let name = path.file_name().expect("an entry has a name").to_string_lossy();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                folders.push(path);
            } else if path.extension().is_some_and(|own| own == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The text of a file that must be there.
fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
