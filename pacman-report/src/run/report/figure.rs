//! Figures of a region that may be absent. Each is defined here once: its name, its meaning, its unit, its value, and
//! its column in text. JSON and its schema, CSV, text, pages and comparisons take them from this table.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::region::RegionReport;
use super::states::RegionStates;
use crate::document::Seconds;

/// A figure of a region.
pub(crate) struct Figure {
    /// The member of a region in JSON.
    pub(crate) name: &'static str,
    /// Its meaning, as the report, its schema and the manual have it.
    pub(crate) about: &'static str,
    pub(crate) unit: Unit,
    /// The two lines above its column of the table of waits; `None` without a column of its own.
    pub(crate) heading: Option<[&'static str; 2]>,
    /// `None` where there is no such figure: it was not measured, or it has no meaning.
    pub(in crate::run) of: fn(&RegionReport) -> Option<f64>,
}

/// The unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Seconds of a clock with nanoseconds.
    Seconds,
    /// A part of a whole, as 0.5.
    Share,
    /// A quotient of two like amounts.
    Ratio,
}

impl Unit {
    /// Its name in JSON.
    pub(in crate::run) fn word(self) -> &'static str {
        match self {
            Unit::Seconds => "s",
            Unit::Share => "share",
            Unit::Ratio => "ratio",
        }
    }
}

/// The figures, in the order of JSON and CSV.
pub(crate) const FIGURES: [Figure; 8] = [
    Figure {
        name: "mean_s",
        about: "Mean wall time.",
        unit: Unit::Seconds,
        heading: None,
        of: |region| region.mean,
    },
    Figure {
        name: "share",
        about: "Part of the process's time.",
        unit: Unit::Share,
        heading: None,
        of: |region| region.share,
    },
    Figure {
        name: "imbalance",
        about: "Greatest busy time over the mean.",
        unit: Unit::Ratio,
        heading: None,
        of: |region| region.imbalance,
    },
    Figure {
        name: "waiting",
        about: "Part of the team's time without work.",
        unit: Unit::Share,
        heading: None,
        of: |region| region.waiting,
    },
    Figure {
        name: "overhead",
        about: "Part of the time that observing cost.",
        unit: Unit::Share,
        heading: None,
        of: |region| region.overhead,
    },
    Figure {
        name: "useful_off_s",
        about: "Seconds of useful time of all threads on no processor; null if not known.",
        unit: Unit::Seconds,
        heading: None,
        of: |region| region.states.as_ref()?.useful_time().1,
    },
    Figure {
        name: "waiting_off_s",
        about: "Seconds of waits at constructs of all threads on no processor; null if not known.",
        unit: Unit::Seconds,
        heading: None,
        of: |region| region.states.as_ref().and_then(RegionStates::waiting_off),
    },
    Figure {
        name: "useful_processor_share",
        about: "Part of the useful time that the threads were on a processor; null if not known or without useful \
                time.",
        unit: Unit::Share,
        heading: Some(["useful on", "processor %"]),
        of: |region| region.states.as_ref().and_then(RegionStates::processor_share),
    },
];

/// All figures of a region as members of its object in JSON.
pub(in crate::run) struct Members<'a>(pub(in crate::run) &'a RegionReport);

impl Serialize for Members<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(FIGURES.len()))?;
        for figure in &FIGURES {
            let value = (figure.of)(self.0);
            match figure.unit {
                Unit::Seconds => map.serialize_entry(figure.name, &value.map(Seconds))?,
                Unit::Share | Unit::Ratio => map.serialize_entry(figure.name, &value)?,
            }
        }
        map.end()
    }
}

#[cfg(test)]
impl schemars::JsonSchema for Members<'_> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "FiguresOfRegion".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let member = |figure: &Figure| {
            let schema = serde_json::json!({
                "description": figure.about, "type": ["number", "null"], "format": "double",
            });
            (figure.name.to_owned(), schema)
        };
        let properties: serde_json::Map<_, _> = FIGURES.iter().map(member).collect();
        let required: Vec<&str> = FIGURES.iter().map(|figure| figure.name).collect();
        schemars::json_schema!({
            "type": "object", "properties": properties, "required": required,
        })
    }
}
