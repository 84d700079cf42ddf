//! The destination of the report and its format.

use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use pacman_events::shown::shown_path;
use pacman_report::run::ranks::Merged;
use pacman_report::run::{Extent, Form, Report};

use crate::error::{CliError, CliResult};
use crate::output;
use crate::overwritten::Before;
use crate::terminal::Terminal;
use pacman_core::atomic_write;

/// A place for the report.
#[derive(Debug)]
pub(super) struct Destination {
    form: Form,
    /// `None` is standard error.
    file: Option<PathBuf>,
    /// The file before the run.
    before: Option<Before>,
    /// Text has a line for each thread.
    each_thread: bool,
}

/// The form that a file's name asks for.
pub(super) fn form_of(path: &Path) -> CliResult<Form> {
    if path.as_os_str() == "-" {
        return Err(CliError::bad_input("-o - is not possible: standard output is the program's"));
    }
    Form::of(path).ok_or_else(|| {
        CliError::BadInput(format!(
            "cannot tell the form of a report from {}: it ends in .txt, .csv, .json, .html, .trace.json, .pftrace, .talp.json or .prom",
            shown_path(path)
        ))
    })
}

impl Destination {
    pub(super) fn standard_error() -> Destination {
        Destination { form: Form::Text, file: None, before: None, each_thread: false }
    }

    pub(super) fn is_standard_error(&self) -> bool {
        self.file.is_none()
    }

    /// Looks whether the file can be written, so that it is known before the run. A report that is
    /// there stays until the new one is written.
    pub(super) fn file(path: &Path, form: Form) -> CliResult<Destination> {
        let before = Before::now(path);
        let before = before.map_err(|error| CliError::Unwritable(unwritten(path, &error)))?;
        Ok(Destination {
            form,
            file: Some(path.to_path_buf()),
            before: Some(before),
            each_thread: false,
        })
    }

    /// The same, with a line for each thread if so asked.
    pub(super) fn with_each_thread(self, each_thread: bool) -> Destination {
        Destination { each_thread, ..self }
    }

    fn extent(&self, is_short: bool) -> Extent {
        Extent { is_short, each_thread: self.each_thread }
    }

    /// The same, whoever has written the file meanwhile: what it gets now has more.
    pub(super) fn whoever_wrote(self) -> Destination {
        Destination { before: None, ..self }
    }

    /// Whether a report that leaves processes out is written one process after the other: text and page have the
    /// report's own.
    pub(super) fn streams(&self, report: &Report) -> bool {
        report.left_out > 0 && self.file.is_some() && self.form.streams()
    }

    /// Writes the report of all ranks, one process after the other.
    pub(super) fn stream(self, merged: &mut Merged) -> CliResult<()> {
        let path = self.file.as_deref().expect("a stream goes to a file");
        let unwritable = |error| CliError::Unwritable(unwritten(path, &error));
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        // The umask applies, as to other reports.
        let mode = Permissions::from_mode(0o666);
        let draft = tempfile::Builder::new()
            .permissions(mode)
            .tempfile_in(directory.unwrap_or(Path::new(".")));
        let draft = draft.map_err(unwritable)?;
        let mut out = io::BufWriter::new(&draft);
        merged.stream(self.form, &mut out).map_err(unwritable)?;
        drop(out);
        draft.persist(path).map(|_| ()).map_err(|error| unwritable(error.error))
    }

    /// Files have lines of any length.
    fn width(&self) -> usize {
        if self.file.is_none() { Terminal::stderr().width() } else { usize::MAX }
    }

    /// Writes the report. If the file cannot be written now, for example because the disk is full,
    /// the report goes to standard error. The run is over, and the report is its only result.
    pub(super) fn write(self, report: &Report) -> CliResult<()> {
        let answer = self.form.bytes(report, self.extent(self.file.is_none()), self.width());
        let short = self.extent(true);
        let Some(path) = self.file else {
            return say(&answer);
        };
        let written = match self.before {
            Some(before) => before.write(&answer),
            None => atomic_write::write(&path, &answer),
        };
        written.map_err(|error| {
            let place = match say(&Form::Text.bytes(report, short, Terminal::stderr().width())) {
                Ok(()) => "it went to standard error",
                Err(_) => "it is lost, as standard error cannot be written either",
            };
            CliError::Unwritable(format!("{}; {place}", unwritten(&path, &error)))
        })
    }
}

fn say(report: &[u8]) -> CliResult<()> {
    output::standard_error().write_all(report).map_err(|error| {
        CliError::Unwritable(format!("cannot write the report to standard error: {error}"))
    })
}

fn unwritten(path: &Path, error: &io::Error) -> String {
    format!("cannot write the report to {}: {error}", shown_path(path))
}
