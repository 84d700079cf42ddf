//! Two runs of a program, several runs before and after a change, or the history of many runs.

mod comparison;
mod figures;
#[cfg(test)]
mod figures_tests;
mod history;
mod input;
mod json;
#[cfg(test)]
mod made;
mod noise;
mod page;
#[cfg(test)]
mod page_tests;
mod places;
mod reduced;
#[cfg(test)]
mod repeats_tests;
mod text;

use std::path::Path;

use crate::document;
pub use comparison::Comparison;
#[cfg(test)]
pub(crate) use history::Document as HistoryDocument;
pub use history::{History, Reports};
pub use input::RunDocument;
#[cfg(test)]
pub(crate) use json::Document;

/// The form of a comparison or history.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// Tables for people.
    Text,
    /// A document.
    Json,
    /// A page.
    Html,
}

impl Form {
    /// The form that a file's name asks for; `None` if it has none of the endings.
    pub fn of(path: &Path) -> Option<Form> {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("txt") => Some(Form::Text),
            Some("json") => Some(Form::Json),
            Some("html" | "htm") => Some(Form::Html),
            _ => None,
        }
    }

    /// The text of a comparison in this form. Regions with less than the part `least` of the time are not called slower;
    /// lines of text have at most `width` columns.
    pub fn text(self, comparison: &Comparison, threshold: f64, least: f64, width: usize) -> String {
        match self {
            Form::Text => text::write(comparison, threshold, least, width),
            Form::Json => document::text(&json::document(comparison, threshold, least)),
            Form::Html => page::of(&json::document(comparison, threshold, least)),
        }
    }

    /// The text of a history in this form. Lines of text have at most `width` columns.
    pub fn history(self, history: &History, width: usize) -> String {
        history::write(self, history, width)
    }
}
