//! The cost of the preloaded library, against the same program without it.
//!
//! `cargo bench -p pacman-omp --bench regions` runs an empty region many times, alternately bare and
//! preloaded, and prints nanoseconds for each region beside the project's bounds. Adaptation adds less
//! than two runs of a program differ by. So its cost is measured in pairs of regions in one process, of
//! which one bypasses the library. Figures over a bound are marked, but do not fail: a busy machine exceeds
//! any bound. Exit status 1 if a run failed.

mod programs;

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use programs::{COMPILERS, Compiler, Scratch, said};

/// Alternations of bare and preloaded runs.
const TURNS: usize = 7;

/// Nanoseconds that timing alone may add to a region, on each thread.
const OBSERVED: f64 = 60.0;
/// The most that counting by two `read(2)` may add, in units of two bare reads.
const COUNTED: f64 = 2.1;
/// Nanoseconds that a timed wait may take beside its own time and two readings of the clock.
const WAIT: f64 = 30.0;
/// Nanoseconds that adaptation may add to observation once it has decided.
const ADAPTED: f64 = 100.0;

const EVENTS: (&str, &str) =
    ("PACMAN_OMP_EVENTS", "task-clock,page-faults,context-switches,cpu-migrations");
const ADAPT: (&str, &str) = ("PACMAN_OMP_ADAPT", "time");
const NARROW: (&str, &str) = ("PACMAN_OMP_NARROW", "1");
const WAITS: (&str, &str) = ("PACMAN_OMP_WAITS", "1");

/// Nanoseconds: the shortest round of all turns, and the median turn's median round.
#[derive(Clone, Copy)]
struct Taken {
    shortest: f64,
    median: f64,
}

/// Nanoseconds that a region takes without the library, and that the library adds.
#[derive(Clone, Copy)]
struct Added {
    bare: f64,
    median: f64,
    least: f64,
    most: f64,
}

fn main() -> ExitCode {
    match print() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("regions: {error}");
            ExitCode::FAILURE
        }
    }
}

fn print() -> io::Result<()> {
    let scratch = Scratch::new("bench-regions")?;
    println!("ns a region: shortest and median round, of {TURNS} runs each by turns");
    println!(
        "{:<8} {:>7} {:<6} {:<10} {:>9} {:>9} {:>9}",
        "runtime", "threads", "region", "as", "shortest", "median", "more"
    );
    for compiler in &COMPILERS {
        let program = scratch.build(compiler, "benches/regions/regions.c");
        each_team(compiler, program, |threads, program| {
            print_team(&scratch, compiler, program, threads)
        })?;
    }
    println!();
    println!("ns a region, and what the library adds to it: median and extremes of {TURNS} runs");
    println!(
        "{:<8} {:>7} {:<6} {:<9} {:>9} {:>9} {:>15}",
        "runtime", "threads", "region", "as", "bare", "added", "from .. to"
    );
    for compiler in &COMPILERS {
        let wrap = format!("-Wl,--wrap={}", compiler.entry);
        let program = scratch.build_with(compiler, "benches/regions/pairs.c", &[&wrap, "-ldl"]);
        each_team(compiler, program, |threads, program| {
            print_pairs(&scratch, compiler, program, threads)
        })?;
    }
    print_start(&scratch)
}

/// Measures teams of one and two threads, if the compiler builds the program.
fn each_team(
    compiler: &Compiler,
    program: io::Result<PathBuf>,
    print: impl Fn(usize, &Path) -> io::Result<()>,
) -> io::Result<()> {
    match program {
        Ok(program) => [1, 2].into_iter().try_for_each(|threads| print(threads, &program)),
        Err(error) => {
            println!("{:<8} skipped: {error}", compiler.runtime);
            Ok(())
        }
    }
}

