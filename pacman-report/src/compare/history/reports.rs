//! The reports of a history: of one program, those of one label together.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use pacman_events::shown::{shown_path, text_of};
use pacman_events::{Error, ErrorKind, Result};

use super::super::input::RunDocument;
use super::super::reduced::Reduced;
use super::chain::{History, Point};

/// Reports of one program, in the order in which they were added.
#[derive(Debug, Default)]
pub struct Reports {
    points: Vec<Point>,
    /// The places of labels that the user gave.
    labelled: BTreeMap<String, usize>,
    /// The first report's path and program.
    first: Option<(PathBuf, String)>,
}

impl Reports {
    /// Adds the report of `run` in a file; one of a label that is there is a repeat.
    ///
    /// # Errors
    /// If it cannot be read, is not a report of `run` in the present version of the format, or is of another program.
    pub fn add(&mut self, path: &Path) -> Result<()> {
        let report = Reduced::of(&RunDocument::read(path, "show")?);
        let program = report.command.first().map_or("", |path| file_name(path));
        match &self.first {
            Some((first, known)) if *known != program => {
                let (one, other) = (shown_path(first), shown_path(path));
                return Err(Error::new(
                    ErrorKind::InvalidInput,
                    format!(
                        "cannot show a history of {one} and {other}: they are of different programs, {known} and {program}"
                    ),
                ));
            }
            Some(_) => {}
            None => self.first = Some((path.to_path_buf(), program.to_owned())),
        }
        let Some(label) = report.label.clone() else {
            let label = path.file_stem().map(OsStr::to_os_string).unwrap_or_default();
            self.points.push(Point { label: text_of(&label), reports: vec![report] });
            return Ok(());
        };
        match self.labelled.get(&label) {
            Some(&at) => self.points[at].reports.push(report),
            None => {
                self.labelled.insert(label.clone(), self.points.len());
                self.points.push(Point { label, reports: vec![report] });
            }
        }
        Ok(())
    }

    /// Each run against the one before; a change counts from `threshold` on, a part of 1.
    ///
    /// # Panics
    /// Without a report.
    pub fn history(self, threshold: f64) -> History {
        assert!(!self.points.is_empty(), "a history has a report");
        History::of(self.points, threshold)
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
