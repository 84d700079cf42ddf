//! A region that scales and one whose threads wait for a lock, adapted, alone and on one thread.

use std::io;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::{Options, Way, command_run, median};

/// The bounds of the mean time of an adapted execution: that of the contended region over one thread's, and that of
/// the scaling region over the program's own.
const BOUNDS: [f64; 2] = [1.10, 1.05];

/// The seconds of an execution of both regions.
#[derive(Clone, Copy)]
struct Means {
    contended: f64,
    scaling: f64,
}

/// Runs `alone`, with one thread and adapted by turns, and prints a row. Whether both regions were within their bounds.
pub(crate) fn row(
    name: &str,
    ways: &[Way; 3],
    options: &Options,
    program: &Path,
    scratch: &Path,
) -> io::Result<bool> {
    let [mut contended, mut scaling] = [Vec::new(), Vec::new()];
    let mut all: [Vec<Means>; 3] = Default::default();
    for round in 0..options.rounds as usize {
        for turn in 0..ways.len() {
            let at = (turn + round) % ways.len();
            all[at].push(means(ways[at], options, program, scratch)?);
        }
        let [alone, one, adapted] = [0, 1, 2].map(|at| all[at][round]);
        contended.push(adapted.contended / one.contended);
        scaling.push(adapted.scaling / alone.scaling);
    }
    print!("{name:<18}");
    for (way, means) in ways.iter().zip(&all) {
        let of = |figure: fn(&Means) -> f64| {
            1e6 * median(&means.iter().map(figure).collect::<Vec<f64>>())
        };
        let (scaling, contended) = (of(|means| means.scaling), of(|means| means.contended));
        print!("  {} {scaling:.0} and {contended:.0} us", way.name);
    }
    let ratios = [median(&contended), median(&scaling)];
    let is_within = ratios[0] <= BOUNDS[0] && ratios[1] <= BOUNDS[1];
    println!(
        "  contended/one thread {:.3}, scaling/alone {:.3}, bounds {} and {}{}",
        ratios[0],
        ratios[1],
        BOUNDS[0],
        BOUNDS[1],
        if is_within { "" } else { " MISSED" }
    );
    Ok(is_within)
}

/// Runs the program once, observed or adapted, and reads the report.
fn means(way: Way, options: &Options, program: &Path, scratch: &Path) -> io::Result<Means> {
    let report = scratch.join("contended.json");
    let mut command = command_run(way, options)?;
    if !way.is_adapted {
        // Adapted runs time every execution.
        command.args(["--overhead", "100"]);
    }
    command.arg("-o").arg(&report);
    command.arg("--").arg(program).arg((options.executions * options.contended).to_string());
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    if !status.success() {
        return Err(io::Error::other(format!("{}: {status}", way.name)));
    }
    let read: Value = serde_json::from_slice(&std::fs::read(&report)?)?;
    let of = |name: &str| {
        let regions = read["processes"][0]["regions"].as_array()?;
        let region = regions.iter().find(|region| {
            region["short_name"].as_str().is_some_and(|known| known.starts_with(name))
        });
        region?["mean_s"].as_f64()
    };
    of("contended")
        .zip(of("scalable"))
        .map(|(contended, scaling)| Means { contended, scaling })
        .ok_or_else(|| io::Error::other(format!("{}: its report lacks a region", way.name)))
}
