//! The page of a comparison: its JSON document, which a script draws.

use super::json::Document;
use crate::{document, run};

/// The page, which loads nothing.
pub(super) fn of(comparison: &Document<'_>) -> String {
    run::assembled(TITLE, STYLE, document::line(comparison).as_bytes(), SCRIPT)
}

/// The title, and what shows a comparison without a script.
const TITLE: [&str; 2] = ["comparison", "compare</code> prints it."];
const STYLE: &str = concat!(
    include_str!("../run/page/page.css"),
    include_str!("../run/page/pictures.css"),
    include_str!("changes.css"),
);
const SCRIPT: &str = concat!(
    "'use strict';\n(() => {\n",
    include_str!("../run/page/amounts.js"),
    include_str!("../run/page/elements.js"),
    include_str!("../run/page/tables.js"),
    include_str!("../run/page/states.js"),
    include_str!("changes.js"),
    include_str!("comparison.js"),
    include_str!("../run/page/reading.js"),
    "})();\n",
);
