//! Texts of commands, each a file of `snapshots`.

/// Compares a text with the file of that name; `BLESS=1` replaces it.
#[track_caller]
pub(crate) fn snapshot(name: &str, text: &str) {
    pacman_suite::snapshot(env!("CARGO_MANIFEST_DIR"), &format!("snapshots/{name}"), text);
}
