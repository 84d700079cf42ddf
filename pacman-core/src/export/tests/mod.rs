//! Tests of the formats on reports made by hand.

mod closed;
mod csv;
mod json;
mod specimen;
mod table;

use std::path::Path;

/// Compares a text with the file of that name beside this one. With `BLESS` set, it replaces the
/// file instead.
fn assert_snapshot(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/export/tests/snapshots").join(name);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(
        text == expected,
        "{name} differs; BLESS=1 accepts it.\n--- is\n{text}\n--- was\n{expected}"
    );
}
