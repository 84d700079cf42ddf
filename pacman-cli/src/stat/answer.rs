//! What is said about a run, and where to.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;
use std::time::Duration;

use pacman_core::Event;
use pacman_core::report::DOUBTED;
use pacman_events::shown::{shown_path, text_of};

use super::figures::{Columns, Figures, Row, Who, by_core, seated};
use super::{Refusal, StatArgs, csv, json, text};
use crate::error::{self, UNWRITTEN};
use crate::exit::Exit;
use crate::output::Output;

/// Where the answer goes; standard output is the command's.
pub(super) struct Sink {
    out: Output<BufWriter<Box<dyn Write>>>,
    name: String,
    /// A person watches, and a line can be drawn over.
    live: bool,
    /// The first failure; nothing is written after it.
    failed: Option<io::Error>,
}

/// A part of the run, or all of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Interval {
    /// `None` for the whole run.
    pub(super) number: Option<usize>,
    pub(super) begin: Duration,
    pub(super) end: Duration,
}

/// What all parts of the answer share.
pub(super) struct Answer {
    pub(super) command: Vec<String>,
    pub(super) columns: Columns,
    pub(super) by: By,
    pub(super) interval: Option<Duration>,
    pub(super) simulated: bool,
    pub(super) notes: Vec<String>,
    format: Format,
    sink: Sink,
    heading: bool,
    quiet: bool,
    /// What COLUMNS or the terminal has; without either, and in a file, as many as it takes.
    pub(super) width: usize,
}

/// What a row is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    Thread,
    Core,
    Context,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Text,
    Csv,
    Json,
}

impl Sink {
    pub(super) fn open(path: Option<&Path>) -> Result<Sink, Refusal> {
        let (out, name): (Box<dyn Write>, String) = match path {
            None => (Box::new(io::stderr()), "standard error".into()),
            Some(path) => {
                let file = File::create(path).map_err(|error| Refusal {
                    problem: error::unwritten(path, &error),
                    status: UNWRITTEN,
                })?;
                (Box::new(file), shown_path(path).to_string())
            }
        };
        let redraws = std::env::var_os("TERM").is_some_and(|term| term != "dumb");
        let live = redraws && io::stderr().is_terminal();
        Ok(Sink { out: Output::new(BufWriter::new(out)), name, live, failed: None })
    }

    fn write(&mut self, text: &str) {
        if self.failed.is_none() {
            let done = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
            self.failed = done.err();
        }
    }
}

impl Answer {
    /// The answer about `events`; `doubt` is why those of the hardware may be wrong.
    pub(super) fn new(
        args: &StatArgs,
        events: &[Event],
        doubt: Option<&'static str>,
        sink: Sink,
    ) -> Answer {
        let by = if args.all {
            By::Context
        } else if args.per_core {
            By::Core
        } else {
            By::Thread
        };
        let format = if args.json {
            Format::Json
        } else if args.csv {
            Format::Csv
        } else {
            Format::Text
        };
        Answer {
            command: args.command.iter().map(text_of).collect(),
            columns: Columns::of(events, doubt),
            by,
            interval: args.interval(),
            simulated: false,
            notes: doubt
                .map(|doubt| format!("{DOUBTED}  may be wrong: {doubt}"))
                .into_iter()
                .collect(),
            format,
            sink,
            heading: false,
            quiet: args.quiet,
            width: if args.output.is_none() { width() } else { usize::MAX },
        }
    }

    /// Whether a line of progress is wanted and can be drawn.
    pub(super) fn is_live(&self) -> bool {
        self.sink.live && !self.quiet && self.format == Format::Text && self.interval.is_none()
    }

    /// Writes what was counted in one interval.
    pub(super) fn part(&mut self, interval: Interval, mut rows: Vec<Row>) {
        self.columns.leave_out(&mut rows);
        let rows = self.arranged(rows);
        let text = match self.format {
            Format::Text => text::part(self, interval, &rows),
            Format::Csv => self.csv(interval, &rows),
            Format::Json => format!("{}\n", json::document(self, interval, &rows, None)),
        };
        self.sink.write(&text);
    }

    /// Writes what was counted in all, and says whether everything could be written: the
    /// exit status if not.
    pub(super) fn whole(
        mut self,
        elapsed: Duration,
        mut rows: Vec<Row>,
        exit: Option<Exit>,
    ) -> Option<u8> {
        self.columns.leave_out(&mut rows);
        let interval = Interval { number: None, begin: Duration::ZERO, end: elapsed };
        let total = Figures::sum(rows.iter().map(|row| &row.figures));
        self.notes.extend(self.columns.silent(&total));
        let rows = self.arranged(rows);
        let text = match self.format {
            Format::Text => text::whole(&self, interval, &rows, exit),
            // Its lines add up to the whole.
            Format::Csv if self.interval.is_some() => String::new(),
            Format::Csv => self.csv(interval, &rows),
            Format::Json => {
                let document = json::document(&self, interval, &rows, exit);
                match self.interval {
                    None => format!("{document:#}\n"),
                    Some(_) => format!("{document}\n"),
                }
            }
        };
        self.sink.write(&text);
        let error = self.sink.failed.as_ref()?;
        error::complain(&format!("cannot write the answer to {}: {error}", self.sink.name));
        Some(UNWRITTEN)
    }

    fn csv(&mut self, interval: Interval, rows: &[Row]) -> String {
        let heading = !std::mem::replace(&mut self.heading, true);
        let heading = if heading { csv::heading(&self.columns) } else { String::new() };
        heading + &csv::rows(self, interval, rows)
    }

    fn arranged(&self, rows: Vec<Row>) -> Vec<Row> {
        let rows = seated(rows);
        if self.by == By::Core { by_core(&rows) } else { rows }
    }
}

impl By {
    pub(super) fn id(self) -> &'static str {
        match self {
            By::Thread => "thread",
            By::Core => "core",
            By::Context => "context",
        }
    }
}

/// `COLUMNS`, else the width of the terminal on standard error, if it is one.
fn width() -> usize {
    let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    told.filter(|&columns| columns > 0).unwrap_or_else(terminal_width)
}

fn terminal_width() -> usize {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: TIOCGWINSZ writes one `winsize`, and the pointer is to a live one; standard error
    // being closed or no terminal is answered with an error.
    let answer = unsafe { libc::ioctl(libc::STDERR_FILENO, libc::TIOCGWINSZ, &raw mut size) };
    if answer == 0 && size.ws_col > 0 { size.ws_col.into() } else { usize::MAX }
}

/// How many threads and processes rows are of.
pub(super) fn census(rows: &[Row]) -> (usize, usize) {
    let mut processes: Vec<i32> = rows
        .iter()
        .filter_map(|row| match &row.who {
            Who::Thread { pid, .. } => Some(*pid),
            _ => None,
        })
        .collect();
    let threads = processes.len();
    processes.sort_unstable();
    processes.dedup();
    (threads, processes.len())
}
