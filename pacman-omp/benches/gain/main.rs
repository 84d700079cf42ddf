//! The gain of adaptation, on a program of two alternating phases.
//!
//! `cargo bench -p pacman-omp --bench gain` alternates runs on each fixed number of threads with adapted
//! runs. It prints each time as a ratio to the best fixed choice. An adapted run that is more than 3 %
//! slower is marked. `-- 500` sets the executions of each phase, which are 2,000 by default: a quarter of so
//! short a program passes before a sample that may cost twice an execution is within the 1 % that may be
//! lost. Exit status 1 if a run failed, 2 for an invalid argument.

#[path = "../regions/programs.rs"]
mod programs;

use std::env;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use programs::{COMPILERS, Scratch, said};

const ROUNDS: usize = 5;
/// Of each phase: two thirds of a second in all, where it goes well.
const EXECUTIONS: u32 = 2000;
const BOUND: f64 = 1.03;

/// What is run: so many threads, adapted or not. The last is more than this machine may have.
const WAYS: [(usize, bool); 5] = [(1, false), (2, false), (4, false), (2, true), (4, true)];

fn main() -> ExitCode {
    // Cargo's own --bench comes along.
    let executions = match env::args().skip(1).find(|word| word != "--bench") {
        None => EXECUTIONS,
        Some(word) => match word.parse() {
            Ok(executions) if executions > 0 => executions,
            _ => {
                eprintln!(
                    "gain: cannot run each phase {word:?} times: name a number from 1 to {}",
                    u32::MAX
                );
                return ExitCode::from(2);
            }
        },
    };
    match print(executions) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("gain: {error}");
            ExitCode::FAILURE
        }
    }
}

fn print(executions: u32) -> io::Result<()> {
    let scratch = Scratch::new("bench-gain")?;
    println!("two phases, {executions} executions of each: seconds of {ROUNDS} rounds by turns");
    println!(
        "{:<8} {:>7} {:<8} {:>9} {:>9} {:>9}",
        "runtime", "threads", "as", "shortest", "median", "ratio"
    );
    for compiler in &COMPILERS {
        let program = match scratch.build(compiler, "../tests/omp/programs/two_phases.c") {
            Ok(program) => program,
            Err(error) => {
                println!("{:<8} skipped: {error}", compiler.runtime);
                continue;
            }
        };
        let mut all = WAYS.map(|_| Vec::new());
        for _ in 0..ROUNDS {
            for (taken, way) in all.iter_mut().zip(WAYS) {
                taken.push(seconds(&scratch, &program, way, executions)?);
            }
        }
        for taken in &mut all {
            taken.sort_by(f64::total_cmp);
        }
        let medians = all.each_ref().map(|taken| taken[ROUNDS / 2]);
        for (at, (threads, adapted)) in WAYS.into_iter().enumerate() {
            // What the user could have chosen instead, up to the same number of threads.
            let fixed = WAYS.iter().zip(medians);
            let fixed = fixed.filter(|((fixed, adapted), _)| !adapted && *fixed <= threads);
            let best = fixed.map(|(_, median)| median).fold(f64::INFINITY, f64::min);
            let ratio = medians[at] / best;
            let kind = if adapted { "adapted" } else { "fixed" };
            let mark = if adapted && ratio > BOUND { "  OVER" } else { "" };
            println!(
                "{:<8} {threads:>7} {kind:<8} {:>9.3} {:>9.3} {ratio:>9.3}{mark}",
                compiler.runtime, all[at][0], medians[at]
            );
        }
    }
    Ok(())
}

/// The program's own time.
fn seconds(
    scratch: &Scratch,
    program: &Path,
    (threads, adapted): (usize, bool),
    executions: u32,
) -> io::Result<f64> {
    let options: Option<&[_]> = if adapted { Some(&[("PACMAN_OMP_ADAPT", "time")]) } else { None };
    let mut command = scratch.run(program, options);
    command.env("OMP_NUM_THREADS", threads.to_string()).arg(executions.to_string());
    let output = said(command)?;
    let text = String::from_utf8_lossy(&output.stderr);
    let words = text.split_whitespace();
    let found = words.filter_map(|word| word.parse().ok()).next();
    found.ok_or_else(|| io::Error::other(format!("no seconds in {text:?}")))
}
