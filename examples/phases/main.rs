//! Three phases of different character on every hardware context, and the table
//! of who did what.
//!
//!     cargo run --release -p phases
//!     cargo run --release -p phases -- --events INSTRUCTIONS,CYCLES --json
//!     cargo run --release -p phases -- --machine p4
//!
//! Options: `--machine NAME` for a simulated machine, `--events LIST`, `--placement compact|scatter|one-per-core|…`,
//! `--threads N`, and `--json` or `--csv` instead of the table; `--help` prints them.

use std::hint::black_box;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

use pacman_core::export::{self, TableStyle};
use pacman_core::session::EventSetRotation;
use pacman_core::{Attached, ErrorKind, Phase, Placement, Report, Result, Session, Topology};

const HARDWARE: &str = "CYCLES,INSTRUCTIONS,CACHE_MISSES,BRANCH_MISSES";
const SOFTWARE: &str = "task-clock,page-faults,context-switches,cpu-migrations";
const ROUNDS: usize = 20;
const OPTIONS: &str = "[--machine NAME] [--events LIST] [--placement POLICY] [--threads N] \
                       [--json | --csv]";

fn main() -> ExitCode {
    let options = match Options::from_arguments() {
        Ok(Some(options)) => options,
        Ok(None) => {
            println!("usage: phases {OPTIONS}");
            return ExitCode::SUCCESS;
        }
        Err(problem) => return refuse(&problem),
    };
    let report = match run(&options) {
        Ok(report) => report,
        Err(error) => return refuse(&error.to_string()),
    };
    match write(&report, options.format) {
        Ok(()) => ExitCode::SUCCESS,
        // A reader that closed the pipe has read as much as it wanted.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => refuse(&format!("cannot write the report: {error}")),
    }
}

/// Attaches a thread per hardware context; all run the same three phases together.
fn run(options: &Options) -> Result<Report> {
    let machine = Topology::detect()?;
    let threads = match options.threads {
        Some(threads) => threads,
        None => options.placement.capacity(&machine)?,
    };
    // Refused here, before a thread is made, if there are not that many places.
    options.placement.places(&machine, threads)?;
    let session = start(options, machine)?;
    let phases = Phases {
        compute: session.phase("compute")?,
        stream: session.phase("stream")?,
        rendezvous: session.phase("rendezvous")?,
    };
    let (together, attached) = (Barrier::new(threads), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|number| {
                std::thread::Builder::new()
                    .name(format!("worker-{number}"))
                    .spawn_scoped(scope, || {
                        let thread = session.attach();
                        attached.fetch_add(usize::from(thread.is_ok()), Ordering::Relaxed);
                        together.wait();
                        // All or none: no worker waits for one that could not attach.
                        match thread? {
                            thread if attached.load(Ordering::Relaxed) == threads => {
                                work(&thread, phases, &together)
                            }
                            _ => Ok(()),
                        }
                    })
                    .expect("a thread can be started")
            })
            .collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("no worker panics"))
    })?;
    Ok(session.report())
}

/// Hardware events where the machine has them; else software, and a word why.
fn start(options: &Options, machine: Topology) -> Result<Session> {
    let describe = |events: &str| {
        Session::builder("phases")
            .events(events)
            .placement(machine.clone(), options.placement.clone())
    };
    // Events that do not fit on the counters at once rotate from run to run.
    let hardware = |events: &str| {
        describe(events).start().or_else(|error| match error.kind() {
            ErrorKind::Conflict => {
                describe(events).rotate_event_sets(EventSetRotation::PerExecution).start()
            }
            _ => Err(error),
        })
    };
    if let Some(events) = &options.events {
        return hardware(events);
    }
    let missing = [ErrorKind::NoPmu, ErrorKind::Permission, ErrorKind::Unsupported];
    hardware(HARDWARE).or_else(|error| {
        if !missing.contains(&error.kind()) {
            return Err(error);
        }
        eprintln!("phases: counting software events: {error}");
        describe(SOFTWARE).start()
    })
}

#[derive(Clone, Copy)]
struct Phases {
    compute: Phase,
    stream: Phase,
    rendezvous: Phase,
}

fn work(thread: &Attached, phases: Phases, together: &Barrier) -> Result<()> {
    let mut memory = vec![0f64; 1 << 20];
    for _ in 0..ROUNDS {
        thread.run(phases.compute, || black_box(collatz(20_000)))?;
        thread.run(phases.stream, || triad(&mut memory))?;
        // Waiting for the slowest, over and over: the kernel switches.
        thread.run(phases.rendezvous, || {
            for _ in 0..20 {
                together.wait();
            }
        })?;
    }
    Ok(())
}

/// Arithmetic and branches that no predictor knows, in registers.
fn collatz(upto: u64) -> u64 {
    (1..upto)
        .map(|start| {
            let (mut n, mut steps) = (start, 0);
            while n != 1 {
                n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
                steps += 1;
            }
            steps
        })
        .sum()
}

/// Eight megabytes read and written once: bandwidth.
fn triad(memory: &mut [f64]) {
    let (left, right) = memory.split_at_mut(memory.len() / 2);
    for (a, b) in left.iter_mut().zip(right) {
        *a = 0.5 * *a + 3.0 * *b;
        *b += 1.0;
    }
    black_box(left);
}

#[derive(Clone, Copy)]
enum Format {
    Csv,
    Json,
    Table,
}

fn write(report: &Report, format: Format) -> io::Result<()> {
    let stdout = io::stdout();
    let style = TableStyle::from_env(stdout.is_terminal());
    let mut out = io::BufWriter::new(stdout.lock());
    match format {
        Format::Csv => export::csv(report, &mut out)?,
        Format::Json => export::json(report, &mut out)?,
        Format::Table => export::table(report, &style, &mut out)?,
    }
    out.flush()
}

struct Options {
    events: Option<String>,
    format: Format,
    placement: Placement,
    threads: Option<usize>,
}

impl Options {
    /// `None` where they are only asked for.
    fn from_arguments() -> Result<Option<Options>, String> {
        let mut options = Options {
            events: None,
            format: Format::Table,
            placement: Placement::Compact,
            threads: None,
        };
        let mut machine = None;
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
            match argument.as_str() {
                "--events" => options.events = Some(value()?),
                "--placement" => {
                    options.placement = value()?.parse().map_err(|error| format!("{error}"))?;
                }
                "--threads" => {
                    let text = value()?;
                    let number = text.parse().ok().filter(|threads| *threads > 0);
                    options.threads =
                        Some(number.ok_or(format!("cannot run {text:?} threads; 1 or more"))?);
                }
                "--machine" => machine = Some(value()?),
                "--help" => return Ok(None),
                "--json" => options.format = Format::Json,
                "--csv" => options.format = Format::Csv,
                other => {
                    return Err(format!("no option {other:?}; usage: phases {OPTIONS}"));
                }
            }
        }
        // Before anything is counted: event names and places are those of the machine.
        machine
            .map_or_else(pacman_sim::install, |name| pacman_sim::simulate(&name))
            .map_err(|error| error.to_string())?;
        Ok(Some(options))
    }
}

fn refuse(problem: &str) -> ExitCode {
    eprintln!("phases: {problem}");
    ExitCode::from(2)
}
