//! One measurement, from its begin to its summary.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use pacman_core::Topology;

use super::command::{Bell, Wake};
use super::meter::{Activity, Meter};
use super::picture::{Picture, Style};
use super::source::{Reading, Source};
use super::{SmtArgs, UNREADABLE, csv, json};
use crate::error;

/// Measures and writes as `args` say; the answer is the exit status.
pub(super) fn run<S: Source>(
    args: &SmtArgs,
    topology: &Topology,
    source: &mut S,
    live: bool,
    out: &mut dyn Write,
) -> io::Result<u8> {
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
    let (whole, status) = match measure(args, topology, source, &mut each, out)? {
        Ok(measured) => measured,
        Err(status) => return Ok(status),
    };
    if args.json {
        writeln!(out, "{:#}", json::summary(&basis, &whole, &intervals, status))?;
    } else if !args.csv {
        out.write_all(picture.summary(&basis, &whole).as_bytes())?;
    }
    Ok(status.unwrap_or(0))
}

/// The whole activity and COMMAND's exit status, or the exit status for a command that does not
/// run.
pub(super) type Measured = Result<(Activity, Option<u8>), u8>;

/// Measures until the command ends, the time is over or a signal comes.
pub(super) fn measure<S: Source>(
    args: &SmtArgs,
    topology: &Topology,
    source: &mut S,
    each: &mut dyn FnMut(Activity, &mut dyn Write) -> io::Result<()>,
    out: &mut dyn Write,
) -> io::Result<Measured> {
    let mut bell = Bell::install()?;
    let first = match source.read() {
        Ok(first) => first,
        Err(problem) => return Ok(Err(unreadable(&problem))),
    };
    let begin = first.at();
    let running = match args.command.as_slice() {
        [] => None,
        command => {
            out.flush()?;
            match bell.start(command) {
                Ok(running) => Some(running),
                Err(not_run) => {
                    error::complain(&not_run.problem);
                    return Ok(Err(not_run.status));
                }
            }
        }
    };
    let mut meter = Meter::begin(topology, first);
    let stop = args.duration.map(|duration| begin + duration);
    let interval = Duration::from_millis(args.interval);
    let mut next = begin + interval;
    let mut ended;
    loop {
        let deadline = stop.map_or(next, |stop| stop.min(next));
        let wake = bell.wait(Some(deadline))?;
        match (wake, &running) {
            (Wake::Terminated, Some(running)) => {
                running.terminate();
                continue;
            }
            // The command decides whether it ends by that.
            (Wake::Interrupted, Some(_)) => continue,
            _ => {}
        }
        match source.read() {
            Ok(now) => each(meter.next(now), out)?,
            Err(problem) => return Ok(Err(unreadable(&problem))),
        }
        ended = wake == Wake::Ended;
        if wake != Wake::Time || stop.is_some_and(|stop| Instant::now() >= stop) {
            break;
        }
        // A late wake-up makes one interval longer, and not the next ones shorter.
        while next <= Instant::now() {
            next += interval;
        }
    }
    let Some(running) = running else { return Ok(Ok((meter.whole(), None))) };
    while !ended {
        match bell.wait(None)? {
            Wake::Ended => ended = true,
            Wake::Terminated => running.terminate(),
            Wake::Interrupted | Wake::Time => {}
        }
    }
    Ok(Ok((meter.whole(), Some(running.status()?))))
}

/// Says why there is no reading; the answer is the exit status.
fn unreadable(problem: &str) -> u8 {
    error::complain(problem);
    UNREADABLE
}
