//! McCalpin's experiment on snoop-filter conflicts (SC18): one thread on each core reads its own block,
//! which fits its private caches, again and again. Each trial takes other memory. A trial that is
//! slower, with L2 fills, lost lines that the snoop filter evicted: docs/snoop-filter.md explains it.
//!
//!     cargo run --release -p snoop-filter
//!     cargo run --release -p snoop-filter -- --kilobytes 768 --trials 20
//!     cargo run --release -p snoop-filter -- --machine skylake

mod block;
mod options;

use std::collections::BTreeSet;
use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Barrier;

use block::{Block, in_huge_pages};
use options::Options;
use pacman_core::report::PhaseReport;
use pacman_core::{ErrorKind, Placement, Report, Result, Session, Topology};

/// Lines that came into the L2: the vendor's event where there is one, else the preset.
const FILLS: [&str; 2] = ["L2_LINES_IN.ALL", "L2_MISSES"];

const LINE: usize = 64;

fn main() -> ExitCode {
    let options = match Options::from_arguments() {
        Ok(Some(options)) => options,
        Ok(None) => {
            println!("{}", options::USAGE);
            return ExitCode::SUCCESS;
        }
        Err(problem) => return refuse(&problem),
    };
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => refuse(&error.to_string()),
    }
}

fn refuse(problem: &str) -> ExitCode {
    eprintln!("snoop-filter: {problem}");
    ExitCode::from(2)
}

fn run(options: &Options) -> Result<()> {
    let machine = Topology::detect()?;
    let cores = Placement::OnePerCore.capacity(&machine)?;
    let threads = options.threads.unwrap_or(cores);
    let (session, fills) = start(&machine, options.events.as_deref())?;
    let bytes = options.kilobytes << 10;
    println!(
        "{threads} threads on {cores} cores, a block of {} KiB each, {} reads a trial",
        options.kilobytes, options.passes
    );
    let huge = trials(&session, options, threads, bytes)?;
    match huge {
        Some(huge) => println!("{} MiB were in huge pages", huge >> 20),
        None => println!("the kernel does not say how much was in huge pages"),
    }
    let report = session.report();
    for note in &report.notes {
        eprintln!("snoop-filter: {note}");
    }
    print(&report, options.passes * bytes / LINE, fills.as_deref());
    Ok(())
}

/// A session with the event of L2 fills, and its name; one without it where hardware events are
/// refused, and a line why.
fn start(machine: &Topology, asked: Option<&str>) -> Result<(Session, Option<String>)> {
    let start = |events: &str| {
        let builder = Session::builder("snoop-filter").events(events);
        builder.placement(machine.clone(), Placement::OnePerCore).start()
    };
    if let Some(event) = asked {
        return Ok((start(event)?, Some(event.to_owned())));
    }
    let mut refused = None;
    for event in FILLS {
        // The report warns if fills stay at 0 while instructions are counted.
        match start(&format!("{event},INSTRUCTIONS")) {
            Ok(session) => return Ok((session, Some(event.to_owned()))),
            Err(error) => refused = Some(error),
        }
    }
    let error = refused.expect("there are names to try");
    let missing = [
        ErrorKind::NoPmu,
        ErrorKind::Permission,
        ErrorKind::Unsupported,
        ErrorKind::UnknownEvent,
        ErrorKind::OtherModel,
    ];
    if !missing.contains(&error.kind()) {
        return Err(error);
    }
    eprintln!("snoop-filter: times only, L2 fills are not counted: {error}");
    Ok((start("task-clock")?, None))
}

/// Runs all trials and returns how much memory was in huge pages.
fn trials(
    session: &Session,
    options: &Options,
    threads: usize,
    bytes: usize,
) -> Result<Option<usize>> {
    let names = (1..=options.trials).map(|trial| session.phase(&format!("trial {trial}")));
    let phases = names.collect::<Result<Vec<_>>>()?;
    let together = Barrier::new(threads);
    let work = || -> Result<Vec<Block>> {
        // No thread waits for one that could not attach: each goes through all barriers.
        let thread = session.attach();
        let mut counted = Ok(());
        // Blocks are kept, so that each trial has memory of its own.
        let mut blocks = Vec::new();
        for &phase in &phases {
            let block = Block::new(bytes);
            // Brings the lines into the caches.
            black_box(block.sum());
            together.wait();
            if let Ok(thread) = &thread {
                let outcome = thread.run(phase, || {
                    for _ in 0..options.passes {
                        black_box(block.sum());
                    }
                });
                counted = counted.and(outcome);
            }
            blocks.push(block);
        }
        thread?;
        counted?;
        Ok(blocks)
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let ended = workers.into_iter().map(|worker| worker.join().expect("no worker panics"));
        let blocks = ended.collect::<Result<Vec<_>>>()?;
        let huge = in_huge_pages();
        drop(blocks);
        Ok(huge)
    })
}

/// A line for each trial: the time of a line of the fastest and of the slowest thread, and fills.
fn print(report: &Report, lines: usize, fills: Option<&str>) {
    println!("trial  ns/line fastest  slowest  {}", fills.unwrap_or("L2 fills"));
    let mut slowest_of_all = Vec::new();
    for (number, name) in report.phases.iter().enumerate() {
        let rows = report.threads.iter().flat_map(|thread| &thread.phases);
        let rows: Vec<&PhaseReport> = rows.filter(|row| row.phase == number).collect();
        let times: BTreeSet<u64> = rows.iter().map(|row| row.time.sum).collect();
        let (Some(fastest), Some(slowest)) = (times.first(), times.last()) else { continue };
        let each = |time: &u64| *time as f64 / lines as f64;
        let filled = match fills {
            Some(_) => {
                let sum: u64 = rows.iter().map(|row| row.counts[0].raw.sum).sum();
                format!("{:.5} a line read", sum as f64 / (lines * rows.len()) as f64)
            }
            None => "not counted".to_owned(),
        };
        let trial = name.trim_start_matches("trial ");
        println!("{trial:>5}  {:>15.3}  {:>7.3}  {filled}", each(fastest), each(slowest));
        slowest_of_all.push(*slowest);
    }
    slowest_of_all.sort_unstable();
    if let (Some(first), Some(last)) = (slowest_of_all.first(), slowest_of_all.last()) {
        let more = (*last as f64 / *first as f64 - 1.0) * 100.0;
        println!("the slowest trial took {more:.1} % longer than the fastest");
    }
}
