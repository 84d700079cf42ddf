//! Schemas of types of other packages.
//!
//! Those packages are part of the preloaded library, and derive no schemas: cargo would build them twice,
//! with schemars for tests and without it for the rest. Tests compare these with the real ones.

#![expect(dead_code, reason = "nothing but their schemas is used")]

use schemars::JsonSchema;

/// Of [`pacman_regions::RegionMemory`].
#[derive(JsonSchema)]
pub(crate) struct RegionMemory {
    /// Build ID of the region's file, `+` and its offset; then its label, if it has one.
    region: String,
    /// Name, as in reports.
    #[schemars(skip_serializing_if = "String::is_empty")]
    name: String,
    /// Hash of the program's arguments in the latest run.
    arguments: String,
    /// Threads of the default.
    threads: u32,
    /// Members are placed, so that configurations have cores and siblings.
    placed: bool,
    /// The minimised quantity.
    #[schemars(extend("enum" = ["time", "energy", "edp", "ed2p"]))]
    objective: String,
    /// Cost of an execution at the default; seconds where time was minimised.
    default_cost: Cost,
    /// The other measured configurations, each with its cost over the default's.
    ratios: Vec<(String, Cost)>,
    /// Executions of the latest process.
    executions: u64,
    /// Processes that measured it: one a run, or one a rank.
    runs: u64,
}

#[derive(JsonSchema)]
#[schemars(extend("exclusiveMinimum" = 0))]
struct Cost(f64);

/// Of [`pacman_regions::StartMemory`].
#[derive(JsonSchema)]
pub(crate) struct StartMemory {
    /// Hash of the program's arguments.
    arguments: String,
    /// Threads of a team of which the program says nothing.
    threads: u32,
    /// Seconds of an execution of a region in the latest run: the mean over all regions.
    cost: Cost,
    /// The least of the costs of all runs.
    least: Cost,
    /// Other numbers of threads with the cost that the latest run expects of each, as a part of `cost`.
    expected: Vec<(u32, Cost)>,
    /// Runs.
    runs: u64,
    /// Processors that other programs used during the latest run, on average; null if it is not known.
    others: Option<f64>,
    /// The same of the run with the least cost.
    others_at_least: Option<f64>,
}

mod tests {
    use std::collections::BTreeSet;

    use schemars::schema_for;
    use serde::Serialize;
    use serde_json::Value;

    use super::*;
    use pacman_report::document::value;

    fn members(real: &impl Serialize) -> BTreeSet<String> {
        value(real).as_object().expect("an object").keys().cloned().collect()
    }

    fn described<T: JsonSchema>() -> BTreeSet<String> {
        let schema = schema_for!(T);
        let properties = schema.get("properties").and_then(Value::as_object).expect("an object");
        properties.keys().cloned().collect()
    }

    #[test]
    fn objects_have_the_members_of_the_real_ones() {
        let region = pacman_regions::RegionMemory {
            region: "0123+0x40".into(),
            name: "work".into(),
            arguments: "01234567".into(),
            threads: 4,
            placed: false,
            objective: "time".into(),
            default_cost: 1.0,
            ratios: vec![("2".into(), 0.7)],
            executions: 30,
            runs: 1,
        };
        assert_eq!(described::<RegionMemory>(), members(&region));
        let start = pacman_regions::StartMemory {
            arguments: "01234567".into(),
            threads: 4,
            cost: 1.0,
            least: 1.0,
            expected: vec![(1, 0.5)],
            runs: 1,
            others: None,
            others_at_least: None,
        };
        assert_eq!(described::<StartMemory>(), members(&start));
    }
}
