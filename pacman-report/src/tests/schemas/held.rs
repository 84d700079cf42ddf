//! Schemas and tables of a package's documents against docs/schemas and docs/output.md.

use std::path::{Path, PathBuf};
use std::{env, fs};

use super::format::Format;
use super::table;

pub(super) fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs")
}

pub(super) fn read(file: &str) -> String {
    let path = docs().join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Compares a file with its text, or writes it.
pub(super) fn hold_file(file: &str, text: &str) {
    if env::var_os("BLESS").is_some() {
        let path = docs().join(file);
        fs::write(&path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    assert!(
        read(file) == text,
        "docs/{file} is not that of the types; BLESS=1 cargo test -p {} --lib schemas writes it",
        env!("CARGO_PKG_NAME")
    );
}

/// Compares the schemas of the documents, and their tables in the page, with the types; or writes them.
pub(super) fn hold(formats: &[Format]) {
    let mut page = read("output.md");
    for format in formats {
        hold_file(&format.file(), &format.text());
        assert!(page.contains(&format!("({})", format.file())), "no link to {}", format.file());
        let begin = format!("<!-- members of {} -->\n", format.name);
        let (before, rest) =
            page.split_once(&begin).unwrap_or_else(|| panic!("output.md has no {begin}"));
        let (_, after) = rest.split_once(END).unwrap_or_else(|| panic!("{begin} has no end"));
        let tables = table::tables(&format.schema);
        page = format!("{before}{begin}\n{tables}\n{END}{after}");
    }
    hold_file("output.md", &page);
}

/// The end of the tables of a document in the page.
const END: &str = "<!-- end of members -->\n";
