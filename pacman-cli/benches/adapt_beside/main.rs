//! Times of `run --adapt` in quotas, beside other programs and with contended regions, by turns with a user's choices.
//!
//! `cargo bench -p pacman-cli --bench adapt_beside -- --rounds 9 [WORD …]` runs the cells whose names have all words.
//! In each round a program runs once in every way. The row has the median time of each way. The last figure is the
//! median over the rounds of the adapted time over that of the best other way, and its bound. A way that takes more than
//! four times the least in the first round is not run again. Adapted runs have no memory: they are first runs, and all
//! that the command takes is in their times.
//!
//! Rows of contended regions compare the mean times of the program's two regions, which the reports of all ways have.
//!
//! Rows of barriers have a program with a spinning barrier of its own. They compare the time that it prints with that of
//! a run without samples: the difference is what samples lose.

mod busy;
mod contended;
mod own_barrier;

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use clap::Parser;

use busy::Busy;
use pacman_suite::QuotaGroup;

/// After the first round a way may take so much of the least time.
const HOPELESS: f64 = 4.0;

#[derive(Parser)]
#[command(about = "Adapted runs in quotas and beside busy programs, by turns")]
struct Options {
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// The executions of each phase of the program.
    #[arg(long, default_value_t = 400)]
    executions: u32,
    /// So many times as many of them where regions of one run are compared.
    #[arg(long, default_value_t = 5)]
    contended: u32,
    /// The library to preload instead of cargo's.
    #[arg(long)]
    library: Option<PathBuf>,
    /// Words that the name of a cell has.
    words: Vec<String>,
    // Cargo gives it to every benchmark.
    #[arg(long, hide = true)]
    bench: bool,
}

/// A way to run the program.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Way {
    name: &'static str,
    variables: &'static [(&'static str, &'static str)],
    is_adapted: bool,
}

const fn plain(name: &'static str, variables: &'static [(&'static str, &'static str)]) -> Way {
    Way { name, variables, is_adapted: false }
}

const DEFAULT: Way = plain("default", &[]);
const ONE: Way = plain("one thread", &[("OMP_NUM_THREADS", "1")]);
const TWO: Way = plain("2 threads", &[("OMP_NUM_THREADS", "2")]);
const FOUR: Way = plain("4 threads", &[("OMP_NUM_THREADS", "4")]);
const EIGHT: Way = plain("8 threads", &[("OMP_NUM_THREADS", "8")]);
const PASSIVE: Way = plain("passive", &[("OMP_WAIT_POLICY", "passive")]);
const ADAPTED: Way = Way { name: "adapted", variables: &[], is_adapted: true };
const TWO_ADAPTED: Way = Way { name: "adapted", ..Way { is_adapted: true, ..TWO } };
const FOUR_ADAPTED: Way = Way { name: "adapted", ..Way { is_adapted: true, ..FOUR } };
const EIGHT_ADAPTED: Way = Way { name: "adapted", ..Way { is_adapted: true, ..EIGHT } };

