//! Tests of the formats on reports made by hand.

mod closed;
mod csv;
mod json;
mod specimen;
mod table;

/// Compares a text with the file of that name beside this one.
#[track_caller]
fn assert_snapshot(name: &str, text: &str) {
    pacman_suite::snapshot(
        env!("CARGO_MANIFEST_DIR"),
        &format!("src/export/tests/snapshots/{name}"),
        text,
    );
}
