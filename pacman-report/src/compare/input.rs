//! The parts of reports of `run` that a comparison reads.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use pacman_events::shown::shown_path;
use pacman_events::{Error, ErrorKind, Result};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

use crate::rows::Rows;
use crate::run::{Efficiency, FIGURES, read_report};

/// A report of `run`, as far as it is compared.
#[derive(Debug, Deserialize)]
pub struct RunDocument {
    pub(super) provenance: ProvenanceMembers,
    pub(super) command: Vec<String>,
    #[serde(default)]
    pub(super) label: Option<String>,
    pub(super) time_s: f64,
    pub(super) processes: Vec<ProcessMembers>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ProvenanceMembers {
    pub(super) host: String,
    pub(super) processor: Option<String>,
    pub(super) began: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct ProcessMembers {
    pub(super) efficiency: Option<Efficiency>,
    pub(super) processor_share: Option<f64>,
    pub(super) lacks_processors: bool,
    pub(super) sites: Vec<SiteMembers>,
    pub(super) regions: Vec<RegionMembers>,
}

#[derive(Debug, Deserialize)]
pub(super) struct SiteMembers {
    pub(super) cause: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct RegionMembers {
    pub(super) name: String,
    pub(super) file: Option<String>,
    pub(super) line: Option<u32>,
    pub(super) executions: u64,
    pub(super) time_s: f64,
    pub(super) shortest_s: f64,
    pub(super) longest_s: f64,
    /// The figures that may be absent.
    #[serde(flatten)]
    pub(super) measured: Measured,
    pub(super) figures: FigureMembers,
    #[serde(default)]
    pub(super) useful_figures: Option<FigureMembers>,
    #[serde(default)]
    pub(super) waiting_figures: Option<FigureMembers>,
    pub(super) teams: Vec<TeamMembers>,
    pub(super) threads: Rows<ThreadMembers>,
}

/// The values of [`FIGURES`]; `None` where a report lacks one.
#[derive(Clone, Debug, Default)]
pub(super) struct Measured([Option<f64>; FIGURES.len()]);

impl Measured {
    pub(super) fn get(&self, name: &str) -> Option<f64> {
        self.by_name().find(|(own, _)| *own == name).map(|(_, value)| value)
    }

    pub(super) fn by_name(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let all = FIGURES.iter().zip(&self.0);
        all.filter_map(|(figure, value)| Some((figure.name, (*value)?)))
    }
}

impl<'de> Deserialize<'de> for Measured {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Measured, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Measured;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a region")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Measured, A::Error> {
                let mut measured = Measured::default();
                while let Some(name) = map.next_key::<String>()? {
                    match FIGURES.iter().position(|figure| figure.name == name) {
                        Some(at) => measured.0[at] = map.next_value()?,
                        None => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(measured)
            }
        }
        deserializer.deserialize_map(Members)
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct TeamMembers {
    pub(super) threads: u32,
}

#[derive(Debug, Deserialize)]
pub(super) struct FigureMembers {
    pub(super) counts: BTreeMap<String, Option<u64>>,
    #[serde(default)]
    pub(super) counted_shares: Option<BTreeMap<String, f64>>,
    pub(super) complete: bool,
}

#[derive(Debug, Deserialize)]
pub(super) struct ThreadMembers {
    pub(super) states: Option<StateMembers>,
}

#[derive(Debug, Deserialize)]
pub(super) struct StateMembers {
    pub(super) useful_s: f64,
    pub(super) starting_s: f64,
    pub(super) end_s: f64,
    #[serde(default)]
    pub(super) waits: BTreeMap<usize, WaitMembers>,
}

#[derive(Debug, Deserialize)]
pub(super) struct WaitMembers {
    pub(super) time_s: f64,
}

impl RunDocument {
    /// Reads a file; `purpose` is the verb of the error line.
    ///
    /// # Errors
    /// If it cannot be read, or is not a report of `run` in the present version of the format.
    pub fn read(path: &Path, purpose: &str) -> Result<RunDocument> {
        let text = read_report(path, purpose)?;
        serde_json::from_slice(&text).map_err(|error| {
            let shown = shown_path(path);
            Error::new(ErrorKind::InvalidInput, format!("cannot {purpose} {shown}: {error}"))
        })
    }
}