/// The load beside the program, or the quota around it.
#[derive(Clone, Copy)]
enum Surroundings {
    Quota(f64),
    Busy(usize),
    /// Nothing: the regions of the program are compared.
    Nothing(&'static [Way; 3]),
    /// Nothing: the program has a barrier of its own, with so many rounds in an execution.
    Barrier(&'static [Way; 2], u32),
}

struct Cell {
    name: &'static str,
    compiler: &'static str,
    surroundings: Surroundings,
    /// The adapted way is the last.
    ways: &'static [Way],
    /// The bound of the adapted time over that of the best way.
    bound: f64,
}

const fn quota(name: &'static str, cpus: f64) -> Cell {
    let ways = &[ONE, TWO, PASSIVE, ADAPTED];
    Cell { name, compiler: "gcc", surroundings: Surroundings::Quota(cpus), ways, bound: 1.1 }
}

const fn busy(name: &'static str, loops: usize) -> Cell {
    let ways = &[DEFAULT, ONE, PASSIVE, ADAPTED];
    Cell { name, compiler: "gcc", surroundings: Surroundings::Busy(loops), ways, bound: 1.3 }
}

/// Its bounds are those of its regions.
const fn contended(name: &'static str, compiler: &'static str, ways: &'static [Way; 3]) -> Cell {
    Cell { name, compiler, surroundings: Surroundings::Nothing(ways), ways, bound: f64::INFINITY }
}

/// Its bound is that of samples.
const fn barrier(
    name: &'static str,
    compiler: &'static str,
    ways: &'static [Way; 2],
    rounds: u32,
) -> Cell {
    let surroundings = Surroundings::Barrier(ways, rounds);
    Cell { name, compiler, surroundings, ways, bound: f64::INFINITY }
}

const CELLS: [Cell; 15] = [
    quota("quota 0.5 gcc", 0.5),
    quota("quota 1 gcc", 1.0),
    quota("quota 1.5 gcc", 1.5),
    busy("beside 1 gcc", 1),
    busy("beside 3 gcc", 3),
    contended("contended 2 gcc", "gcc", &[TWO, ONE, TWO_ADAPTED]),
    contended("contended 4 gcc", "gcc", &[FOUR, ONE, FOUR_ADAPTED]),
    contended("contended 2 clang", "clang", &[TWO, ONE, TWO_ADAPTED]),
    contended("contended 4 clang", "clang", &[FOUR, ONE, FOUR_ADAPTED]),
    barrier("barrier 2 gcc", "gcc", &[TWO, TWO_ADAPTED], 200),
    barrier("barrier 4 gcc", "gcc", &[FOUR, FOUR_ADAPTED], 1),
    barrier("barrier 8 gcc", "gcc", &[EIGHT, EIGHT_ADAPTED], 1),
    barrier("barrier 2 clang", "clang", &[TWO, TWO_ADAPTED], 200),
    barrier("barrier 4 clang", "clang", &[FOUR, FOUR_ADAPTED], 1),
    barrier("barrier 8 clang", "clang", &[EIGHT, EIGHT_ADAPTED], 1),
];

fn main() -> ExitCode {
    match print(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("adapt_beside: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether all cells were within their bounds.
fn print(options: &Options) -> io::Result<bool> {
    let scratch = tempfile::tempdir()?;
    let mut all_within = true;
    let wanted =
        CELLS.iter().filter(|cell| options.words.iter().all(|word| cell.name.contains(&**word)));
    for cell in wanted {
        let source = match cell.surroundings {
            Surroundings::Barrier(..) => "pacman-cli/benches/adapt_beside/own_barrier.c",
            _ => "tests/omp/programs/two_phases.c",
        };
        let Some(program) = compiled(cell.compiler, source, scratch.path())? else {
            println!("{}: left out, there is no {}", cell.name, cell.compiler);
            continue;
        };
        let group = match cell.surroundings {
            Surroundings::Quota(cpus) => match QuotaGroup::new(cpus) {
                Some(group) => Some(group),
                None => {
                    println!("{}: left out, no control group with a quota can be made", cell.name);
                    continue;
                }
            },
            _ => None,
        };
        let _busy = match cell.surroundings {
            Surroundings::Busy(loops) => Busy::start(loops)?,
            _ => Busy::start(0)?,
        };
        all_within &= match cell.surroundings {
            Surroundings::Nothing(ways) => {
                contended::row(cell.name, ways, options, &program, scratch.path())?
            }
            Surroundings::Barrier(ways, each) => {
                own_barrier::row(cell.name, (ways, each), options, &program)?
            }
            _ => row(cell, options, &program, group.as_ref())?,
        };
    }
    Ok(all_within)
}

/// Runs a cell and prints its row.
fn row(
    cell: &Cell,
    options: &Options,
    program: &Path,
    group: Option<&QuotaGroup>,
) -> io::Result<bool> {
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); cell.ways.len()];
    let mut skipped = vec![false; cell.ways.len()];
    for round in 0..options.rounds as usize {
        // Each way follows each other one.
        for turn in 0..cell.ways.len() {
            let at = (turn + round) % cell.ways.len();
            if !skipped[at] {
                times[at].push(run(cell.ways[at], options, program, group)?);
            }
        }
        if round == 0 {
            let least = times.iter().map(|times| times[0]).fold(f64::INFINITY, f64::min);
            for (skipped, (times, way)) in skipped.iter_mut().zip(times.iter().zip(cell.ways)) {
                *skipped = !way.is_adapted && times[0] > HOPELESS * least;
            }
        }
    }
    print!("{:<18} load {:>5}", cell.name, load()?);
    for (way, times) in cell.ways.iter().zip(&times) {
        print!("  {} {:.3} s", way.name, median(times));
    }
    let (adapted, others) = times.split_last().expect("a cell has ways");
    let whole = others.iter().filter(|times| times.len() == adapted.len());
    let best = whole.min_by(|one, other| median(one).total_cmp(&median(other)));
    let best = best.ok_or_else(|| io::Error::other("no way ran in all rounds"))?;
    let ratios: Vec<f64> = adapted.iter().zip(best).map(|(adapted, best)| adapted / best).collect();
    let ratio = median(&ratios);
    let is_within = ratio <= cell.bound;
    let missed = if is_within { "" } else { " MISSED" };
    println!("  adapted/best {ratio:.3}, bound {}{missed}", cell.bound);
    Ok(is_within)
}

/// The mean number of threads that wanted a processor in the last minute.
fn load() -> io::Result<String> {
    let load = std::fs::read_to_string("/proc/loadavg")?;
    Ok(load.split_whitespace().next().unwrap_or("?").to_owned())
}

fn median(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// The wall time of a run.
fn run(way: Way, options: &Options, program: &Path, group: Option<&QuotaGroup>) -> io::Result<f64> {
    let mut command = of_user(way, program);
    if way.is_adapted {
        command = command_run(way, options)?;
        command.arg("--").arg(program);
    }
    command.arg(options.executions.to_string());
    if let Some(group) = group {
        command = group.inside(&command);
    }
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let begun = Instant::now();
    let status = command.status()?;
    let seconds = begun.elapsed().as_secs_f64();
    if !status.success() {
        return Err(io::Error::other(format!("{}: {status}", way.name)));
    }
    Ok(seconds)
}

/// `run`, adapted or not, in the environment of a user who chose the way.
fn command_run(way: Way, options: &Options) -> io::Result<Command> {
    let mut command = of_user(way, Path::new(env!("CARGO_BIN_EXE_pacman-pmu")));
    command.arg("run");
    if way.is_adapted {
        command.args(["--adapt", "--no-memory"]);
    }
    let beside = std::env::current_exe()?.with_file_name("libpacman_omp.so");
    command.env("PACMAN_OMP_LIBRARY", options.library.as_ref().unwrap_or(&beside));
    Ok(command)
}

fn of_user(way: Way, program: &Path) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if ["OMP_", "GOMP_", "KMP_", "PACMAN_"].iter().any(|prefix| name.starts_with(prefix)) {
            command.env_remove(&*name);
        }
    }
    command.envs(way.variables.iter().copied());
    command
}

/// The program of `source`, or nothing without its compiler.
fn compiled(compiler: &str, source: &str, scratch: &Path) -> io::Result<Option<PathBuf>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let name = Path::new(source).file_stem().expect("a source has a name");
    let program = scratch.join(name).with_extension(compiler);
    if program.exists() {
        return Ok(Some(program));
    }
    let mut command = Command::new(compiler);
    command.args(["-O2", "-g", "-fopenmp", "-o"]).arg(&program);
    match command.arg(root.join(source)).status() {
        Ok(status) if status.success() => Ok(Some(program)),
        Ok(status) => Err(io::Error::other(format!("{command:?}: {status}"))),
        Err(_) => Ok(None),
    }
}
