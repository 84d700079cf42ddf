//! Writes the answer in the format that was asked for.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::time::{Duration, SystemTime};

use pacman_core::event::installed;
use pacman_core::report::DOUBTED;
use pacman_core::{Event, Provenance, Topology};
use pacman_events::shown::{shown_path, text_of};
use pacman_report::exit::Exit;
use pacman_report::stat::{Answer, By, Columns, Form, Interval, Row};

use super::arguments::StatArgs;
use crate::error::{self, CliError, CliResult, UNWRITABLE};
use crate::output::{self, Output};
use crate::overwritten::Before;
use crate::terminal::Terminal;

/// The destination of the answer. Standard output belongs to the command.
pub(super) struct Sink {
    to: Target,
    name: String,
    /// A person watches, and a line can be drawn over.
    live: bool,
    /// The first failure; nothing is written after it.
    failed: Option<io::Error>,
}

/// Writes the parts of an answer, or its whole, to a sink.
pub(super) struct AnswerWriter {
    pub(super) answer: Answer,
    sink: Sink,
    quiet: bool,
}

/// A stream for an answer in parts, or a file for a whole one.
enum Target {
    Stream(Output<BufWriter<Box<dyn Write>>>),
    File(Before),
}

impl Sink {
    pub(super) fn open(args: &StatArgs) -> CliResult<Sink> {
        let stream = |out| Target::Stream(Output::new(BufWriter::new(out)));
        let (to, name) = match args.output.as_deref() {
            None => (stream(Box::new(output::standard_error())), "standard error".into()),
            Some(path) => {
                let unwritable = |error| CliError::unwritable(path, &error);
                let to = if args.interval().is_some() {
                    stream(Box::new(File::create(path).map_err(unwritable)?))
                } else {
                    Target::File(Before::now(path).map_err(unwritable)?)
                };
                (to, shown_path(path).to_string())
            }
        };
        Ok(Sink { to, name, live: Terminal::stderr().redraws, failed: None })
    }

    fn write(&mut self, text: &str) {
        if self.failed.is_none() {
            let bytes = text.as_bytes();
            let done = match &mut self.to {
                Target::Stream(out) => out.write_all(bytes).and_then(|()| out.flush()),
                Target::File(before) => before.write(bytes),
            };
            self.failed = done.err();
        }
    }
}

impl AnswerWriter {
    /// The answer about `events`; `doubt` is why those of the hardware may be wrong.
    pub(super) fn new(
        args: &StatArgs,
        events: &[Event],
        doubt: Option<&'static str>,
        topology: &Topology,
        sink: Sink,
    ) -> AnswerWriter {
        let by = if args.repeat.is_some() {
            By::Run
        } else if args.per_core {
            By::Core { of_contexts: args.all }
        } else if args.all {
            By::Context
        } else if args.per_command {
            By::Command
        } else {
            By::Thread
        };
        let form = if args.json {
            Form::Json
        } else if args.csv {
            Form::Csv
        } else {
            Form::Text
        };
        let screen = args.output.is_none().then(Terminal::stderr);
        let columns = Columns::of(events, doubt);
        let tables = columns.events.iter().map(|event| (&*event.name, event.table.as_deref()));
        let from_tables = installed::note(tables);
        let answer = Answer {
            form,
            each_thread: args.per_thread,
            command: args.command.iter().map(text_of).collect(),
            process: args.pid,
            columns,
            by,
            interval: args.interval(),
            simulated: false,
            usage: None,
            provenance: Provenance::here(Some(topology), SystemTime::now()),
            notes: doubt
                .map(|doubt| format!("{DOUBTED}  may be wrong: {doubt}"))
                .into_iter()
                .chain(from_tables)
                .collect(),
            is_grouped: false,
            top: args.top.map(|number| number as usize),
            width: screen.map_or(usize::MAX, Terminal::width),
        };
        AnswerWriter { answer, sink, quiet: args.quiet }
    }

    /// Whether a line of progress is wanted and can be drawn.
    pub(super) fn is_live(&self) -> bool {
        self.sink.live
            && !self.quiet
            && self.answer.form == Form::Text
            && self.answer.interval.is_none()
    }

    /// Writes the counts of one interval.
    pub(super) fn part(&mut self, interval: Interval, rows: Vec<Row>) {
        let text = self.answer.part(interval, rows);
        self.sink.write(&text);
    }

    /// Writes the total counts. Answers an exit status if something could not be written.
    pub(super) fn whole(
        mut self,
        elapsed: Duration,
        rows: Vec<Row>,
        exit: Option<Exit>,
    ) -> Option<u8> {
        let text = self.answer.whole(elapsed, rows, exit);
        self.close(&text)
    }

    /// Writes the rows of several runs and their summaries. Answers an exit status if they could
    /// not be written.
    pub(super) fn runs(
        mut self,
        elapsed: Duration,
        rows: Vec<Row>,
        exit: Option<Exit>,
    ) -> Option<u8> {
        let text = self.answer.runs(elapsed, rows, exit);
        self.close(&text)
    }

    fn close(mut self, text: &str) -> Option<u8> {
        self.sink.write(text);
        let error = self.sink.failed.as_ref()?;
        error::complain(format!("cannot write the answer to {}: {error}", self.sink.name));
        Some(UNWRITABLE)
    }
}
