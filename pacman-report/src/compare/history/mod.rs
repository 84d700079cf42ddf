//! The history of many runs of a program.

mod chain;
mod json;
mod page;
mod reports;
#[cfg(test)]
mod tests;
mod text;

use super::Form;
use crate::document;
pub use chain::History;
#[cfg(test)]
pub(crate) use json::Document;
pub use reports::Reports;

/// The text of a history in a form.
pub(super) fn write(form: Form, history: &History, width: usize) -> String {
    match form {
        Form::Text => text::write(history, width),
        Form::Json => document::text(&json::document(history)),
        Form::Html => page::write(history),
    }
}
