//! A history as a page that loads nothing.

use super::chain::History;
use super::json;
use crate::{document, run};

/// The page.
pub(super) fn write(history: &History) -> String {
    of_document(document::line(&json::document(history)).as_bytes())
}

/// The page of a history's JSON document.
pub(super) fn of_document(document: &[u8]) -> String {
    run::assembled(TITLE, STYLE, document, SCRIPT)
}

/// The title, and what shows a history without a script.
const TITLE: [&str; 2] = ["history", "report</code> prints it."];
const STYLE: &str = concat!(
    include_str!("../../run/page/page.css"),
    include_str!("../../run/page/pictures.css"),
    include_str!("history.css"),
);
const SCRIPT: &str = concat!(
    "'use strict';\n(() => {\n",
    include_str!("../../run/page/amounts.js"),
    include_str!("../../run/page/elements.js"),
    include_str!("../../run/page/states.js"),
    include_str!("charts.js"),
    include_str!("history.js"),
    include_str!("../../run/page/reading.js"),
    "})();\n",
);
