//! The JSON Schemas of this program's documents and their tables in docs/output.md, from the types that are
//! written.
//!
//! Only tests compile this module. It writes the files where `BLESS` is set:
//! `BLESS=1 cargo test -p pacman-train --lib schemas`.

#[allow(dead_code, reason = "the everyday command needs more of it")]
#[path = "../../../pacman-report/src/tests/schemas/format.rs"]
mod format;
#[path = "../../../pacman-report/src/tests/schemas/held.rs"]
mod held;
#[path = "../../../pacman-report/src/tests/schemas/help.rs"]
mod help;
#[path = "../../../pacman-report/src/tests/schemas/table.rs"]
mod table;

use std::collections::BTreeSet;

use pacman_adapt::predict;
use schemars::JsonSchema;
use serde_json::Value;

use self::format::Format;
use crate::model;

/// Of [`pacman_adapt::predict::CrossValidation`]. A figure that is not finite is null.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "nothing but its schema is used")]
pub(crate) struct CrossValidation {
    /// Accuracy of predicted times: 1 minus the mean relative error.
    accuracy: Option<f64>,
    /// The same of the worst program.
    worst_accuracy: Option<f64>,
    /// Time of the chosen configuration over the best one's, minus 1.
    regret: f64,
    /// The same of the worst program.
    worst_regret: f64,
    /// Samples until the decision.
    samples: f64,
    /// Part of the times that are within their 90 % intervals.
    coverage: Option<f64>,
}

#[test]
fn the_schemas_and_the_tables_are_those_of_the_types() {
    let formats = [
        Format::of::<model::EvaluateDocument>(
            "evaluate",
            "Quality of predictors (pacman-pmu evaluate --json)",
        ),
        Format::of::<model::PredictDocument>("predict", "Prediction (pacman-pmu predict --json)"),
        Format::of::<model::Summary>("train", "A trained model (pacman-pmu train --json)"),
    ];
    held::hold(&formats);
    formats.iter().for_each(|format| help::hold("pacman-train", format, 3));
}

#[test]
fn the_quality_of_a_model_has_the_members_of_the_real_one() {
    let quality = predict::CrossValidation {
        accuracy: 0.9,
        worst_accuracy: 0.8,
        regret: 0.1,
        worst_regret: 0.2,
        samples: 1.5,
        coverage: 0.9,
    };
    let members = |value: &Value| -> BTreeSet<String> {
        value.as_object().expect("an object").keys().cloned().collect()
    };
    let schema = schemars::schema_for!(CrossValidation);
    let described = members(schema.get("properties").expect("properties"));
    assert_eq!(described, members(&serde_json::to_value(quality).expect("numbers")));
}