/// Empty regions bare, observed and counted; regions with a loop bare and observed.
fn print_team(
    scratch: &Scratch,
    compiler: &Compiler,
    program: &Path,
    threads: usize,
) -> io::Result<()> {
    let row = |region: &str, kind: &str, taken: Taken, more: &str| {
        let (runtime, Taken { shortest, median }) = (compiler.runtime, taken);
        println!(
            "{runtime:<8} {threads:>7} {region:<6} {kind:<10} {shortest:>9.1} {median:>9.1} {more}"
        );
    };
    let more = |taken: Taken, than: Taken| (taken.shortest - than.shortest) / threads as f64;
    let said = |more: f64, unit: &str, bound: f64| {
        let mark = if more > bound { "  OVER" } else { "" };
        format!("{more:>9.2} {unit} (bound {bound}){mark}")
    };

    let way = |job, options| Way { job, threads, options, rounds: ["2000", "50"] };
    let reads = Way { threads: 1, ..way("reads", None) };
    let (bare, observed) = (way("empty", None), way("empty", Some(&[])));
    let counted = way("empty", Some(&[EVENTS]));
    let print = |bare: Taken, observed: Taken| {
        row("empty", "bare", bare, "");
        let beyond = more(observed, bare);
        row("empty", "observed", observed, &said(beyond, "ns a thread", OBSERVED));
    };
    match by_turns(scratch, program, [bare, observed, counted, reads]) {
        Ok(all) => {
            let [bare, observed, counted, reads] = all.map(Taken::of);
            print(bare, observed);
            row("-", "two reads", reads, "");
            let ratio = more(counted, bare) / reads.shortest;
            row("empty", "counted", counted, &said(ratio, "x two bare reads", COUNTED));
        }
        Err(error) => {
            let [bare, observed] = by_turns(scratch, program, [bare, observed])?.map(Taken::of);
            print(bare, observed);
            println!("{:<8} {threads:>7} counted skipped: {error}", compiler.runtime);
        }
    }

    let [bare, observed] =
        by_turns(scratch, program, [way("loop", None), way("loop", Some(&[]))])?.map(Taken::of);
    row("loop", "bare", bare, "");
    let beyond = more(observed, bare);
    row("loop", "observed", observed, &said(beyond, "ns a thread", OBSERVED));

    // Threads take their locks at the same time, so a wait costs no thread more than another.
    let wait = |options| Way { rounds: ["20000", "50"], ..way("wait", options) };
    let clock = Way { threads: 1, ..way("clock", None) };
    let all = by_turns(scratch, program, [wait(None), wait(Some(&[WAITS])), clock])?;
    let [bare, waits, clock] = all.map(Taken::of);
    row("lock", "bare", bare, "");
    row("-", "two clocks", clock, "");
    let beyond = waits.shortest - bare.shortest - clock.shortest;
    row("lock", "waits", waits, &said(beyond, "ns beyond two clocks", WAIT));
    Ok(())
}

/// The cost of observing and adapting regions with a loop. Short regions are left alone once they are known
/// to be short; their relative cost is the largest. Longer ones are searched, and held during the
/// measurement.
fn print_pairs(
    scratch: &Scratch,
    compiler: &Compiler,
    program: &Path,
    threads: usize,
) -> io::Result<()> {
    for (region, rounds) in [("loop", ["1000", "50"]), ("long", ["100", "50"])] {
        let way = |options| Way { job: region, threads, options, rounds };
        let ways = [way(None), way(Some(&[])), way(Some(&[ADAPT, NARROW]))];
        let [bare, observed, adapted] = by_turns(scratch, program, ways)?.map(Added::of);
        let mark = |ns: f64, bound: f64| if ns > bound { "  OVER" } else { "" };
        let each = observed.median / threads as f64;
        let beyond = adapted.median - observed.median;
        let rows = [
            ("bare", bare, String::new()),
            (
                "observed",
                observed,
                format!("{each:>9.2} ns a thread (bound {OBSERVED}){}", mark(each, OBSERVED)),
            ),
            (
                "adapted",
                adapted,
                format!(
                    "{beyond:>9.2} ns beyond observed (bound {ADAPTED}){}",
                    mark(beyond, ADAPTED)
                ),
            ),
        ];
        for (kind, added, said) in rows {
            let (runtime, Added { bare, median, least, most }) = (compiler.runtime, added);
            println!(
                "{runtime:<8} {threads:>7} {region:<6} {kind:<9} {bare:>9.1} {median:>9.1} \
                 {least:>6.1} .. {most:>5.1} {said}"
            );
        }
    }
    Ok(())
}

