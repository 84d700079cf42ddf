//! Sentences whose main parts stand out, and the names of regions and processes in them.

use crate::run::report::{ProcessReport, RegionReport};

/// Text, and parts of it in their order.
#[derive(Debug, Default)]
pub(in crate::run) struct Sentence {
    pub(in crate::run) text: String,
    pub(in crate::run) strong: Vec<String>,
}

impl Sentence {
    pub(super) fn plain(mut self, text: &str) -> Sentence {
        self.text.push_str(text);
        self
    }

    pub(super) fn strong(mut self, text: &str) -> Sentence {
        self.strong.push(text.to_owned());
        self.plain(text)
    }
}

/// Name and place of a region.
pub(super) fn titled(region: &RegionReport) -> String {
    let name = region.name.short();
    match region.place().filter(|place| !name.contains(place.as_str())) {
        Some(place) => format!("{name}, {place}"),
        None => name,
    }
}

/// The name of one of several processes.
pub(super) fn process(process: &ProcessReport) -> String {
    match process.process.rank {
        Some(rank) => format!("rank {}", rank.rank),
        None => format!("process {}", process.process.pid),
    }
}
