//! One measurement, from its begin to its summary.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use pacman_core::Topology;

use super::command::{Event, Watch};
use super::meter::{Activity, Meter};
use super::options::SmtArgs;
use super::picture::{Picture, Style};
use super::source::{Reading, Source};
use super::{csv, json};
use crate::error::CliResult;
use crate::terminal::Fitted;
use pacman_report::document;
use pacman_report::exit::{Exit, INTERRUPTED};

/// Measures and writes as `args` say; the answer is the exit status.
pub(super) fn run<S: Source>(
    args: &SmtArgs,
    topology: &Topology,
    source: &mut S,
    watch: &mut Watch,
    live: bool,
    out: &mut dyn Write,
) -> CliResult {
    let basis = source.basis();
    let mut picture = Picture::new(Style::of_stdout());
    let mut intervals = Vec::new();
    let contexts = topology.contexts_per_core();
    if args.csv {
        out.write_all(csv::heading(contexts).as_bytes())?;
    }
    let mut each = |activity: Activity, out: &mut dyn Write| -> io::Result<()> {
        if args.csv {
            out.write_all(csv::rows(&basis, &activity, contexts).as_bytes())?;
            return out.flush();
        }
        if live {
            out.write_all(picture.frame(&activity).as_bytes())?;
            return out.flush();
        }
        if args.json {
            intervals.push(activity);
        }
        Ok(())
    };
    let (whole, end) = measure(args, topology, source, watch, &mut each, out)?;
    if args.json {
        document::write(out, &json::summary(&basis, &whole, &intervals, end.of_command()))?;
    } else if !args.csv {
        let summary = picture.summary(&basis, &whole);
        Fitted::stdout(out).write_all(summary.as_bytes())?;
    }
    Ok(end.status())
}

/// The end of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// There is no command.
    Alone,
    Command(Exit),
    /// The command still runs, after the second signal that asked it to end.
    LetGo,
}

impl End {
    /// The exit status of this process.
    fn status(self) -> u8 {
        match self {
            End::Alone => 0,
            End::Command(exit) => exit.status(),
            End::LetGo => INTERRUPTED,
        }
    }

    /// The exit status of the command.
    fn of_command(self) -> Option<u8> {
        match self {
            End::Command(exit) => Some(exit.status()),
            End::Alone | End::LetGo => None,
        }
    }
}

/// Measures until the command ends, the time is over or a signal comes.
pub(super) fn measure<S: Source>(
    args: &SmtArgs,
    topology: &Topology,
    source: &mut S,
    watch: &mut Watch,
    each: &mut dyn FnMut(Activity, &mut dyn Write) -> io::Result<()>,
    out: &mut dyn Write,
) -> CliResult<(Activity, End)> {
    let first = source.read()?;
    let begin = first.at();
    let alone = args.command.is_empty();
    if !alone {
        out.flush()?;
        watch.start(&args.command)?;
    }
    let mut meter = Meter::begin(topology, first);
    let stop = args.duration.map(|duration| begin + duration);
    let interval = Duration::from_millis(args.interval);
    let mut next = begin + interval;
    let mut event;
    loop {
        event = watch.wait(Some(stop.map_or(next, |stop| stop.min(next))))?;
        each(meter.next(source.read()?), out)?;
        if event != Event::Time || stop.is_some_and(|stop| Instant::now() >= stop) {
            break;
        }
        // A late wake-up makes one interval longer, and not the next ones shorter.
        while next <= Instant::now() {
            next += interval;
        }
    }
    // The command runs to its end after the time.
    while event == Event::Time && !alone {
        event = watch.wait(None)?;
    }
    let end = match event {
        Event::Ended(exit) => End::Command(exit),
        Event::Asked if !alone => End::LetGo,
        Event::Asked | Event::Time => End::Alone,
    };
    Ok((meter.whole(), end))
}