/// One way to run the program.
#[derive(Clone, Copy)]
struct Way<'w> {
    job: &'w str,
    threads: usize,
    /// The options of the library; without them it is not preloaded.
    options: Option<&'w [(&'w str, &'w str)]>,
    /// The regions of a round, and the rounds.
    rounds: [&'w str; 2],
}

/// Alternates between the ways, so that other load on the machine meets all of them. Each run prints two
/// figures.
fn by_turns<const N: usize>(
    scratch: &Scratch,
    program: &Path,
    ways: [Way<'_>; N],
) -> io::Result<[Vec<[f64; 2]>; N]> {
    let mut all: [Vec<[f64; 2]>; N] = std::array::from_fn(|_| Vec::new());
    for _ in 0..TURNS {
        for (figures, Way { job, threads, options, rounds }) in all.iter_mut().zip(ways) {
            let mut command = scratch.run(program, options);
            // Waiting threads spin, so that the figures exclude waking them.
            command.env("OMP_NUM_THREADS", threads.to_string()).env("OMP_WAIT_POLICY", "active");
            command.arg(job).args(rounds);
            let output = said(command)?;
            let text = String::from_utf8_lossy(&output.stdout);
            let mut words = text.split_whitespace().map(|word| word.parse().ok());
            let mut next = || words.next().flatten();
            let (Some(first), Some(second)) = (next(), next()) else {
                return Err(io::Error::other(format!("no figures in {text:?}")));
            };
            figures.push([first, second]);
        }
    }
    Ok(all)
}

impl Taken {
    /// The figures of runs that print the shortest and the median round.
    fn of(runs: Vec<[f64; 2]>) -> Taken {
        let shortest = runs.iter().map(|run| run[0]).fold(f64::INFINITY, f64::min);
        Taken { shortest, median: median(runs.iter().map(|run| run[1]).collect()) }
    }
}

impl Added {
    /// The figures of runs that print the time of a region without the library, and the added time.
    fn of(runs: Vec<[f64; 2]>) -> Added {
        let bare = median(runs.iter().map(|run| run[0]).collect());
        let added = || runs.iter().map(|run| run[1]);
        let (least, most) =
            (added().fold(f64::INFINITY, f64::min), added().fold(f64::NEG_INFINITY, f64::max));
        Added { bare, median: median(added().collect()), least, most }
    }
}

/// The time that the library adds to a program without regions, from start to end.
fn print_start(scratch: &Scratch) -> io::Result<()> {
    const STARTS: usize = 40;
    let program = scratch.build(&COMPILERS[0], "benches/regions/nothing.c")?;
    let mut all = [Vec::new(), Vec::new()];
    for _ in 0..STARTS {
        for (taken, options) in all.iter_mut().zip([None, Some(&[][..])]) {
            let begun = Instant::now();
            said(scratch.run(&program, options))?;
            taken.push(begun.elapsed().as_secs_f64() * 1e3);
        }
    }
    println!();
    println!("ms from the start to the end of a program without OpenMP, of {STARTS} runs each");
    for (kind, runs) in ["bare", "observed"].iter().zip(all) {
        let shortest = runs.iter().copied().fold(f64::INFINITY, f64::min);
        println!("{kind:<9} {shortest:>9.2} {:>9.2}", median(runs));
    }
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
