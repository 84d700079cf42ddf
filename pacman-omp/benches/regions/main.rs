//! What the preloaded library costs a program, against the same program without it.
//!
//! `cargo bench -p pacman-omp --bench regions` runs an empty region again and again, bare and
//! preloaded by turns, and prints nanoseconds a region beside the bounds that the project set
//! itself. What adaptation adds is less than one run of a program differs from the next: it is
//! measured in pairs of regions of the same process, of which one passes the library by. Figures
//! over a bound are marked, and no failure: a busy machine exceeds any bound. Exit status 1 if
//! something could not be run.

mod programs;

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use programs::{COMPILERS, Compiler, Scratch, said};

/// How often bare and preloaded runs take turns.
const TURNS: usize = 7;

/// Nanoseconds that timing alone may add to a region, on each thread.
const OBSERVED: f64 = 60.0;
/// What counting by two `read(2)` may add, in units of two bare reads.
const COUNTED: f64 = 2.1;
/// Nanoseconds that adaptation may add to observation once it has decided.
const ADAPTED: f64 = 100.0;

const EVENTS: (&str, &str) =
    ("PACMAN_OMP_EVENTS", "task-clock,page-faults,context-switches,cpu-migrations");
const ADAPT: (&str, &str) = ("PACMAN_OMP_ADAPT", "time");

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
        "{:<8} {:>7} {:<6} {:<9} {:>9} {:>9} {:>9}",
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

/// Has `print` measure teams of one and two threads, if the compiler has made the program.
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
            "{runtime:<8} {threads:>7} {region:<6} {kind:<9} {shortest:>9.1} {median:>9.1} {more}"
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
    Ok(())
}

/// What observing and adapting add to regions with a loop. Short ones are left alone when that is
/// known, which is what adaptation costs those that it could cost most; longer ones are searched,
/// and held when it counts.
fn print_pairs(
    scratch: &Scratch,
    compiler: &Compiler,
    program: &Path,
    threads: usize,
) -> io::Result<()> {
    for (region, rounds) in [("loop", ["1000", "50"]), ("long", ["100", "50"])] {
        let way = |options| Way { job: region, threads, options, rounds };
        let ways = [way(None), way(Some(&[])), way(Some(&[ADAPT]))];
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

/// How the program is run.
#[derive(Clone, Copy)]
struct Way<'w> {
    job: &'w str,
    threads: usize,
    /// The library's; without them it stays out.
    options: Option<&'w [(&'w str, &'w str)]>,
    /// Regions in a round, and rounds.
    rounds: [&'w str; 2],
}

/// Runs the program in each way by turns, so that what else the machine does meets all; each run
/// prints two figures.
fn by_turns<const N: usize>(
    scratch: &Scratch,
    program: &Path,
    ways: [Way<'_>; N],
) -> io::Result<[Vec<[f64; 2]>; N]> {
    let mut all: [Vec<[f64; 2]>; N] = std::array::from_fn(|_| Vec::new());
    for _ in 0..TURNS {
        for (figures, Way { job, threads, options, rounds }) in all.iter_mut().zip(ways) {
            let mut command = scratch.run(program, options);
            // Waiting threads spin, so that waking them does not count.
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
    /// Of runs that each print the shortest and the median round.
    fn of(runs: Vec<[f64; 2]>) -> Taken {
        let shortest = runs.iter().map(|run| run[0]).fold(f64::INFINITY, f64::min);
        Taken { shortest, median: median(runs.iter().map(|run| run[1]).collect()) }
    }
}

impl Added {
    /// Of runs that each print what a region takes without the library, and what it adds.
    fn of(runs: Vec<[f64; 2]>) -> Added {
        let bare = median(runs.iter().map(|run| run[0]).collect());
        let added = || runs.iter().map(|run| run[1]);
        let (least, most) =
            (added().fold(f64::INFINITY, f64::min), added().fold(f64::NEG_INFINITY, f64::max));
        Added { bare, median: median(added().collect()), least, most }
    }
}

/// What the library adds to a program that has no use for it, from its start to its end.
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
