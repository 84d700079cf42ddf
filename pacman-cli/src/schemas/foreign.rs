//! Schemas of types of other packages.
//!
//! Those packages are part of the preloaded library, and derive no schemas: cargo would build them twice,
//! with schemars for tests and without it for the rest. Real output is held against these.

#![expect(dead_code, reason = "nothing but their schemas is used")]

use schemars::JsonSchema;

/// Of [`pacman_adapt::predict::CrossValidation`]. A figure that is not finite is null.
#[derive(JsonSchema)]
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

/// Of [`pacman_regions::Loop`].
#[derive(JsonSchema)]
pub(crate) struct Loop {
    /// Place of the first loop of a barrier interval: `;file;function;line;column;;`, or its address.
    source: String,
    /// Runs of the interval.
    executions: u64,
    /// Threads that get iterations, at the end.
    threads: u32,
    /// Reason, also against adaptation.
    why: String,
}

/// Of [`pacman_regions::RuntimeFamily`].
#[derive(JsonSchema)]
#[schemars(extend("enum" = ["libgomp", "libomp"]))]
pub(crate) struct RuntimeFamily(String);

/// Of [`pacman_regions::PhaseKind`].
#[derive(JsonSchema)]
#[schemars(extend("enum" = [
    "kokkos-for", "kokkos-reduce", "kokkos-scan", "kokkos-region", "kokkos-fence", "likwid", "papi",
    "pacman",
]))]
pub(crate) struct PhaseKind(String);

/// A part of 1.
#[derive(JsonSchema)]
#[schemars(extend("minimum" = 0, "maximum" = 1))]
pub(crate) struct Share(f64);
