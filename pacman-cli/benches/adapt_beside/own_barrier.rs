//! A program whose threads wait at a spinning barrier of its own, alone and adapted: a packed sample stands still there.

use std::io;
use std::path::Path;
use std::process::Stdio;

use crate::{Options, Way, command_run, load, median, of_user};

/// The most that an adapted run takes more than one alone: a part of that, and seconds.
const BOUND: (f64, f64) = (0.01, 0.002);
/// The least seconds of a run alone.
const LEAST: f64 = 1.0;
/// The rounds of an execution, of which a second has many also where each takes a time slice of every thread.
const ROUNDS: u32 = 1;

/// Runs alone and adapted by turns, and prints a row. Whether the median of the rounds is within the bound.
pub(crate) fn row(
    name: &str,
    ways: &[Way; 2],
    options: &Options,
    program: &Path,
    scratch: &Path,
) -> io::Result<bool> {
    let run = |way: Way, executions: u32| {
        let report = scratch.join("own_barrier.json");
        seconds(way, options, (program, &report), executions)
    };
    let mut executions = 2;
    while run(ways[0], executions)? < LEAST {
        executions *= 2;
    }
    let [mut alone, mut adapted, mut beyond] = [const { Vec::new() }; 3];
    for round in 0..options.rounds as usize {
        let mut took = [0.0; 2];
        for turn in 0..ways.len() {
            let at = (turn + round) % ways.len();
            took[at] = run(ways[at], executions)?;
        }
        alone.push(took[0]);
        adapted.push(took[1]);
        beyond.push((took[1] - BOUND.1) / took[0]);
    }
    let ratio = median(&beyond);
    let is_within = ratio <= 1.0 + BOUND.0;
    println!(
        "{name:<18} load {:>5}  alone {:.3} s ({:.3} to {:.3})  adapted {:.3} s  (adapted - 2 ms)/alone {ratio:.3}, \
         bound {}{}",
        load()?,
        median(&alone),
        alone.iter().copied().fold(f64::INFINITY, f64::min),
        alone.iter().copied().fold(0.0, f64::max),
        median(&adapted),
        1.0 + BOUND.0,
        if is_within { "" } else { " MISSED" }
    );
    Ok(is_within)
}

/// The seconds that the program says it took.
fn seconds(
    way: Way,
    options: &Options,
    (program, report): (&Path, &Path),
    executions: u32,
) -> io::Result<f64> {
    let mut command = of_user(way, program);
    if way.is_adapted {
        command = command_run(way, options)?;
        command.arg("-o").arg(report).arg("--").arg(program);
    }
    command.args([executions, ROUNDS].map(|number| number.to_string()));
    let output = command.stderr(Stdio::null()).output()?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let seconds = printed.lines().next().and_then(|line| line.trim().parse().ok());
    seconds.ok_or_else(|| io::Error::other(format!("{}: {}", way.name, output.status)))
}
