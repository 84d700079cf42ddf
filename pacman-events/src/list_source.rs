//! Which list events came from: its name, its version and its date, as its publisher writes them.

use std::fmt;

use crate::CpuModel;

/// A list of events that a table was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListSource {
    /// The name of the list or of its file.
    pub name: String,
    /// Its version, if it has one.
    pub version: Option<String>,
    /// The date at which it was published, as it is written there.
    pub date: Option<String>,
}

impl ListSource {
    /// The list of a model's shipped table; `None` for a model without a table.
    ///
    /// ```
    /// use pacman_events::{CpuModel, ListSource};
    /// let skl = ListSource::shipped(CpuModel::named("skl").unwrap()).unwrap();
    /// assert_eq!(skl.name, "Intel perfmon SKL core events");
    /// assert!(skl.version.is_some() && skl.date.is_some());
    /// ```
    pub fn shipped(cpu: CpuModel) -> Option<ListSource> {
        let source = Some(cpu.source()).filter(|source| !source.is_empty())?;
        let plain = || ListSource { name: source.to_owned(), version: None, date: None };
        let Some((name, edition)) = source.split_once(", version ") else { return Some(plain()) };
        let (version, date) = match edition.split_once(" of ") {
            Some((version, date)) => (version, Some(date.to_owned())),
            None => (edition, None),
        };
        Some(ListSource { name: name.to_owned(), version: Some(version.to_owned()), date })
    }
}

impl fmt::Display for ListSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if let Some(version) = &self.version {
            write!(f, ", version {version}")?;
        }
        match &self.date {
            Some(date) if self.version.is_some() => write!(f, " of {date}"),
            Some(date) => write!(f, ", of {date}"),
            None => Ok(()),
        }
    }
}
