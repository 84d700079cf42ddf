//! The gain of adaptation against the best fixed number of threads.
//!
//! `cargo bench -p pacman-omp --bench gain` runs sixteen cells for each number of executions: two programs, GCC
//! and clang, from two and four threads, on the machine as it is and beside a busy loop. In each cell the fixed
//! numbers of threads and the adapted run take turns. The bench prints the seconds of each fixed number, and the
//! adapted run's as a ratio to the best of them: the median and the quartiles. Above 1.05 the cell is marked.
//!
//! `--rounds 9` and `--executions 200,2000` are the defaults. Other words choose cells by parts of their names:
//! `-- two_phases gcc`. `--library FILE` preloads another library. Progress is on standard error. Exit status 1
//! if a run failed, 2 for an invalid argument.

mod arguments;
#[path = "../regions/programs.rs"]
mod programs;

use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use arguments::Arguments;
use programs::{COMPILERS, Scratch, said};

/// A higher ratio is marked.
const BOUND: f64 = 1.05;

/// The programs, and a word for each.
const PROGRAMS: [(&str, &str); 2] =
    [("two_phases", "../tests/omp/programs/two_phases.c"), ("critical", "benches/gain/critical.c")];

/// The numbers of threads that the user could choose.
const FIXED: [u32; 3] = [1, 2, 4];

/// The runs of one program under one condition.
struct Cell<'c> {
    name: String,
    program: &'c Path,
    /// The threads of the adapted run, and the most of a fixed one.
    threads: u32,
    is_busy: bool,
    executions: u32,
}

fn main() -> ExitCode {
    let arguments = match Arguments::read(env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(why) => {
            eprintln!("gain: {why}");
            return ExitCode::from(2);
        }
    };
    match print(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("gain: {error}");
            ExitCode::FAILURE
        }
    }
}

fn print(arguments: &Arguments) -> io::Result<()> {
    let scratch = Scratch::new("bench-gain")?;
    println!("seconds, medians of {} rounds by turns; ratio to the best fixed", arguments.rounds);
    println!(
        "{:<32} {:>8} {:>8} {:>8} {:>8} {:>6} {:>15}",
        "cell", "1", "2", "4", "adapted", "ratio", "quartiles"
    );
    let mut is_empty = true;
    for (word, source) in PROGRAMS {
        for compiler in &COMPILERS {
            let program = match scratch.build(compiler, source) {
                Ok(program) => program,
                Err(error) => {
                    println!("{word}/{} skipped: {error}", compiler.name);
                    is_empty = false;
                    continue;
                }
            };
            let start = format!("{word}/{}", compiler.name);
            for cell in cells(&start, &program, &arguments.executions) {
                if arguments.wants(&cell.name) {
                    is_empty = false;
                    print_cell(&scratch, &cell, arguments)?;
                }
            }
        }
    }
    if is_empty {
        let words = arguments.filters.join(" and ");
        let why = format!("no cell has {words} in its name, such as critical/gcc/2/quiet/200");
        return Err(io::Error::other(why));
    }
    Ok(())
}

/// The cells of one program.
fn cells<'c>(start: &str, program: &'c Path, executions: &[u32]) -> Vec<Cell<'c>> {
    let mut all = Vec::new();
    for &executions in executions {
        for threads in [2, 4] {
            for is_busy in [false, true] {
                let beside = if is_busy { "busy" } else { "quiet" };
                let name = format!("{start}/{threads}/{beside}/{executions}");
                all.push(Cell { name, program, threads, is_busy, executions });
            }
        }
    }
    all
}

fn print_cell(scratch: &Scratch, cell: &Cell<'_>, arguments: &Arguments) -> io::Result<()> {
    let fixed: Vec<u32> = FIXED.into_iter().filter(|&fixed| fixed <= cell.threads).collect();
    let mut runs: Vec<Vec<f64>> = vec![Vec::new(); fixed.len()];
    let mut adapted = Vec::new();
    let library = arguments.library.as_ref();
    let _loop = cell.is_busy.then(BusyLoop::start);
    for round in 1..=arguments.rounds {
        eprintln!("{}: round {round} of {}", cell.name, arguments.rounds);
        for (taken, &threads) in runs.iter_mut().zip(&fixed) {
            taken.push(seconds(scratch, cell, threads, None)?);
        }
        adapted.push(seconds(scratch, cell, cell.threads, Some(library))?);
    }
    let medians: Vec<f64> = runs.into_iter().map(|taken| quartiles(taken)[1]).collect();
    let best = medians.iter().copied().fold(f64::INFINITY, f64::min);
    let [low, middle, high] = quartiles(adapted);
    let columns: String = FIXED
        .iter()
        .map(|threads| match fixed.iter().position(|fixed| fixed == threads) {
            Some(at) => format!(" {:>8.3}", medians[at]),
            None => format!(" {:>8}", ""),
        })
        .collect();
    let ratio = middle / best;
    let mark = if ratio > BOUND { "  OVER" } else { "" };
    let range = format!("{:.3} to {:.3}", low / best, high / best);
    println!("{:<32}{columns} {middle:>8.3} {ratio:>6.3} {range:>15}{mark}", cell.name);
    Ok(())
}

/// The lower quartile, the median and the upper quartile.
fn quartiles(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    let last = values.len() - 1;
    [last / 4, last / 2, last - last / 4].map(|at| values[at])
}

/// The program's own time; adapted with that library, or with cargo's.
fn seconds(
    scratch: &Scratch,
    cell: &Cell<'_>,
    threads: u32,
    adapted: Option<Option<&PathBuf>>,
) -> io::Result<f64> {
    let options: Option<&[_]> =
        adapted.map(|_| &[("PACMAN_OMP_ADAPT", "time"), ("PACMAN_OMP_NARROW", "1")][..]);
    let mut command = scratch.run(cell.program, options);
    if let Some(library) = adapted.flatten() {
        command.env("LD_PRELOAD", library);
    }
    command.env("OMP_NUM_THREADS", threads.to_string()).arg(cell.executions.to_string());
    let output = said(command)?;
    let text = String::from_utf8_lossy(&output.stderr);
    let words = text.split_whitespace();
    let found = words.filter_map(|word| word.parse().ok()).next();
    found.ok_or_else(|| io::Error::other(format!("no seconds in {text:?}")))
}

/// A thread of the bench that never waits, until it is dropped.
struct BusyLoop(Option<thread::JoinHandle<()>>);

static IS_OVER: AtomicBool = AtomicBool::new(false);

impl BusyLoop {
    fn start() -> BusyLoop {
        IS_OVER.store(false, Ordering::Relaxed);
        BusyLoop(Some(thread::spawn(|| {
            while !IS_OVER.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        })))
    }
}

impl Drop for BusyLoop {
    fn drop(&mut self) {
        IS_OVER.store(true, Ordering::Relaxed);
        if let Some(thread) = self.0.take() {
            let _ = thread.join();
        }
    }
}
