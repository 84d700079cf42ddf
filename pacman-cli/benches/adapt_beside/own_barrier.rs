//! A program whose threads wait at a spinning barrier of its own, alone, adapted without samples, and adapted: a packed
//! sample stands still there. What the last one takes more than the one without samples is the samples' loss.
//!
//! With four threads on two processors a round takes 4 ms, or 8 ms while three are on one of them. How often a run begins
//! so differs between ways to start it. So the two runs that are compared have the same command, library and watchers.

use std::io;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::{Options, Way, command_run, load, median, of_user};

/// The most that samples lose: a part of a run without them, and seconds.
const BOUND: (f64, f64) = (0.01, 0.002);
/// The least seconds of a run alone.
const LEAST: f64 = 1.0;
/// A way to run the program.
#[derive(Clone, Copy)]
enum Run {
    Alone,
    Unsampled,
    Adapted,
}

/// The runtimes' default. The library packs nothing where the variable is set, to any value.
const UNBOUND: (&str, &str) = ("OMP_PROC_BIND", "false");

/// The packed executions of a report.
fn packed(report: &Path) -> io::Result<u64> {
    let report: Value = serde_json::from_slice(&std::fs::read(report)?)?;
    let regions = report["processes"][0]["regions"].as_array().into_iter().flatten();
    Ok(regions.filter_map(|region| region["adaptation"]["reduced"].as_u64()).sum())
}

/// Runs each way by turns, and prints a row. `each` is the rounds of an execution, of which a second has many also where
/// a round takes a time slice of every thread. Whether the median of the ratios is within the bound.
pub(crate) fn row(
    name: &str,
    (ways, each): (&[Way; 2], u32),
    options: &Options,
    program: &Path,
    scratch: &Path,
) -> io::Result<bool> {
    let report = scratch.join("own_barrier.json");
    let seconds = |how: Run, executions: u32| -> io::Result<f64> {
        let mut command = match how {
            Run::Alone => of_user(ways[0], program),
            Run::Unsampled | Run::Adapted => {
                let mut command = command_run(ways[1], options)?;
                if matches!(how, Run::Unsampled) {
                    command.env(UNBOUND.0, UNBOUND.1);
                }
                command.arg("-o").arg(&report).arg("--").arg(program);
                command
            }
        };
        command.args([executions, each].map(|number| number.to_string()));
        let output = command.stderr(Stdio::null()).output()?;
        if matches!(how, Run::Unsampled) && packed(&report)? > 0 {
            return Err(io::Error::other(format!("{name}: a run without samples has some")));
        }
        let printed = String::from_utf8_lossy(&output.stdout);
        let seconds = printed.lines().next().and_then(|line| line.trim().parse().ok());
        seconds.ok_or_else(|| io::Error::other(format!("{name}: {}", output.status)))
    };
    let mut executions = 2;
    while seconds(Run::Alone, executions)? < LEAST {
        executions *= 2;
    }
    let [mut alone, mut unsampled, mut adapted, mut beyond] = [const { Vec::new() }; 4];
    let all = [Run::Alone, Run::Unsampled, Run::Adapted];
    for round in 0..options.rounds as usize {
        let mut took = [0.0; 3];
        for turn in 0..all.len() {
            let at = (turn + round) % all.len();
            took[at] = seconds(all[at], executions)?;
        }
        alone.push(took[0]);
        unsampled.push(took[1]);
        adapted.push(took[2]);
        beyond.push((took[2] - BOUND.1) / took[1]);
    }
    let ratio = median(&beyond);
    let is_within = ratio <= 1.0 + BOUND.0;
    println!(
        "{name:<18} load {:>5}  alone {:.3} s  without samples {:.3} s ({:.3} to {:.3})  adapted {:.3} s  \
         (adapted - 2 ms)/without {ratio:.3}, bound {}{}",
        load()?,
        median(&alone),
        median(&unsampled),
        unsampled.iter().copied().fold(f64::INFINITY, f64::min),
        unsampled.iter().copied().fold(0.0, f64::max),
        median(&adapted),
        1.0 + BOUND.0,
        if is_within { "" } else { " MISSED" }
    );
    Ok(is_within)
}
