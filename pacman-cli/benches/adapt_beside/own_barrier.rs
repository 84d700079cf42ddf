//! A program whose threads wait at a spinning barrier of its own, alone and adapted: a packed sample stands still there.

use std::io;
use std::path::Path;
use std::process::Stdio;

use crate::{Options, Way, command_run, load, median, of_user};

/// The most that adaptation loses: a part of a run alone, and seconds.
const BOUND: (f64, f64) = (0.01, 0.002);
/// The least seconds of a run alone.
const LEAST: f64 = 1.0;

/// The limits of the middle 95 % of medians of such samples: order statistics, by the normal form of the binomial.
fn interval(values: &[f64]) -> (f64, f64) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (half, spread) = (sorted.len() as f64 / 2.0, 0.98 * (sorted.len() as f64).sqrt());
    let last = sorted.len() - 1;
    let at = |rank: f64| sorted[(rank.max(0.0) as usize).min(last)];
    (at((half - spread).floor()), at((half + spread).ceil()))
}

/// Runs both ways by turns, and prints a row. `each` is the rounds of an execution, of which a second has many also where
/// a round takes a time slice of every thread. Whether the median of the ratios is within the bound.
pub(crate) fn row(
    name: &str,
    (ways, each): (&[Way; 2], u32),
    options: &Options,
    program: &Path,
) -> io::Result<bool> {
    let seconds = |way: Way, executions: u32| -> io::Result<f64> {
        let mut command = of_user(way, program);
        if way.is_adapted {
            command = command_run(way, options)?;
            command.arg("--").arg(program);
        }
        command.args([executions, each].map(|number| number.to_string()));
        let output = command.stderr(Stdio::null()).output()?;
        let printed = String::from_utf8_lossy(&output.stdout);
        let seconds = printed.lines().next().and_then(|line| line.trim().parse().ok());
        seconds.ok_or_else(|| io::Error::other(format!("{name}: {}", output.status)))
    };
    let mut executions = 2;
    while seconds(ways[0], executions)? < LEAST {
        executions *= 2;
    }
    let mut took = [Vec::new(), Vec::new()];
    for round in 0..options.rounds as usize {
        for turn in 0..ways.len() {
            let at = (turn + round) % ways.len();
            took[at].push(seconds(ways[at], executions)?);
        }
    }
    let [alone, adapted] = took;
    let pairs = alone.iter().zip(&adapted);
    let ratios: Vec<f64> = pairs.map(|(alone, adapted)| (adapted - BOUND.1) / alone).collect();
    let (ratio, (least, most)) = (median(&ratios), interval(&ratios));
    let is_within = ratio <= 1.0 + BOUND.0;
    println!(
        "{name:<18} load {:>5}  alone {:.3} s  adapted {:.3} s  (adapted - 2 ms)/alone {ratio:.3} (95 %: {least:.3} to \
         {most:.3}), bound {}{}",
        load()?,
        median(&alone),
        median(&adapted),
        1.0 + BOUND.0,
        if is_within { "" } else { " MISSED" }
    );
    Ok(is_within)
}
