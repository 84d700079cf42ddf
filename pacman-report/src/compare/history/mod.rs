//! The history of many runs of a program.

mod chain;
mod json;
mod reports;
#[cfg(test)]
mod tests;
mod text;

use super::Form;
use crate::{document, run};
pub use chain::History;
#[cfg(test)]
pub(crate) use json::Document;
pub use reports::Reports;

/// The text of a history in a form.
pub(super) fn write(form: Form, history: &History, width: usize) -> String {
    match form {
        Form::Text => text::write(history, width),
        Form::Json => document::text(&json::document(history)),
        Form::Html => page(history),
    }
}

/// The page, which loads nothing.
pub(super) fn page(history: &History) -> String {
    let document = document::line(&json::document(history));
    run::assembled(TITLE, STYLE, document.as_bytes(), SCRIPT)
}

/// The title, and what shows a history without a script.
const TITLE: [&str; 2] = ["history", "report</code> prints it."];
const STYLE: &str = concat!(
    include_str!("../../run/page/page.css"),
    include_str!("../../run/page/pictures.css"),
    include_str!("../changes.css"),
);
const SCRIPT: &str = concat!(
    "'use strict';\n(() => {\n",
    include_str!("../../run/page/amounts.js"),
    include_str!("../../run/page/elements.js"),
    include_str!("../../run/page/states.js"),
    include_str!("../changes.js"),
    include_str!("charts.js"),
    include_str!("history.js"),
    include_str!("../../run/page/reading.js"),
    "})();\n",
);
