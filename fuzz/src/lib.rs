//! A function for each target: it takes any bytes and panics where a promise is broken.
//!
//! Stable Rust runs them over the kept corpus (`tests/corpus.rs`); libFuzzer searches
//! (`targets/`).

mod c_api;
mod core_text;
mod names;
mod tables;

pub use c_api::c_api;
pub use core_text::{
    environment, events, memories, metrics, models, of_today, pmus, recordings, topology,
};
pub use names::modules;
pub use tables::tables;

use std::fmt::Display;

/// A target.
pub type Target = fn(&[u8]);

/// All targets by name.
pub const TARGETS: [(&str, Target); 11] = [
    ("c_api", c_api),
    ("environment", environment),
    ("events", events),
    ("memories", memories),
    ("metrics", metrics),
    ("models", models),
    ("modules", modules),
    ("pmus", pmus),
    ("recordings", recordings),
    ("tables", tables),
    ("topology", topology),
];

/// Asserts that a message is one line of readable length without control characters.
fn is_readable(said: impl Display) {
    let said = said.to_string();
    assert!(!said.is_empty(), "nothing is said");
    assert!(!said.contains(pacman_events::shown::is_unsafe), "{said:?}");
}

/// The text of bytes, of which invalid ones are replaced: most parsers take text only.
fn text(data: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(data)
}

/// The fields of the data, which lines of `---` part.
fn fields(text: &str) -> impl Iterator<Item = &str> {
    text.split("---\n")
}
